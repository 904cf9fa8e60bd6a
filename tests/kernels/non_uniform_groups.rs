//! `pumice/non_uniform_groups.clh`: SYCL's non-uniform groups in C++ for OpenCL.
//!
//! Drivers that do not take C++ for OpenCL, which need not know the header either, get what clang makes of it.

use super::documents;
use super::group_model::{PLACE, Place, has, places, sub_group_size, together};
use super::harness::{Launch, Session, assert_equal, record, session, skip};
use super::random::Random;
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE};
use opencl3::types::CL_BLOCKING;

const COUNT: usize = 96;
const LOCAL: usize = 48;

fn launch(body: &str) -> Option<Launch> {
    if lacks_extensions() {
        return None;
    }
    let source = format!(
        "#include <pumice/non_uniform_groups.clh>
         using namespace sycl::ext::oneapi::experimental;
         kernel void test(global uint4 *place, global const int *in, global int *out) {{
             {PLACE} auto all = this_sub_group();
             int x = in[i];
             {body} }}"
    );
    Some(Launch::cxx(&source))
}

/// All that the header needs.
fn lacks_extensions() -> bool {
    let lacks = !has("cl_khr_subgroup_ballot") || !has("cl_khr_subgroup_shuffle");
    if lacks {
        skip("no cl_khr_subgroup_ballot or no cl_khr_subgroup_shuffle");
    }
    lacks
}

/// Where each work-item is, its number, and its results.
type Outcome = (Vec<Place>, Vec<i32>, Vec<i32>);

/// Runs it on random numbers, with so many results for each.
fn run(body: &str, results: usize) -> Option<Outcome> {
    let mut random = Random::new(21);
    let values: Vec<i32> = (0..COUNT).map(|_| (random.next() % 20) as i32).collect();
    let found = launch(body)?
        .output::<[u32; 4]>(COUNT)
        .buffer(&values)
        .output::<i32>(COUNT * results)
        .run(&[COUNT], &[LOCAL]);
    Some((places(&found.get(0)), values, found.get(2)))
}

#[test]
fn ballot_groups() {
    let _documented = documents::this_test();
    let body = "
        auto group = get_ballot_group(all, x % 3 == 0);
        static_assert(sycl::is_group_v<decltype(group)> && is_user_constructed_group_v<decltype(group)>
            && !is_fixed_topology_group_v<decltype(group)> && is_fixed_topology_group_v<sycl::sub_group>);
        global int *o = out + i * 16;
        // Both groups at once.
        o[0] = group.get_group_id(); o[1] = group.get_group_range(); o[2] = group.get_local_id();
        o[3] = group.get_local_range(); o[4] = group.leader();
        o[5] = sycl::reduce_over_group(group, x, sycl::plus<>());
        o[6] = sycl::inclusive_scan_over_group(group, x, sycl::maximum<>());
        o[7] = sycl::exclusive_scan_over_group(group, x, sycl::minimum<>());
        o[8] = sycl::group_broadcast(group, x);
        o[9] = sycl::shift_group_left(group, x);
        o[10] = sycl::shift_group_right(group, x);
        o[11] = sycl::permute_group_by_xor(group, x, 1);
        o[12] = sycl::any_of_group(group, x > 17) | sycl::all_of_group(group, x > 1) << 1
            | sycl::none_of_group(group, x, [](int v) { return v == 4; }) << 2;
        // One in a branch of its own.
        o[13] = 0;
        if (x % 3 == 0) {
            sycl::group_barrier(group);
            o[13] = sycl::reduce_over_group(group, x, 1000, sycl::bit_xor<>());
        }
        o[14] = sycl::select_from_group(group, x, group.get_local_linear_range() - 1);
        o[15] = sycl::exclusive_scan_over_group(group, x, 7, sycl::plus<>());";
    let Some((places, values, found)) = run(body, 16) else {
        return;
    };
    for i in 0..COUNT {
        let group = together(&places, i, |j| (values[j] % 3 == 0) == (values[i] % 3 == 0));
        let of: Vec<i32> = group.iter().map(|&j| values[j]).collect();
        let at = group.iter().position(|&j| j == i).expect("itself");
        let o = &found[i * 16..][..16];
        let x = values[i];
        assert_eq!(o[0], i32::from(x % 3 != 0));
        assert_eq!(o[1..5], [2, at as i32, of.len() as i32, i32::from(at == 0)]);
        assert_eq!(o[5], of.iter().sum::<i32>());
        assert_eq!(o[6], of[..=at].iter().copied().max().unwrap_or(0));
        assert_eq!(o[7], of[..at].iter().copied().min().unwrap_or(i32::MAX));
        assert_eq!(o[8], of[0]);
        if let Some(&next) = of.get(at + 1) {
            assert_eq!(o[9], next);
        }
        if at > 0 {
            assert_eq!(o[10], of[at - 1]);
        }
        if let Some(&other) = of.get(at ^ 1) {
            assert_eq!(o[11], other);
        }
        let any = of.iter().any(|&x| x > 17);
        let all = of.iter().all(|&x| x > 1);
        let none = of.iter().all(|&x| x != 4);
        assert_eq!(
            o[12],
            i32::from(any) | i32::from(all) << 1 | i32::from(none) << 2
        );
        let xor = of.iter().fold(1000, |a, b| a ^ b);
        assert_eq!(o[13], if x % 3 == 0 { xor } else { 0 });
        assert_eq!(o[14], of[of.len() - 1]);
        assert_eq!(o[15], 7 + of[..at].iter().sum::<i32>());
    }
}

