//! Moves within one array: source and target overlap, in either direction.
//!
//! clang makes `memmove` of loops that move elements and of structures that go through a copy; a small one is one
//! instruction of SPIR-V.

use super::harness::{Launch, session};
use super::random::Random;

/// Work-items of a launch, and of a work-group.
const ITEMS: usize = 8;
const GROUP: usize = 4;

/// Types and their sizes.
const TYPES: &[(&str, usize)] = &[
    ("char", 1),
    ("int", 4),
    ("triple", 12),
    ("short", 2),
    ("long", 8),
    ("int3", 16),
];

/// Elements `from..from + count` of an array go to `to`.
#[derive(Clone, Copy)]
struct Move {
    to: usize,
    from: usize,
    count: usize,
}

/// Moves of elements of a size, and the length of an array for them.
fn moves(element_bytes: usize) -> (Vec<Move>, usize) {
    let mut moves = Vec::new();
    for bytes in [28, 64, 72, 200] {
        let count = (bytes / element_bytes).max(2);
        for by in [1, 5, count] {
            // A third of them, others for each type, would make the program longer only.
            if (bytes + by + element_bytes).is_multiple_of(3) {
                continue;
            }
            let (to, from) = match (bytes + by) % 2 {
                0 => (by, 0),
                _ => (0, by),
            };
            moves.push(Move { to, from, count });
        }
    }
    let length = moves.iter().map(|m| m.to.max(m.from) + m.count).max();
    (moves, length.unwrap_or(1) + 1)
}

impl Move {
    /// OpenCL C for it: a loop that the compiler can know for a move, or a call by name.
    fn source(&self, by_name: bool) -> String {
        let Self { to, from, count } = *self;
        match (by_name, to > from) {
            (true, _) => format!("__builtin_memmove(a + {to}, a + {from}, {count} * sizeof(*a));"),
            (_, true) => {
                format!("for (int j = {count} - 1; j >= 0; j--) a[{to} + j] = a[{from} + j];")
            }
            _ => format!("for (int j = 0; j < {count}; j++) a[{to} + j] = a[{from} + j];"),
        }
    }
}

/// Runs all moves of a type in an array that `declare` declares, and compares with the host.
fn check(declare: &str, ty: &str, element_bytes: usize) {
    let (moves, length) = moves(element_bytes);
    let mut body = String::new();
    for (index, one) in moves.iter().enumerate() {
        let by_name = index % 3 == 0;
        body += &format!("case {index}: {}\n break;\n", one.source(by_name));
    }
    let source = format!(
        "typedef struct {{ int a; short b[3]; char c[2]; }} triple;
        typedef {ty} T;
        #define LENGTH {length}
        kernel __attribute__((reqd_work_group_size({GROUP}, 1, 1)))
        void test(global const T *in, global T *out, global T *scratch, int n, int moves) {{
            {declare}
            in += get_global_id(0) * n;
            out += get_global_id(0) * n;
            for (int one = 0; one < moves; one++, out += get_global_size(0) * n) {{
                for (int k = 0; k < n; k++) a[k] = in[k];
                switch (one) {{ {body} }}
                for (int k = 0; k < n; k++) out[k] = a[k];
            }}
        }}"
    );
    let mut random = Random::new(length as u64);
    let bytes = length * element_bytes;
    let input: Vec<u8> = (0..ITEMS * bytes).map(|_| random.next() as u8).collect();
    let found = Launch::new(source)
        .buffer(&input)
        .output::<u8>(moves.len() * input.len())
        .output::<u8>(input.len())
        .value(length as i32)
        .value(moves.len() as i32)
        .run(&[ITEMS], &[GROUP])
        .get::<u8>(1);
    for (found, one) in found.chunks(input.len()).zip(&moves) {
        for (item, (found, before)) in found.chunks(bytes).zip(input.chunks(bytes)).enumerate() {
            let mut expected = before.to_vec();
            let Move { to, from, count } = *one;
            let source = from * element_bytes..(from + count) * element_bytes;
            expected.copy_within(source, to * element_bytes);
            // The fourth of three elements may be anything.
            let is_hole = |at: usize| ty == "int3" && at % 16 >= 12;
            let wrong = (0..bytes).find(|&at| found[at] != expected[at] && !is_hole(at));
            assert_eq!(
                wrong, None,
                "{declare} of {ty}: {count} from {from} to {to}, work-item {item}:\n{found:?}\n{expected:?}"
            );
        }
    }
}

