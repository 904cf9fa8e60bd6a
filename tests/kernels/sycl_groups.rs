//! Modules as a SYCL compiler makes them of `sycl_ext_oneapi_non_uniform_groups`, against a model on the host.
//!
//! In `sycl/` they stand as text. What they hold is what DPC++'s headers come down to: members of a group are
//! a ballot, whose bits are counted and searched by ordinary code; both branches of a condition hold the same
//! operation, which must stay two; `fixed_size_group` reduces in clusters, and scans cluster after cluster in a
//! loop; `char` goes as `int`; a barrier is an `OpMemoryBarrier`; functions take generic pointers, and the
//! kernel a structure by value.

use super::documents;
use super::group_model::{Place, has, places, sub_group_size, together};
use super::harness::{Launch, skip};
use super::random::Random;

/// One less than a whole number of sub-groups: the kernels leave the last work-item out.
const COUNT: usize = 191;
const LOCAL: usize = 64;

struct Outcome {
    places: Vec<Place>,
    values: Vec<i32>,
    found: Vec<i32>,
}

/// Runs a module on random numbers from 0 to 19 for a buffer of results of `length`, which starts with zeros.
fn run(text: &str, seed: u64, length: usize, partition: Option<u32>) -> Outcome {
    let mut random = Random::new(seed);
    let values: Vec<i32> = (0..COUNT).map(|_| (random.next() % 20) as i32).collect();
    let mut launch = Launch::assembly(text)
        .output::<[u32; 4]>(COUNT)
        .buffer(&values)
        .buffer(&vec![0i32; length])
        .value(COUNT as u64);
    if let Some(partition) = partition {
        launch = launch.value(partition);
    }
    let found = launch.run(&[COUNT + 1], &[LOCAL]);
    Outcome {
        places: places(&found.get(0)),
        values,
        found: found.get(2),
    }
}

fn sum(values: &[i32]) -> i32 {
    values.iter().sum()
}

fn votes(values: &[i32]) -> i32 {
    i32::from(values.iter().any(|&x| x > 17)) | i32::from(values.iter().all(|&x| x > 1)) << 1
}

fn max(values: &[i32]) -> i32 {
    values.iter().copied().max().unwrap_or(i32::MIN)
}

fn min(values: &[i32]) -> i32 {
    values.iter().copied().min().unwrap_or(i32::MAX)
}

/// The values of the members, and the place of `i` among them.
fn group(outcome: &Outcome, i: usize, also: impl Fn(usize) -> bool) -> (Vec<i32>, usize) {
    let members = together(&outcome.places, i, also);
    let at = members.iter().position(|&j| j == i).expect("itself");
    (members.iter().map(|&j| outcome.values[j]).collect(), at)
}

#[test]
fn ballot_group() {
    let _documented = documents::this_test();
    let text = include_str!("sycl/ballot_group.spvasm");
    for seed in [1, 2, 3] {
        let outcome = run(text, seed, COUNT * 20, None);
        for i in 0..COUNT {
            let x = outcome.values[i];
            let (of, at) = group(&outcome, i, |j| {
                (outcome.values[j] % 3 == 0) == (x % 3 == 0)
            });
            let n = of.len();
            let narrow = |x: i32| (x * 9) as i8;
            let left = of[(at + 1).min(n - 1)];
            let right = of[at.saturating_sub(1)];
            let product = of.iter().fold(1i32, |a, &x| a.wrapping_mul(x | 1));
            let expected = [
                i32::from(x % 3 != 0),
                at as i32,
                n as i32,
                i32::from(at == 0),
                sum(&of),
                max(&of[..=at]),
                min(&of[..at]),
                of.iter().fold(0, |a, b| a ^ b),
                sum(&of[..=at]),
                max(&of),
                of[..at]
                    .iter()
                    .fold(0i8, |a, &b| a.wrapping_add(narrow(b)))
                    .into(),
                votes(&of) | i32::from(!of.contains(&4)) << 2,
                of[n - 1],
                left,
                right,
                of.get(at ^ 1).copied().unwrap_or(x),
                of[(at * 7 + 1) % n],
                if x % 3 == 0 { product } else { 0 },
                left,
                right,
            ];
            assert_eq!(outcome.found[i * 20..][..20], expected, "{at} of {of:?}");
        }
    }
}

#[test]
fn fixed_size_group() {
    let _documented = documents::this_test();
    let text = include_str!("sycl/fixed_size_group.spvasm");
    let size = sub_group_size() as u32;
    for partition in (0..).map(|bit| 1 << bit).take_while(|&p| p <= size) {
        let module = text.replace("PARTITION", &partition.to_string());
        let outcome = run(&module, 5, COUNT * 16, Some(partition));
        for i in 0..COUNT {
            let cluster = |j: usize| outcome.places[j].lane / partition;
            let (of, at) = group(&outcome, i, |j| cluster(j) == cluster(i));
            let x = outcome.values[i];
            // The cluster that the last work-item is missing from is no whole group.
            if of.len() < partition as usize {
                continue;
            }
            let odd = cluster(i) % 2 == 1;
            let expected = [
                cluster(i) as i32,
                at as i32,
                (size / partition) as i32,
                i32::from(at == 0),
                sum(&of),
                max(&of),
                sum(&of),
                votes(&of),
                sum(&of[..=at]),
                min(&of[..at]),
                of[of.len() - 1],
                of[(at + 1).min(of.len() - 1)],
                of[at.saturating_sub(1)],
                of.get(at ^ 1).copied().unwrap_or(x),
                if odd { sum(&of) } else { 0 },
                if odd { 0 } else { sum(&of) },
            ];
            assert_eq!(
                outcome.found[i * 16..][..16],
                expected,
                "{at} of {of:?} in clusters of {partition}"
            );
        }
    }
}