#[test]
fn fixed_size_groups() {
    let _documented = documents::this_test();
    let body = "
        global int *o = out + i * 6;
        auto pairs = get_fixed_size_group<2>(all);
        auto ones = get_fixed_size_group<1>(all);
        auto fours = get_fixed_size_group<4>(all);
        o[0] = sycl::reduce_over_group(pairs, x, sycl::multiplies<>());
        o[1] = sycl::reduce_over_group(ones, x, sycl::plus<>());
        o[2] = sycl::inclusive_scan_over_group(fours, x, sycl::plus<>());
        o[3] = fours.get_group_id(); o[4] = fours.get_local_id();
        o[5] = sycl::permute_group_by_xor(fours, x, 3);";
    let Some((places, values, found)) = run(body, 6) else {
        return;
    };
    for i in 0..COUNT {
        let Place { lane, size, .. } = places[i];
        if size % 4 != 0 {
            continue;
        }
        let part = |width: u32| -> Vec<i32> {
            let group = together(&places, i, |j| places[j].lane / width == lane / width);
            group.iter().map(|&j| values[j]).collect()
        };
        let (pair, four) = (part(2), part(4));
        let at = lane as usize % 4;
        let expected = [
            pair[0] * pair[1],
            values[i],
            four[..=at].iter().sum(),
            lane as i32 / 4,
            at as i32,
            four[at ^ 3],
        ];
        assert_eq!(found[i * 6..][..6], expected, "work-item {i}");
    }
}

#[test]
fn tangle_groups() {
    let _documented = documents::this_test();
    let body = "
        global int *o = out + i * 3;
        if (x % 2) {
            auto group = get_tangle_group(all);
            sycl::group_barrier(group);
            o[0] = sycl::reduce_over_group(group, x, sycl::plus<>());
            o[1] = group.get_local_range(); o[2] = group.leader();
        } else {
            auto group = get_tangle_group(all);
            sycl::group_barrier(group);
            o[0] = sycl::reduce_over_group(group, x, sycl::plus<>());
            o[1] = group.get_local_range(); o[2] = group.leader();
        }";
    let Some((places, values, found)) = run(body, 3) else {
        return;
    };
    let expected: Vec<i32> = (0..COUNT)
        .flat_map(|i| {
            let group = together(&places, i, |j| values[j] % 2 == values[i] % 2);
            let sum = group.iter().map(|&j| values[j]).sum();
            [sum, group.len() as i32, i32::from(group[0] == i)]
        })
        .collect();
    assert_equal(&found, &expected, |i| {
        format!("result {} of work-item {}", i % 3, i / 3)
    });
}