#[test]
fn moves_in_private_memory() {
    for &(ty, size) in TYPES {
        check("T a[LENGTH];", ty, size);
    }
}

#[test]
fn moves_in_local_memory() {
    let declare = format!("local T all[{GROUP}][LENGTH]; local T *a = all[get_local_id(0)];");
    for &(ty, size) in &TYPES[..3] {
        check(&declare, ty, size);
    }
}

#[test]
fn moves_in_global_memory() {
    for &(ty, size) in TYPES {
        let declare = "global T *a = scratch + get_global_id(0) * n;";
        check(declare, ty, size);
    }
}

#[test]
fn moves_by_generic_pointers() {
    if !session().has_generic_pointers() {
        return;
    }
    let declare = format!(
        "local T all[{GROUP}][LENGTH]; T mine[LENGTH];
        T *a = get_global_id(0) % 3 == 0 ? all[get_local_id(0)]
             : get_global_id(0) % 3 == 1 ? mine : (T *)(scratch + get_global_id(0) * n);"
    );
    for &(ty, size) in &TYPES[..2] {
        check(&declare, ty, size);
    }
}

/// Structures that go from one place to another of the same bytes.
#[test]
fn moves_of_structures() {
    const BYTES: usize = 264;
    for (size, by) in [(3, 1), (20, 8), (64, 60), (200, 8)] {
        let source = format!(
            "typedef struct __attribute__((packed)) {{ char b[{size}]; }} S;
            kernel void test(global char *a, global char *b, global char *c) {{
                size_t at = get_global_id(0) * {BYTES};
                private char mine[{BYTES}];
                for (int i = 0; i < {BYTES}; i++) mine[i] = c[at + i];
                {{ S t = *(global S *)(a + at); *(global S *)(a + at + {by}) = t; }}
                {{ S t = *(global S *)(b + at + {by}); *(global S *)(b + at) = t; }}
                {{ S t = *(private S *)(mine + 2); *(private S *)(mine + {by} + 2) = t; }}
                for (int i = 0; i < {BYTES}; i++) c[at + i] = mine[i];
            }}"
        );
        let mut random = Random::new(size as u64);
        let input: Vec<u8> = (0..ITEMS * BYTES).map(|_| random.next() as u8).collect();
        let found = Launch::new(source)
            .buffer(&input)
            .buffer(&input)
            .buffer(&input)
            .run(&[ITEMS], &[]);
        for (buffer, (to, from)) in [(by, 0), (0, by), (by + 2, 2)].into_iter().enumerate() {
            let mut expected = input.clone();
            for bytes in expected.chunks_mut(BYTES) {
                bytes.copy_within(from..from + size, to);
            }
            assert!(
                found.get::<u8>(buffer) == expected,
                "{size} bytes from {from} to {to}"
            );
        }
    }
}

/// Moves by sizes and distances that only the launch says.
#[test]
fn moves_of_any_size() {
    const LENGTH: usize = 80;
    let source = "
    kernel void test(global int *a, global const int *sizes, global const int *tos, global const int *froms,
                     global int *b, local int *shared) {
        size_t i = get_global_id(0);
        global int *mine = a + i * 80;
        int kept[80];
        local int *common = shared + get_local_id(0) * 80;
        for (int k = 0; k < 80; k++) kept[k] = common[k] = mine[k];
        __builtin_memmove(mine + tos[i], mine + froms[i], sizes[i] * sizeof(int));
        if (tos[i] > froms[i])
            for (int k = sizes[i]; k > 0; k--) kept[tos[i] + k - 1] = kept[froms[i] + k - 1];
        else
            for (int k = 0; k < sizes[i]; k++) kept[tos[i] + k] = kept[froms[i] + k];
        __builtin_memmove((local char *)(common + tos[i]), (local char *)(common + froms[i]), sizes[i] * 4);
        for (int k = 0; k < 80; k++) b[i * 160 + k] = kept[k], b[i * 160 + 80 + k] = common[k];
    }";
    let mut random = Random::new(11);
    let mut moves = Vec::new();
    for _ in 0..64 {
        let size = random.next() as usize % 70;
        let mut place = || random.next() as usize % (LENGTH - size);
        moves.push((size, place(), place()));
    }
    let input: Vec<i32> = (0..64 * LENGTH).map(|_| random.next() as i32).collect();
    let list = |pick: fn(&(usize, usize, usize)) -> usize| -> Vec<i32> {
        moves.iter().map(|one| pick(one) as i32).collect()
    };
    let found = Launch::new(source)
        .buffer(&input)
        .buffer(&list(|one| one.0))
        .buffer(&list(|one| one.1))
        .buffer(&list(|one| one.2))
        .output::<i32>(2 * input.len())
        .local(16 * LENGTH * 4)
        .run(&[64], &[16]);
    let (global, others) = (found.get::<i32>(0), found.get::<i32>(4));
    for (item, &(size, to, from)) in moves.iter().enumerate() {
        let mut expected = input[item * LENGTH..][..LENGTH].to_vec();
        expected.copy_within(from..from + size, to);
        let found = [
            &global[item * LENGTH..][..LENGTH],
            &others[item * 2 * LENGTH..][..LENGTH],
            &others[(item * 2 + 1) * LENGTH..][..LENGTH],
        ];
        for found in found {
            assert_eq!(found, expected, "{size} from {from} to {to}");
        }
    }
}

