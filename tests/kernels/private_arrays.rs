//! Private arrays whose indices are computed, changed and kept: sorts, and random programs that the host runs, too.

use super::harness::Launch;
use super::random::Random;

/// Work-items of a launch.
const ITEMS: usize = 64;

/// Bubble sorts that end where they swapped last: an index goes into a variable right where it is used for a store.
#[test]
fn sorts_with_a_kept_bound() {
    for ty in ["uchar", "ushort", "uint", "ulong"] {
        let source = format!(
            "kernel void test(global const uint *in, global uint *out, uint n) {{
                {ty} a[64];
                size_t g = get_global_id(0);
                for (uint k = 0; k < 64; k++) a[k] = ({ty})(in[(k * 7 + g) & 63] & 255);
                while (n > 1) {{
                    uint last = 0;
                    for (uint i = 1; i < n; i++)
                        if (a[i - 1] > a[i]) {{
                            {ty} t = a[i];
                            a[i] = a[i - 1];
                            a[i - 1] = t;
                            last = i;
                        }}
                    n = last;
                }}
                for (uint k = 0; k < 64; k++) out[g * 64 + k] = (uint)a[k];
            }}"
        );
        let mut random = Random::new(60);
        let input: Vec<u32> = (0..64).map(|_| random.next() as u32 % 200).collect();
        let mut sorted = input.clone();
        sorted.sort_unstable();
        let found = Launch::new(source)
            .buffer(&input)
            .output::<u32>(ITEMS * 64)
            .value(64u32)
            .run(&[ITEMS], &[])
            .get::<u32>(1);
        assert_eq!(found, sorted.repeat(ITEMS), "{ty}");
    }
}

/// A private array that holds the group in its first element and zeros in the others is read at places that are known and at one
/// that is not, behind loops, barriers and many other numbers.
#[test]
fn a_group_among_zeros() {
    const ITEMS: usize = 32;
    const WORDS: usize = 24;
    let added = |words: std::ops::Range<usize>, from: &str| -> String {
        let first = words.start;
        words
            .map(|k| {
                format!(
                    "out[i * 24 + {}] += (ulong){from}[{}];\n",
                    k % WORDS,
                    k - first
                )
            })
            .collect()
    };
    let (scratch, shorts) = (added(4..16, "mine"), added(20..36, "shorts"));
    let source = format!(
        "kernel __attribute__((reqd_work_group_size(16, 1, 1)))
        void test(global ulong *out, global const uint *in, global uint *scratch, global uint *counters,
                  local short *items, uint number, short4 vector) {{
            const uint i = (uint)get_global_id(0), id = (uint)get_local_id(0);
            global uint *mine = scratch + i * 16;
            local short *shorts = items + id * 16;
            for (uint j = 0; j < 16; ++j) shorts[j] = (short)(j * 259u + i);
            local char flags[16];
            ushort first = !(ushort)1;
            ushort none = max(first, first);
            uint outer = 2;
            do {{
                uint inner = 4;
                do {{
                    short size = (short)(get_global_size(0) & 255u);
                    switch ((long)size & 15) {{
                        case 1: shorts[outer & 15] = 1; break;
                    }}
                }} while (inner-- != 0);
            }} while (outer-- != 0);
            barrier(CLK_LOCAL_MEM_FENCE);
            flags[id] = 1;
            barrier(CLK_LOCAL_MEM_FENCE);
            char flag = flags[1];
            uint a[4][2] = {{ {{ (uint)get_group_id(0) }} }};
            out[i * 24] += 1;
            out[i * 24 + 1] += 1;
            out[i * 24 + 2] += (ulong)none;
            out[i * 24 + 3] += (ulong)flag;
            {scratch}
            out[i * 24 + 19] += (ulong)mine[15];
            {shorts}
            out[i * 24 + 12] += (ulong)a[number & 3][0];
            out[i * 24 + 13] += (ulong)a[number & 3][1];
            out[i * 24 + 14] += (ulong)a[none & 3][0];
            out[i * 24 + 15] += (ulong)a[none & 3][1];
        }}"
    );
    let mut random = Random::new(61);
    let input: Vec<u32> = (0..ITEMS * 16).map(|_| random.next() as u32).collect();
    let found = Launch::new(source)
        .buffer(&vec![0u64; ITEMS * WORDS])
        .buffer(&[0u32])
        .buffer(&input)
        .buffer(&[0u32])
        .local(16 * 32)
        .value(2u32)
        .value([0i16; 4])
        .run(&[ITEMS], &[16])
        .get::<u64>(0);
    let expected = (0..ITEMS).flat_map(|i| {
        let mut words = [0; WORDS];
        words[..4].copy_from_slice(&[1, 1, 0, 1]);
        for (k, &word) in input[i * 16..][..12].iter().enumerate() {
            words[4 + k] += u64::from(word);
        }
        words[19] += u64::from(input[i * 16 + 15]);
        for k in 0..16 {
            words[(20 + k) % WORDS] += (k * 259 + i) as u64;
        }
        words[14] += i as u64 / 16;
        words
    });
    assert_eq!(found, expected.collect::<Vec<u64>>());
}