/// A function of two truth values or numbers.
fn apply(op: &str, a: i32, b: i32) -> i32 {
    match op {
        "plus" => a + b,
        "multiplies" => a * b,
        "minimum" => a.min(b),
        "maximum" => a.max(b),
        "bit_and" => a & b,
        "bit_or" => a | b,
        "bit_xor" => a ^ b,
        "logical_and" => i32::from(a != 0 && b != 0),
        _ => i32::from(a != 0 || b != 0),
    }
}

/// Calls on a vector `v`, with functions by number.
fn vector_calls<'a>(ty: &str, op: impl Fn(usize) -> &'a str) -> [String; 9] {
    [
        format!("sycl::reduce_over_group(group, v, sycl::{}<>())", op(0)),
        format!(
            "sycl::inclusive_scan_over_group(group, v, sycl::{}<>())",
            op(1)
        ),
        format!(
            "sycl::exclusive_scan_over_group(group, v, sycl::{}<>())",
            op(2)
        ),
        format!(
            "sycl::reduce_over_group(group, v, ({ty})(1), sycl::{}<>())",
            op(3)
        ),
        "sycl::group_broadcast(group, v, 1)".to_owned(),
        "sycl::select_from_group(group, v, group.get_local_linear_range() - 1)".to_owned(),
        "sycl::shift_group_left(group, v)".to_owned(),
        "sycl::shift_group_right(group, v)".to_owned(),
        "sycl::permute_group_by_xor(group, v, 1)".to_owned(),
    ]
}

/// Statements that store the components of what calls return.
fn vector_stores(ty: &str, components: usize, calls: &[String]) -> String {
    calls
        .iter()
        .enumerate()
        .map(|(at, call)| {
            format!(
                "{{ {ty} r = {call}; for (int c = 0; c < {components}; c++) o[{} + c] = int(r[c]); }}\n",
                at * components
            )
        })
        .collect()
}

