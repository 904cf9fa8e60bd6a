//! Who is right about a kernel, and how little of it still shows that someone is not.

use crate::form::NO_MODULE;
use crate::generator::Program;
use crate::platform::{Outcome, Platform};
use crate::tree::{apply, edits};
use std::thread;
use std::time::Instant;

/// What several platforms make of a kernel; the first of them is the one under test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The platform under test agrees with one other at least.
    Same,
    /// It agrees with one, but there is another that sees it differently: its index.
    OtherAlone(usize),
    /// No other platform has a result.
    Unchecked,
    /// It agrees with none of the others.
    Different,
    /// The compiler front end of the platform under test broke down, at every level of optimization, or what makes
    /// modules for it.
    FrontEnd,
    /// It has no result where another one has.
    Failed(String),
}

/// Compares the outcomes of one kernel on all platforms.
pub fn judge(outcomes: &[&Outcome]) -> Verdict {
    let Some((tested, others)) = outcomes.split_first() else {
        return Verdict::Unchecked;
    };
    let with_result = others.iter().any(|outcome| outcome.is_ok());
    match tested {
        _ if !with_result => Verdict::Unchecked,
        Err(reason)
            if reason.contains("This is a defect of clang") && !reason.contains("(at Op") =>
        {
            Verdict::FrontEnd
        }
        Err(reason) if reason.contains(NO_MODULE) => Verdict::FrontEnd,
        Err(reason) => Verdict::Failed(reason.clone()),
        Ok(_) => {
            let agrees = others.iter().any(|outcome| outcome == tested);
            let apart = others
                .iter()
                .position(|outcome| outcome.is_ok() && outcome != tested);
            match (agrees, apart) {
                (true, None) => Verdict::Same,
                (true, Some(at)) => Verdict::OtherAlone(at + 1),
                (false, _) => Verdict::Different,
            }
        }
    }
}

/// What each platform makes of one kernel.
pub fn outcomes(platforms: &mut [&mut Platform], kernel: &Program) -> Vec<Outcome> {
    platforms
        .iter_mut()
        .flat_map(|platform| platform.run(&[kernel]))
        .collect()
}

/// Runs one kernel everywhere.
pub fn judge_alone(platforms: &mut [&mut Platform], kernel: &Program) -> Verdict {
    let outcomes = outcomes(platforms, kernel);
    judge(&outcomes.iter().collect::<Vec<_>>())
}

/// Words of eight bytes that are told of a result, and how many hexadecimal digits each has.
const TOLD: usize = 4;
const DIGITS: usize = 16;

/// Where a result differs from any other: the first words of eight bytes, and how many there are.
pub fn differences(all: &[Outcome], one: &Outcome) -> String {
    let Ok(one) = one else { return String::new() };
    let word = |text: &str, at: usize| text.get(at..at + DIGITS).map(str::to_owned);
    let places: Vec<usize> = (0..one.len())
        .step_by(DIGITS)
        .filter(|&at| {
            let mut others = all.iter().flatten();
            others.any(|other| word(other, at) != word(one, at))
        })
        .collect();
    let told: Vec<_> = places
        .iter()
        .take(TOLD)
        .map(|&at| format!("byte {}: {}", at / 2, word(one, at).unwrap_or_default()))
        .collect();
    match places.len() {
        0 => "no difference".into(),
        count => format!("{count} words differ, {}", told.join(", ")),
    }
}

fn same_kind(a: &Verdict, b: &Verdict) -> bool {
    match (a, b) {
        (Verdict::Failed(a), Verdict::Failed(b)) => {
            // A kernel that does not build is no smaller example of one that crashes.
            let kind = |text: &str| text.chars().take(30).collect::<String>();
            kind(a) == kind(b)
        }
        _ => a == b,
    }
}

/// Takes away from a kernel what it does not need to be judged so, until `deadline`. Each element of `sets` is
/// all the platforms once more: with several, so many kernels are tried at a time.
pub fn reduce(
    sets: &mut [Vec<Platform>],
    kernel: &Program,
    verdict: &Verdict,
    deadline: Instant,
) -> Program {
    let mut smallest = kernel.clone();
    loop {
        let mut progress = false;
        let mut at = 0;
        loop {
            let all = edits(&smallest.items);
            let smaller: Vec<_> = (at..all.len())
                .filter_map(|index| {
                    let items = apply(&smallest.items, *all.get(index)?)?;
                    let smaller = Program {
                        items,
                        ..smallest.clone()
                    };
                    Some((index, smaller))
                })
                .take(sets.len())
                .collect();
            let Some(&(last, _)) = smaller.last() else {
                break;
            };
            if Instant::now() >= deadline {
                return smallest;
            }
            let judged: Vec<bool> = thread::scope(|scope| {
                let running: Vec<_> = smaller
                    .iter()
                    .zip(sets.iter_mut())
                    .map(|((_, smaller), platforms)| {
                        scope.spawn(|| {
                            let mut all: Vec<_> = platforms.iter_mut().collect();
                            same_kind(&judge_alone(&mut all, smaller), verdict)
                        })
                    })
                    .collect();
                let ended = running.into_iter().map(|one| one.join());
                ended.map(|one| one.unwrap_or(false)).collect()
            });
            let first = smaller.into_iter().zip(judged).find(|(_, so)| *so);
            match first {
                Some(((index, smaller), _)) => {
                    smallest = smaller;
                    at = index;
                    progress = true;
                }
                None => at = last + 1,
            }
        }
        if !progress {
            return smallest;
        }
    }
}