/// Copies that a module asks for, of constant and other sizes.
#[test]
fn moves_of_modules() {
    let text = |size: &str, align: u32| {
        format!(
            "OpCapability Kernel
            OpCapability Addresses
            OpCapability Int64
            OpCapability Int8
            OpMemoryModel Physical64 OpenCL
            OpEntryPoint Kernel %test \"test\"
            %void = OpTypeVoid
            %long = OpTypeInt 64 0
            %char = OpTypeInt 8 0
            %at = OpTypePointer CrossWorkgroup %char
            %ty = OpTypeFunction %void %at %long %long %long
            %constant = OpConstant %long 100
            %test = OpFunction %void None %ty
            %array = OpFunctionParameter %at
            %to = OpFunctionParameter %long
            %from = OpFunctionParameter %long
            %size = OpFunctionParameter %long
            %entry = OpLabel
            %target = OpInBoundsPtrAccessChain %at %array %to
            %source = OpInBoundsPtrAccessChain %at %array %from
            OpCopyMemorySized %target %source {size} Aligned {align}
            OpReturn
            OpFunctionEnd"
        )
    };
    for (name, align) in [
        ("%constant", 1),
        ("%constant", 4),
        ("%size", 1),
        ("%size", 4),
    ] {
        for (to, from) in [
            (8usize, 4usize),
            (4, 8),
            (60, 0),
            (0, 60),
            (20, 20),
            (104, 4),
        ] {
            let input: Vec<u8> = (0..300).map(|i| (i * 3 + 1) as u8).collect();
            let found = Launch::assembly(&text(name, align))
                .buffer(&input)
                .value(to as u64)
                .value(from as u64)
                .value(100u64)
                .run(&[1], &[1])
                .get::<u8>(0);
            let mut expected = input;
            expected.copy_within(from..from + 100, to);
            assert!(found == expected, "{name}, aligned {align}: {from} to {to}");
        }
    }
}

/// Filters that keep the last samples in an array, the newest first.
#[test]
fn delay_lines() {
    let source = "
    kernel void test(global const float *in, global float *out, int n) {
        float line[12] = {0};
        short small[9] = {0};
        float4 four[5] = {(float4)0};
        float sum = 0;
        for (int i = 0; i < n; i++) {
            for (int j = 11; j > 0; j--) line[j] = line[j - 1];
            line[0] = in[get_global_id(0) * n + i];
            for (int j = 8; j > 0; j--) small[j] = small[j - 1];
            small[0] = (short)line[0];
            for (int j = 4; j > 0; j--) four[j] = four[j - 1];
            four[0] = (float4)(line[0], line[1], line[2], line[3]);
            float y = 0;
            for (int j = 0; j < 12; j++) y += line[j] * (float)(j + 1);
            out[get_global_id(0) * n + i] = y + (float)small[(i * 5) % 9] + four[i % 5].y;
        }
    }";
    let n = 40;
    let input: Vec<f32> = (0..ITEMS * n).map(|i| ((i * 37) % 101) as f32).collect();
    let found = Launch::new(source)
        .buffer(&input)
        .output::<f32>(input.len())
        .value(n as i32)
        .run(&[ITEMS], &[])
        .get::<f32>(1);
    for (item, samples) in input.chunks(n).enumerate() {
        for i in 0..n {
            let before = |back: usize| i.checked_sub(back).map_or(0.0, |at| samples[at]);
            let y: f32 = (0..12).map(|j| before(j) * (j + 1) as f32).sum();
            let expected = y + before((i * 5) % 9) + before(i % 5 + 1);
            assert_eq!(
                found[item * n + i],
                expected,
                "work-item {item}, sample {i}"
            );
        }
    }
}