/// Vectors of each width and of several types are moved and combined component by component.
#[test]
fn vectors() {
    const OPS: [&str; 9] = [
        "plus",
        "multiplies",
        "minimum",
        "maximum",
        "bit_and",
        "bit_or",
        "bit_xor",
        "logical_and",
        "logical_or",
    ];
    // Numbers that every type holds, and products of few of them too.
    let types = [
        "int2", "uchar3", "short4", "long8", "float2", "float4", "float16",
    ];
    for (turn, ty) in types.iter().enumerate() {
        let components: usize = ty
            .trim_start_matches(char::is_alphabetic)
            .parse()
            .expect("a width");
        let is_float = ty.starts_with("float");
        let ops: Vec<&str> = OPS
            .iter()
            .copied()
            .filter(|op| !is_float || !op.starts_with("bit"))
            .collect();
        // One of them for each type and function.
        let op = |at: usize| ops[(turn + at) % ops.len()];
        let calls = vector_calls(ty, op);
        let row = calls.len() * components;
        let stores = vector_stores(ty, components, &calls);
        let body = format!(
            "auto group = get_fixed_size_group<4>(all);
             global int *o = out + i * {row};
             {ty} v; for (int c = 0; c < {components}; c++) v[c] = (x + c) % 5;
             {stores}"
        );
        let Some((places, values, found)) = run(&body, row) else {
            return;
        };
        // The results of these are of interest where there are two to four members.
        let largest = |ty: &str| match ty {
            _ if ty.starts_with("uchar") => 0xff,
            _ => i32::MAX,
        };
        let fold = |op: &str, of: &[i32]| of.iter().copied().reduce(|a, b| apply(op, a, b));
        for i in 0..COUNT {
            let Place { lane, size, .. } = places[i];
            if size % 4 != 0 {
                continue;
            }
            let group = together(&places, i, |j| places[j].lane / 4 == lane / 4);
            let at = lane as usize % 4;
            for c in 0..components {
                let of: Vec<i32> = group.iter().map(|&j| (values[j] + c as i32) % 5).collect();
                let result = |call: usize| found[i * row + call * components + c];
                let name =
                    |call: usize| format!("{} of {ty}, component {c}, {at} of {of:?}", calls[call]);
                assert_eq!(Some(result(0)), fold(op(0), &of), "{}", name(0));
                assert_eq!(Some(result(1)), fold(op(1), &of[..=at]), "{}", name(1));
                // Without any before it there is what changes nothing, which is told by its effect.
                match (fold(op(2), &of[..at]), op(2)) {
                    (Some(before), op) => {
                        let truth = op.starts_with("logical");
                        let before = if truth {
                            i32::from(before != 0)
                        } else {
                            before
                        };
                        assert_eq!(result(2), before, "{}", name(2));
                    }
                    (None, "minimum") if !is_float => {
                        assert_eq!(result(2), largest(ty), "{}", name(2))
                    }
                    (None, "plus" | "bit_or" | "bit_xor" | "logical_or") => {
                        assert_eq!(result(2), 0, "{}", name(2));
                    }
                    (None, "multiplies" | "logical_and") => assert_eq!(result(2), 1, "{}", name(2)),
                    (None, _) => {}
                }
                let with_one = fold(op(3), &of).map(|sum| apply(op(3), 1, sum));
                assert_eq!(Some(result(3)), with_one, "{}", name(3));
                assert_eq!(
                    [result(4), result(5)],
                    [of[1], of[3]],
                    "{} and the next",
                    name(4)
                );
                if at < 3 {
                    assert_eq!(result(6), of[at + 1], "{}", name(6));
                }
                if at > 0 {
                    assert_eq!(result(7), of[at - 1], "{}", name(7));
                }
                assert_eq!(result(8), of[at ^ 1], "{}", name(8));
            }
        }
    }
}

/// Initial values of another type, which is that of the result; truth values.
#[test]
fn values_of_other_types() {
    let body = "
        auto group = get_ballot_group(all, x % 3 == 0);
        global int *o = out + i * 6;
        o[0] = sycl::reduce_over_group(group, float(x), 0, sycl::plus<>());
        o[1] = 4 * sycl::reduce_over_group(group, x, 0.25f, sycl::plus<>());
        o[2] = 4 * sycl::inclusive_scan_over_group(group, short(x), sycl::plus<>(), 0.5f);
        o[3] = sycl::exclusive_scan_over_group(group, uchar(x), -1000, sycl::plus<>());
        o[4] = sycl::group_broadcast(group, x > 9);
        float2 v = sycl::reduce_over_group(group, (int2)(x, -x), (float2)(0.25f), sycl::plus<>());
        o[5] = 4 * (v.x + v.y);";
    let Some((places, values, found)) = run(body, 6) else {
        return;
    };
    let expected: Vec<i32> = (0..COUNT)
        .flat_map(|i| {
            let group = together(&places, i, |j| (values[j] % 3 == 0) == (values[i] % 3 == 0));
            let of: Vec<i32> = group.iter().map(|&j| values[j]).collect();
            let at = group.iter().position(|&j| j == i).expect("itself");
            let sum: i32 = of.iter().sum();
            let up_to_it: i32 = of[..=at].iter().sum();
            let first = i32::from(of[0] > 9);
            [
                sum,
                4 * sum + 1,
                4 * up_to_it + 2,
                up_to_it - of[at] - 1000,
                first,
                2,
            ]
        })
        .collect();
    assert_equal(&found, &expected, |i| {
        format!("result {} of work-item {}", i % 6, i / 6)
    });
}