#[test]
fn tangle_group() {
    let _documented = documents::this_test();
    let text = include_str!("sycl/tangle_group.spvasm");
    for seed in [7, 8] {
        let outcome = run(text, seed, COUNT * 30, None);
        let model = |i: usize, also: &dyn Fn(i32) -> bool| -> [i32; 10] {
            if !also(outcome.values[i]) {
                return [-1; 10];
            }
            let (of, at) = group(&outcome, i, |j| also(outcome.values[j]));
            let n = of.len();
            [
                at as i32,
                n as i32,
                i32::from(at == 0),
                sum(&of),
                max(&of[..=at]),
                sum(&of[..at]),
                votes(&of),
                of[n / 2],
                of[(at + 1).min(n - 1)],
                of[at.saturating_sub(1)],
            ]
        };
        for i in 0..COUNT {
            let x = outcome.values[i];
            let found = &outcome.found[i * 30..][..30];
            assert_eq!(found[..10], model(i, &|y| y % 2 == x % 2), "branches");
            let inner = model(i, &|y| y % 2 == 1 && y % 3 == 0);
            // The last of these was overwritten where the small ones work once more.
            assert_eq!(found[10..19], inner[..9], "a branch within");
            let (_, at) = group(&outcome, i, |_| true);
            let all = together(&outcome.places, i, |_| true);
            assert_eq!(all[at], i);
            let mut rounds = 0;
            for k in 0..=x % 4 {
                rounds += all.iter().filter(|&&j| outcome.values[j] % 4 >= k).count();
            }
            assert_eq!(found[29], rounds as i32, "a loop left one by one");
            if x < 12 {
                assert_eq!(found[19..29], model(i, &|y| y < 12), "together again")
            } else {
                assert_eq!(found[19], inner[9])
            }
        }
    }
}

/// The document's example: each group counts up by its size once, and its members share what that gives.
#[test]
fn opportunistic_group() {
    let _documented = documents::this_test();
    let text = include_str!("sycl/opportunistic_group.spvasm");
    let outcome = run(text, 9, COUNT + 4, None);
    for k in 0..3 {
        let mut numbers: Vec<i32> = (0..COUNT)
            .filter(|&i| (outcome.values[i] + k) % 3 == 0)
            .map(|i| outcome.found[4 + i])
            .collect();
        numbers.sort_unstable();
        let expected: Vec<i32> = (0..numbers.len() as i32).collect();
        assert_eq!(numbers, expected, "each number once");
        assert_eq!(outcome.found[k as usize], expected.len() as i32);
    }
}

/// `half` in reductions, scans and shuffles; shifts, permutations and selections as `OpSubgroupShuffle*INTEL`.
#[test]
fn shuffles() {
    let _documented = documents::this_test();
    if !has("cl_khr_fp16") {
        return skip("no cl_khr_fp16");
    }
    let text = include_str!("sycl/shuffles.spvasm");
    let size = sub_group_size() as u32;
    for seed in [10, 11] {
        let outcome = run(text, seed, COUNT * 16, None);
        for i in 0..COUNT {
            let x = outcome.values[i];
            let lane = outcome.places[i].lane;
            let all = together(&outcome.places, i, |_| true);
            // What another work-item of the sub-group holds; nothing of the one that left the kernel.
            let of_lane = |lane: u32| {
                let other = all.iter().find(|&&j| outcome.places[j].lane == lane);
                other.map(|&j| outcome.values[j])
            };
            let third = |j: usize| outcome.values[j] % 3 == 0;
            let (of, at) = group(&outcome, i, |j| third(j) == third(i));
            let cluster = |width: u32| {
                let same = |j: usize| outcome.places[j].lane / width == lane / width;
                group(&outcome, i, same).0
            };
            let sign = |x: i32| if x % 2 == 1 { 1 } else { -1 };
            // The kernel's halves are halves of these numbers, and doubled again in the end.
            let expected = [
                of_lane((lane + 1) % size),
                of_lane((lane + size - 1) % size),
                of_lane(lane ^ 1),
                of_lane((lane * 7 + 1) % size),
                Some(sum(&of)),
                Some(max(&of[..=at])),
                Some(min(&of[..at]).min(2000)),
                Some(of[0]),
                Some(2 * of[..=at].iter().map(|&x| sign(x)).product::<i32>()),
                Some(of[(at + 1).min(of.len() - 1)]),
                Some(of[at.saturating_sub(1)] * 1000),
                Some(((of.get(at ^ 1).copied().unwrap_or(x) * 9) as i8).into()),
                Some(sum(&cluster(4))),
                Some(max(&cluster(2))),
                of_lane(lane ^ 1).map(|x| (21 * x + 48) / 2),
                Some(match x % 2 {
                    0 => x,
                    _ => {
                        let (odd, at) = group(&outcome, i, |j| outcome.values[j] % 2 == 1);
                        sum(&odd[..=at])
                    }
                }),
            ];
            for (result, expected) in expected.iter().enumerate() {
                let found = outcome.found[i * 16 + result];
                assert!(
                    expected.is_none_or(|expected| expected == found),
                    "result {result} is {found}, expected {expected:?}: {at} of {of:?}"
                );
            }
        }
    }
}
