//! Several threads at once.

use super::harness::{Launch, assert_equal};

/// Programs are built, run and released on many threads while others run: everybody gets the results of
/// their own. (A driver that puts new code where released code was has to tell the device.)
#[test]
fn programs_come_and_go() {
    const ITEMS: usize = 1 << 16;
    let source = "
    kernel void test(global uint *out) {
        uint i = get_global_id(0);
        out[i] = i * FACTOR + TERM;
    }";
    let work = |thread: u32| {
        for round in 0..16 {
            // Few enough for most builds to be a look into the cache.
            let factor = 11 + (round * 5 + thread * 3) % 16;
            let term = factor % 7;
            let found = Launch::new(source)
                .option(&format!("-DFACTOR={factor}u -DTERM={term}u"))
                .output::<u32>(ITEMS)
                .run(&[ITEMS], &[]);
            let expected: Vec<u32> = (0..ITEMS as u32).map(|i| i * factor + term).collect();
            assert_equal(&found.get(0), &expected, |_| {
                format!("thread {thread}, round {round}")
            });
        }
    };
    std::thread::scope(|scope| {
        for thread in 0..12 {
            scope.spawn(move || work(thread));
        }
    });
}