/// Members write to memory, wait for each other and read, each group in a branch of its own, with barriers of several
/// scopes.
#[test]
fn messages_in_branches() {
    let exchange = |round: usize, scope: &str| {
        format!(
            "shared[l] = x + {round}; global_shared[l] = x - {round};
             sycl::group_barrier(group{scope});
             o[{round}] = shared[next] * 1000 + global_shared[next];
             sycl::group_barrier(group{scope});"
        )
    };
    let scopes = [
        "",
        ", memory_scope_sub_group",
        ", memory_scope_work_group",
        ", memory_scope_device",
    ];
    let exchanges: String = scopes
        .iter()
        .enumerate()
        .map(|(round, scope)| exchange(round, scope))
        .collect();
    let body = format!(
        "local int shared[{LOCAL}];
         uint l = get_local_id(0);
         global int *o = out + i * 4;
         volatile global int *global_shared = out + get_global_size(0) * 4 + get_group_id(0) * {LOCAL};
         if (x % 3 == 0) {{
             auto group = get_tangle_group(all);
             uint next = sycl::select_from_group(group, l,
                 (group.get_local_linear_id() + 1) % group.get_local_linear_range());
             {exchanges}
         }} else {{
             auto group = get_tangle_group(all);
             uint next = sycl::select_from_group(group, l,
                 (group.get_local_linear_id() + 1) % group.get_local_linear_range());
             {exchanges}
         }}"
    );
    let Some((places, values, found)) = run(&body, 5) else {
        return;
    };
    let expected: Vec<i32> = (0..COUNT)
        .flat_map(|i| {
            let group = together(&places, i, |j| (values[j] % 3 == 0) == (values[i] % 3 == 0));
            let at = group.iter().position(|&j| j == i).expect("itself");
            let next = values[group[(at + 1) % group.len()]];
            [0, 1, 2, 3].map(|round| (next + round) * 1000 + next - round)
        })
        .collect();
    assert_equal(&found[..COUNT * 4], &expected, |i| {
        format!("round {} of work-item {}", i % 4, i / 4)
    });
}

/// The document's example: one addition for all that are here, and each gets what it alone had got.
#[test]
fn aggregated_atomics() {
    let _documented = documents::this_test();
    let body = "
        volatile global atomic_int *counter = (volatile global atomic_int *)(out + get_global_size(0));
        int old = 0;
        if (x > 4) {
            auto active = this_kernel::get_opportunistic_group();
            int before = 0;
            if (active.leader())
                before = atomic_fetch_add_explicit(counter, (int)active.get_local_linear_range(),
                    memory_order_relaxed, memory_scope_work_group);
            old = 1 + sycl::group_broadcast(active, before) + active.get_local_linear_id();
        }
        out[i] = old;";
    let Some(launch) = launch(body) else { return };
    let values: Vec<i32> = (0..LOCAL as i32).map(|i| i * 7 % 11).collect();
    let found = launch
        .output::<[u32; 4]>(LOCAL)
        .buffer(&values)
        .buffer(&[0i32; LOCAL + 1])
        .run(&[LOCAL], &[LOCAL]);
    let out: Vec<i32> = found.get(2);
    let taking = values.iter().filter(|&&x| x > 4).count();
    assert_eq!(out[LOCAL] as usize, taking);
    let mut tickets: Vec<i32> = out[..LOCAL].iter().copied().filter(|&x| x > 0).collect();
    tickets.sort_unstable();
    assert_equal(&tickets, &(1..=taking as i32).collect::<Vec<_>>(), |i| {
        format!("ticket {i}")
    });
}

