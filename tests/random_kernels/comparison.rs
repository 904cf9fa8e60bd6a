//! Compares kernel after kernel, and says at the end what came of it.

use crate::compare::{Verdict, differences, judge, judge_alone, outcomes, reduce};
use crate::expected::{Expected, Record, digest};
use crate::generator::{Features, PREAMBLE, Program};
use crate::platform::{Outcome, Platform};
use crate::{Arguments, BATCH, make};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Seeds between two words of how far it is.
const PROGRESS: u64 = 200;

pub struct Comparison<'a> {
    arguments: &'a Arguments,
    /// The platform under test in all its forms.
    tested: Vec<Platform>,
    judges: Vec<Platform>,
    expected: Option<Expected>,
    record: Option<Record>,
    /// What the platforms have in common.
    features: Features,
    /// For each form, how many kernels ran in it.
    ran: Vec<u64>,
    /// Agreed with another platform.
    same: u64,
    /// Those of them that are C.
    plain: u64,
    /// No other platform had a result.
    unchecked: u64,
    /// The front end of the tested platform broke down.
    front_end: Vec<u64>,
    /// For each judge: the seeds where it stood alone against the tested platform and another.
    alone: Vec<Vec<u64>>,
    /// Seeds of which the tested platform makes what no other does.
    wrong: Vec<u64>,
    /// Those of them without a result in time.
    late: Vec<u64>,
}

/// Prints what the platforms made of a kernel.
pub fn tell(platforms: &[&mut Platform], outcomes: &[Outcome]) {
    for (platform, outcome) in platforms.iter().zip(outcomes) {
        let name = platform.name.trim();
        match outcome {
            Ok(result) => println!(
                "{name}: {}, the whole {:016x}",
                differences(outcomes, outcome),
                digest(result)
            ),
            Err(error) => println!("{name}: {error}"),
        }
    }
}

/// Whether a program of csmith was refused for a reason: it is no OpenCL C, needs more stack than the driver has, or more
/// iterations of its loops.
fn is_beyond(outcome: &Outcome) -> bool {
    const REASONS: [&str; 3] = [
        "the program does not build: <program source>:",
        "bytes of stack; the device's driver has",
        "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
    ];
    let is_one = |reason: &String| REASONS.iter().any(|one| reason.contains(one));
    outcome.as_ref().is_err_and(is_one)
}

impl<'a> Comparison<'a> {
    pub fn new(
        arguments: &'a Arguments,
        tested: Vec<Platform>,
        judges: Vec<Platform>,
    ) -> Result<Self, String> {
        let generic = tested.iter().all(|one| one.features.generic);
        let opencl = || tested.iter().chain(&judges).filter(|one| !one.is_host);
        let expected = arguments.expect.as_deref().map(Expected::read);
        let record = arguments.record.as_deref().map(Record::open);
        Ok(Self {
            features: Features {
                generic,
                double: opencl().all(|one| one.features.double),
                plain: expected.is_some() || tested.iter().chain(&judges).any(|one| one.is_host),
            },
            ran: vec![0; tested.len()],
            alone: vec![Vec::new(); judges.len()],
            arguments,
            tested,
            judges,
            expected: expected.transpose()?,
            record: record.transpose()?,
            same: 0,
            plain: 0,
            unchecked: 0,
            front_end: Vec::new(),
            wrong: Vec::new(),
            late: Vec::new(),
        })
    }

    pub fn run(mut self) -> ExitCode {
        let arguments = self.arguments;
        let end = arguments.seed + arguments.count;
        let deadline = arguments
            .seconds
            .map(|seconds| Instant::now() + Duration::from_secs(seconds));
        let mut seed = arguments.seed;
        while seed < end && deadline.is_none_or(|deadline| Instant::now() < deadline) {
            // All of a program are of one kind.
            let last = (seed + arguments.batch())
                .min(end)
                .min((seed / BATCH + 1) * BATCH);
            for form in self.forms(seed) {
                self.batch(seed, last, form);
            }
            if last / PROGRESS > seed / PROGRESS {
                println!("seed {last}: {} the same so far", self.same);
            }
            seed = last;
        }
        self.report(seed)
    }

    /// The forms in which a program is tried: all for a single kernel, else every other one is in the first.
    fn forms(&self, seed: u64) -> Vec<usize> {
        if self.arguments.count == 1 {
            return (0..self.tested.len()).collect();
        }
        let (turn, others) = ((seed / BATCH) as usize, self.tested.len() - 1);
        // Kinds of kernels take turns by four.
        let turn = turn / 4 + turn % 4;
        if turn.is_multiple_of(2) || others == 0 {
            return vec![0];
        }
        vec![1 + turn / 2 % others]
    }

    fn make(&self, seed: u64, at: u64) -> Program {
        make(seed, at, self.features, self.arguments.choice)
    }