/// An element is taken by an index that is kept as well, right after a store to somewhere.
#[test]
fn kept_indices() {
    let source = "
    kernel void test(global const uint *in, global uint *out, uint s, uint rounds) {
        uint a[64];
        size_t g = get_global_id(0);
        for (uint k = 0; k < 64; k++) a[k] = in[(k + g) & 63];
        uint i = (in[g] & 31) + 1, m = 0, sum = 0;
        for (uint k = 0; k < rounds; k++) {
            a[(i * 7 + s) & 63] = sum + k;
            m = i;
            if (a[i] & 1) m = a[i - 1];
            sum = sum * 5 + m;
            i = (m & 31) + 1;
        }
        out[g] = sum;
    }";
    let mut random = Random::new(61);
    let input: Vec<u32> = (0..64).map(|_| random.next() as u32 >> 8).collect();
    let expected: Vec<u32> = (0..ITEMS)
        .map(|g| {
            let mut a: Vec<u32> = (0..64).map(|k| input[(k + g) & 63]).collect();
            let (mut i, mut sum) = ((input[g] & 31) + 1, 0u32);
            for k in 0..20 {
                a[(i as usize * 7 + 3) & 63] = sum.wrapping_add(k);
                let m = match a[i as usize] & 1 {
                    1 => a[i as usize - 1],
                    _ => i,
                };
                sum = sum.wrapping_mul(5).wrapping_add(m);
                i = (m & 31) + 1;
            }
            sum
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&input)
        .output::<u32>(ITEMS)
        .value(3u32)
        .value(20u32)
        .run(&[ITEMS], &[])
        .get::<u32>(1);
    assert_eq!(found, expected);
}

/// Variables of a program, and elements of its array.
const VARIABLES: usize = 4;
const ELEMENTS: u32 = 32;

enum Expression {
    Variable(usize),
    /// A variable times and plus a constant.
    Linear(usize, u32, u32),
    Difference(usize, usize),
    Element(Box<Expression>),
}

enum Statement {
    Set(usize, Expression),
    Store(Expression, Expression),
    Swap(Expression, Expression),
    If(Expression, Expression, Vec<Statement>, Vec<Statement>),
    /// So many iterations, counted in a variable.
    Loop(usize, u32, Vec<Statement>),
}

/// What a program is made with.
struct Maker(Random);

impl Maker {
    fn below(&mut self, end: usize) -> usize {
        (self.0.next() % end as u64) as usize
    }

    fn index(&mut self) -> Expression {
        let variable = self.below(VARIABLES);
        match self.below(4) {
            0 => Expression::Linear(variable, 7, 3),
            1 => Expression::Linear(variable, 1, u32::MAX),
            2 => Expression::Linear(variable, 1, 1),
            _ => Expression::Variable(variable),
        }
    }

    fn value(&mut self) -> Expression {
        let variable = self.below(VARIABLES);
        match self.below(5) {
            0 => Expression::Difference(variable, self.below(VARIABLES)),
            1 => Expression::Linear(variable, 3, 1),
            2 => Expression::Variable(variable),
            _ => Expression::Element(Box::new(self.index())),
        }
    }

    fn statement(&mut self, depth: usize) -> Statement {
        let variable = self.below(VARIABLES);
        match self.below(9) {
            0 | 1 => Statement::Store(self.index(), self.value()),
            2 => Statement::Swap(self.index(), self.index()),
            3 | 4 if depth < 3 => Statement::If(
                self.value(),
                self.value(),
                self.block(depth + 1),
                self.block(depth + 1),
            ),
            5 if depth < 2 => {
                let count = 2 + self.below(8) as u32;
                Statement::Loop(variable, count, self.block(depth + 1))
            }
            _ => Statement::Set(variable, self.value()),
        }
    }

    fn block(&mut self, depth: usize) -> Vec<Statement> {
        (0..1 + self.below(3))
            .map(|_| self.statement(depth))
            .collect()
    }
}

impl Expression {
    fn source(&self) -> String {
        match self {
            Self::Variable(v) => format!("v{v}"),
            Self::Linear(v, times, plus) => format!("v{v} * {times}u + {plus}u"),
            Self::Difference(v, w) => format!("v{v} - v{w}"),
            Self::Element(index) => format!("a[({}) & {}]", index.source(), ELEMENTS - 1),
        }
    }
}

fn block_source(block: &[Statement], depth: usize) -> String {
    let mask = ELEMENTS - 1;
    let one = |statement: &Statement| match statement {
        Statement::Set(v, value) => format!("v{v} = {};", value.source()),
        Statement::Store(index, value) => {
            format!("a[({}) & {mask}] = {};", index.source(), value.source())
        }
        Statement::Swap(p, q) => {
            let (p, q) = (p.source(), q.source());
            format!(
                "{{ uint p = ({p}) & {mask}, q = ({q}) & {mask}, t = a[p]; a[p] = a[q]; a[q] = t; }}"
            )
        }
        Statement::If(x, y, then, otherwise) => format!(
            "if ({} < {}) {{ {} }} else {{ {} }}",
            x.source(),
            y.source(),
            block_source(then, depth + 1),
            block_source(otherwise, depth + 1)
        ),
        Statement::Loop(v, count, body) => format!(
            "for (uint n{depth} = 0; n{depth} < {count}; n{depth}++) {{ {} v{v} = v{v} + 1; }}",
            block_source(body, depth + 1)
        ),
    };
    block.iter().map(one).collect::<Vec<_>>().join("\n ")
}

/// What a program works on.
struct State {
    variables: [u32; VARIABLES],
    array: [u32; ELEMENTS as usize],
}

impl State {
    fn value(&self, expression: &Expression) -> u32 {
        let variables = &self.variables;
        match expression {
            &Expression::Variable(v) => variables[v],
            &Expression::Linear(v, times, plus) => {
                variables[v].wrapping_mul(times).wrapping_add(plus)
            }
            &Expression::Difference(v, w) => variables[v].wrapping_sub(variables[w]),
            Expression::Element(index) => self.array[self.index(index)],
        }
    }

    fn index(&self, expression: &Expression) -> usize {
        (self.value(expression) & (ELEMENTS - 1)) as usize
    }

    fn run(&mut self, block: &[Statement]) {
        for statement in block {
            match statement {
                Statement::Set(v, value) => self.variables[*v] = self.value(value),
                Statement::Store(index, value) => {
                    self.array[self.index(index)] = self.value(value);
                }
                Statement::Swap(p, q) => {
                    let (p, q) = (self.index(p), self.index(q));
                    self.array.swap(p, q);
                }
                Statement::If(x, y, then, otherwise) => {
                    let taken = self.value(x) < self.value(y);
                    self.run(if taken { then } else { otherwise });
                }
                Statement::Loop(v, count, body) => {
                    for _ in 0..*count {
                        self.run(body);
                        self.variables[*v] = self.variables[*v].wrapping_add(1);
                    }
                }
            }
        }
    }
}

#[test]
fn random_array_programs() {
    let mut random = Random::new(62);
    let input: Vec<u32> = (0..64).map(|_| random.next() as u32 & 63).collect();
    for seed in 0..24 {
        let mut maker = Maker(Random::new(seed));
        let count = 2 + maker.below(4);
        let program: Vec<Statement> = (0..count).map(|_| maker.statement(0)).collect();
        let source = format!(
            "kernel void test(global const uint *in, global uint *out, uint rounds) {{
                uint a[{ELEMENTS}];
                size_t g = get_global_id(0);
                for (uint k = 0; k < {ELEMENTS}; k++) a[k] = in[(k + g) & 63];
                uint v0 = in[g], v1 = in[(g + 1) & 63], v2 = 0, v3 = (uint)g;
                for (uint k = 0; k < rounds; k++) {{
                {}
                }}
                uint sum = v0 + v1 * 3 + v2 * 5 + v3 * 7;
                for (uint k = 0; k < {ELEMENTS}; k++) sum = sum * 31 + a[k];
                out[g] = sum;
            }}",
            block_source(&program, 0)
        );
        let expected: Vec<u32> = (0..ITEMS)
            .map(|g| {
                let mut state = State {
                    variables: [input[g], input[(g + 1) & 63], 0, g as u32],
                    array: std::array::from_fn(|k| input[(k + g) & 63]),
                };
                (0..3).for_each(|_| state.run(&program));
                let sum = [1, 3, 5, 7].iter().zip(state.variables);
                let sum = sum.fold(0u32, |sum, (&times, v)| {
                    sum.wrapping_add(v.wrapping_mul(times))
                });
                let all = state.array.iter();
                all.fold(sum, |sum, &one| sum.wrapping_mul(31).wrapping_add(one))
            })
            .collect();
        let found = Launch::new(source.as_str())
            .buffer(&input)
            .output::<u32>(ITEMS)
            .value(3u32)
            .run(&[ITEMS], &[])
            .get::<u32>(1);
        assert!(found == expected, "program {seed}:\n{source}");
    }
}