#[test]
fn joint_algorithms() {
    let _documented = documents::this_test();
    let body = "
        auto group = get_ballot_group(all, x % 2);
        global int *o = out + i * 5;
        o[0] = sycl::joint_reduce(group, in, in + 37, sycl::plus<>());
        o[1] = sycl::joint_reduce(group, in, in + 37, 50, sycl::minimum<>());
        o[2] = sycl::joint_any_of(group, in, in + 37, [](int v) { return v == 19; })
            | sycl::joint_all_of(group, in, in + 37, [](int v) { return v >= 0; }) << 1
            | sycl::joint_none_of(group, in, in + 37, [](int v) { return v > 90; }) << 2;
        int scanned[37];
        sycl::joint_exclusive_scan(all, in, in + 37, scanned, sycl::plus<>());
        int mine = 0;
        // Each member holds the results of its own elements.
        for (int k = all.get_local_linear_id(); k < 37; k += all.get_local_linear_range()) mine += scanned[k];
        o[3] = sycl::reduce_over_group(all, mine, sycl::plus<>());
        sycl::joint_inclusive_scan(all, in, in + 37, scanned, sycl::maximum<>());
        mine = 0;
        for (int k = all.get_local_linear_id(); k < 37; k += all.get_local_linear_range()) mine += scanned[k];
        o[4] = sycl::reduce_over_group(all, mine, sycl::plus<>());";
    let Some((_, values, found)) = run(body, 5) else {
        return;
    };
    let first = &values[..37];
    let sums = (0..37).map(|k| first[..k].iter().sum::<i32>()).sum();
    let least = first.iter().copied().min().unwrap_or(50).min(50);
    let any = i32::from(first.contains(&19));
    let most = (0..37).map(|k| first[..=k].iter().copied().max().unwrap_or(0));
    let row = [
        first.iter().sum(),
        least,
        any | 2 | 4,
        sums,
        most.sum::<i32>(),
    ];
    assert_equal(&found, &row.repeat(COUNT), |i| {
        format!("result {} of work-item {}", i % 5, i / 5)
    });
}

/// Every example of the documentation does what stands above it, `// in → out`, with four work-items.
#[test]
fn examples() {
    let _documented = documents::this_test();
    if lacks_extensions() {
        return;
    }
    let session = session();
    if sub_group_size() < 4 {
        return skip("the examples are of sub-groups of four work-items");
    }
    let page = include_str!("../../device/README.md");
    let source: String = page
        .split("```c++")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    record(&source);
    let program = session.build_cxx(&source);
    let mut kernels = 0;
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        let Some((given, expected)) = line.strip_prefix("// ").and_then(|l| l.split_once(" → "))
        else {
            continue;
        };
        let declaration = lines.next().unwrap_or_default();
        let name = declaration
            .strip_prefix("kernel void ")
            .and_then(|rest| rest.split('(').next())
            .unwrap_or_else(|| panic!("no kernel after {line}"));
        let kernel = Kernel::create(&program, name).expect("a kernel of the program");
        let [given, expected] = [given, expected].map(numbers);
        assert_eq!(run_example(session, &kernel, &given), expected, "{name}");
        kernels += 1;
    }
    assert_eq!(kernels, source.matches("kernel void").count());
    assert!(kernels > 15, "four classes, and each free function");
}

fn numbers(text: &str) -> Vec<i32> {
    let numbers = text.split_whitespace().map(str::parse);
    numbers.collect::<Result<_, _>>().expect("numbers")
}

fn run_example(session: &Session, kernel: &Kernel, given: &[i32]) -> Vec<i32> {
    let mut data = given.to_vec();
    // SAFETY: the host's numbers are copied; the kernel takes the two buffers, which outlive the blocking read.
    unsafe {
        let input = Buffer::<i32>::create(
            session.context(),
            CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
            given.len(),
            data.as_mut_ptr().cast(),
        )
        .expect("a buffer");
        let output = Buffer::<i32>::create(
            session.context(),
            CL_MEM_READ_WRITE,
            given.len(),
            std::ptr::null_mut(),
        )
        .expect("a buffer");
        ExecuteKernel::new(kernel)
            .set_arg(&input)
            .set_arg(&output)
            .set_global_work_size(given.len())
            .set_local_work_size(given.len())
            .enqueue_nd_range(session.queue())
            .expect("the launch is accepted");
        session
            .queue()
            .enqueue_read_buffer(&output, CL_BLOCKING, 0, &mut data, &[])
            .expect("the kernel ends");
    }
    data
}