    /// The kernels of seeds `from..to`, as one program in one form.
    fn batch(&mut self, from: u64, to: u64, form: usize) {
        let kernels: Vec<_> = (from..to)
            .map(|seed| self.make(seed, seed - from))
            .collect();
        let all: Vec<_> = kernels.iter().collect();
        self.ran[form] += all.len() as u64;
        let judged = self.first_judge(&all);
        if self.arguments.choice.csmith && judged.iter().any(Result::is_err) {
            // Nobody says that a program of csmith ends.
            self.unchecked += all.len() as u64;
            return;
        }
        let tested = self.tested[form].run(&all);
        if self.arguments.choice.csmith && tested.iter().any(is_beyond) {
            self.unchecked += all.len() as u64;
            return;
        }
        for (at, seed) in (from..to).enumerate() {
            let one: Vec<_> = [tested.get(at), judged.get(at)]
                .into_iter()
                .flatten()
                .collect();
            let verdict = match self.verdict(seed, &kernels[at], &one) {
                verdict @ (Verdict::Same | Verdict::FrontEnd) => verdict,
                // See what the others say, and whether it is so without the rest of the program.
                _ if self.expected.is_none() => {
                    let alone = self.make(seed, 0);
                    judge_alone(&mut self.asked(form, alone.plain), &alone)
                }
                verdict => verdict,
            };
            if let (Verdict::Same, Some(record), Some(Ok(result))) =
                (&verdict, &mut self.record, tested.get(at))
                && let Err(error) = record.add(seed, &kernels[at], result)
            {
                println!("{error}");
            }
            self.count(seed, form, verdict);
        }
    }

    /// What the first platform says that can say anything about kernels of this kind.
    fn first_judge(&mut self, kernels: &[&Program]) -> Vec<Outcome> {
        let plain = kernels.iter().all(|kernel| kernel.plain);
        let mut judges = self.judges.iter_mut();
        let judge = judges.find(|judge| plain || !judge.is_host);
        judge.map(|judge| judge.run(kernels)).unwrap_or_default()
    }

    fn verdict(&self, seed: u64, kernel: &Program, outcomes: &[&Outcome]) -> Verdict {
        if let ([Ok(_)], true) = (outcomes, self.tested[0].is_host) {
            // gcc alone, to be recorded.
            return Verdict::Same;
        }
        let (Some(expected), [tested, ..]) = (&self.expected, outcomes) else {
            return judge(outcomes);
        };
        match tested {
            Err(reason) => Verdict::Failed(reason.clone()),
            Ok(result) => match expected.is(seed, kernel, result) {
                Some(true) => Verdict::Same,
                Some(false) => Verdict::Different,
                None => Verdict::Unchecked,
            },
        }
    }

    /// The platform under test in one of its forms, and who judges kernels of this kind: gcc alone where it can, so that
    /// what several forms of one compiler agree on does not outvote it.
    fn asked(&mut self, form: usize, plain: bool) -> Vec<&mut Platform> {
        let has_host = self.judges.iter().any(|judge| judge.is_host);
        let tested = self.tested.iter_mut().skip(form).take(1);
        let judges = self.judges.iter_mut();
        tested
            .chain(judges.filter(|judge| judge.is_host || !(plain && has_host)))
            .collect()
    }

    fn count(&mut self, seed: u64, form: usize, verdict: Verdict) {
        match verdict {
            Verdict::Same => self.same += 1,
            Verdict::Unchecked => self.unchecked += 1,
            Verdict::FrontEnd => self.front_end.push(seed),
            Verdict::OtherAlone(platform) => {
                self.same += 1;
                self.alone[platform - 1].push(seed);
            }
            Verdict::Different | Verdict::Failed(_) => self.wrong(seed, form, &verdict),
        }
        if self.make(seed, 0).plain {
            self.plain += 1;
        }
    }

    fn wrong(&mut self, seed: u64, form: usize, verdict: &Verdict) {
        self.wrong.push(seed);
        if matches!(verdict, Verdict::Failed(reason) if reason.starts_with("no result within")) {
            self.late.push(seed);
        }
        println!("seed {seed} as {}: {verdict:?}", self.tested[form].icd);
        let mut kernel = self.make(seed, 0);
        if self.arguments.reduce && self.expected.is_none() {
            let deadline = Instant::now() + Duration::from_secs(self.arguments.reduce_seconds);
            let asked = self.asked(form, kernel.plain);
            let icds: Vec<_> = asked.iter().map(|one| one.icd.clone()).collect();
            let mut sets: Vec<_> = (1..=self.arguments.jobs)
                .map(|set| crate::open(&icds, 1 + set))
                .collect();
            kernel = reduce(&mut sets, &kernel, verdict, deadline);
            println!("{PREAMBLE}{}", kernel.text());
        }
        let mut platforms = self.asked(form, kernel.plain);
        let outcomes = outcomes(&mut platforms, &kernel);
        tell(&platforms, &outcomes);
    }

    fn report(&self, end: u64) -> ExitCode {
        println!(
            "seeds {}..{end}: {} the same, {} unchecked, {} wrong; {} were C",
            self.arguments.seed,
            self.same,
            self.unchecked,
            self.wrong.len(),
            self.plain
        );
        for (platform, ran) in self.tested.iter().zip(&self.ran) {
            println!("{ran} as {}", platform.icd);
        }
        let judges = self.judges.iter().zip(&self.alone);
        for (platform, seeds) in judges.filter(|(_, seeds)| !seeds.is_empty()) {
            let name = platform.name.trim();
            println!("{name} stands alone on {}: {seeds:?}", seeds.len());
        }
        if !self.front_end.is_empty() {
            println!("clang broke down on {:?}", self.front_end);
        }
        if !self.late.is_empty() {
            println!("without a result in time: {:?}", self.late);
        }
        if self.wrong.is_empty() && (self.same > self.unchecked || self.arguments.count == 0) {
            return ExitCode::SUCCESS;
        }
        println!("wrong: {:?}, or too little to compare with", self.wrong);
        ExitCode::FAILURE
    }
}
