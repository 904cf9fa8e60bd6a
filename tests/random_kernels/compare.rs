//! Who is right about a kernel, and how little of it still shows that someone is not.

use crate::generator::Program;
use crate::platform::{Outcome, Platform};
use crate::tree::{apply, edits};

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
    /// The compiler front end of the platform under test broke down, at every level of optimization.
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

/// Runs one kernel everywhere.
pub fn judge_alone(platforms: &mut [Platform], kernel: &Program) -> Verdict {
    let outcomes: Vec<Outcome> = platforms
        .iter_mut()
        .flat_map(|platform| platform.run(&[kernel]))
        .collect();
    judge(&outcomes.iter().collect::<Vec<_>>())
}

/// Where a result first differs from any other: the eight bytes there.
pub fn first_difference(all: &[Outcome], one: &Outcome) -> String {
    let Ok(one) = one else { return String::new() };
    let apart = |other: &String| one.bytes().zip(other.bytes()).position(|(a, b)| a != b);
    let at = all.iter().flatten().filter_map(apart).min().unwrap_or(0) / 16 * 16;
    let bytes = one.get(at..at + 16).unwrap_or_default();
    format!("byte {}: {bytes}", at / 2)
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

/// Takes away from a kernel what it does not need to be judged so.
pub fn reduce(platforms: &mut [Platform], kernel: &Program, verdict: &Verdict) -> Program {
    let mut smallest = kernel.clone();
    loop {
        let mut progress = false;
        let mut at = 0;
        loop {
            let all = edits(&smallest.items);
            let Some(&edit) = all.get(at) else { break };
            let smaller = apply(&smallest.items, edit).map(|items| Program {
                items,
                ..smallest.clone()
            });
            match smaller {
                Some(smaller) if same_kind(&judge_alone(platforms, &smaller), verdict) => {
                    smallest = smaller;
                    progress = true;
                }
                _ => at += 1,
            }
        }
        if !progress {
            return smallest;
        }
    }
}
