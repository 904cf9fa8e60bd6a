//! Random loops: with every kind of counter, over the elements of arrays, and with every way out and in.
//!
//! No loop makes more than some hundred iterations, those around it included.

use crate::generator::Generator;
use crate::scope::{Array, Scope, Variable};
use crate::statements::Around;
use crate::tree::{Piece, Stmt};
use crate::types::{Base, Type};

/// Iterations that nested loops may make together.
const MOST_TRIPS: u32 = 128;

/// Iterations of the loops around one that sorts.
const FEW_TRIPS: u32 = 16;

/// The head of a loop: its text with an `@` for each operand and an `I` for the counter.
struct Head {
    text: &'static str,
    counter: Base,
    operands: &'static [Base],
    /// How many iterations it makes at most.
    trips: u32,
}

const fn head(text: &'static str, counter: Base, operands: &'static [Base], trips: u32) -> Head {
    Head {
        text,
        counter,
        operands,
        trips,
    }
}

const HEADS: [Head; 14] = [
    head("for (uchar I = 250; I != 4; ++I)", Base::UChar, &[], 10),
    head("for (int I = -5; I < 6; I += 3)", Base::Int, &[], 4),
    head(
        "for (uint I = @; I != 0; I >>= 3)",
        Base::UInt,
        &[Base::UInt],
        11,
    ),
    head(
        "for (ulong I = @; I != 0; I &= I - 1)",
        Base::ULong,
        &[Base::ULong],
        64,
    ),
    head("for (uint I = 1; I < 200; I *= 3)", Base::UInt, &[], 5),
    head("for (long I = 7; I >= 0; --I)", Base::Long, &[], 8),
    head(
        "for (short I = 0; I < (short)(@ & 15); ++I)",
        Base::Short,
        &[Base::Short],
        15,
    ),
    head(
        "for (uint I = @ & 7u; I < 16u; I += (@ & 3u) + 1u)",
        Base::UInt,
        &[Base::UInt, Base::UInt],
        16,
    ),
    head(
        "for (uint I = 0, most = @ & 31u; I < most; ++I)",
        Base::UInt,
        &[Base::UInt],
        31,
    ),
    head(
        "for (int I = @ & 15, least = @ & 7; I > least; --I)",
        Base::Int,
        &[Base::Int, Base::Int],
        15,
    ),
    head("for (uint I = 0; I < 24u; ++I)", Base::UInt, &[], 24),
    head("for (int I = 40; I > 0; I -= 4)", Base::Int, &[], 10),
    head("for (char I = -128; I < -100; I += 5)", Base::Char, &[], 6),
    head(
        "for (ulong I = 0xfffffffcul; I < 0x100000005ul; ++I)",
        Base::ULong,
        &[],
        9,
    ),
];

/// `A` is the array, `T` the type of its elements, `L` their number, `S` its address space, `I` and `J` are names, and
/// `K` is less than half of `L`.
const MOVES: [&str; 9] = [
    "for (int I = L - 1; I >= K; --I) A[I] = A[I - K];",
    "for (uint I = 0; I + Ku < Lu; ++I) A[I] = A[I + Ku];",
    "for (uint I = K; I < Lu; ++I) A[I] = A[I - Ku];",
    "for (int I = @ & (L - 1); I >= K; --I) A[I] = A[I - K];",
    "{ T first = A[0]; for (uint I = 1; I < Lu; ++I) A[I - 1] = A[I]; A[L - 1] = first; }",
    "for (uint I = 0, J = L - 1; I < J; ++I, --J) { T one = A[I]; A[I] = A[J]; A[J] = one; }",
    "{ T one = A[@ & (Lu - 1)]; A[@ & (Lu - 1)] = one; }",
    "{ S T *I = A + @ % (Lu / 2 + 1); S const T *J = A + @ % (Lu / 2 + 1); \
     for (uint n = @ % (Lu / 2 + 1); n > 0; --n) *I++ = *J++; }",
    "{ uint n = @ % (Lu / 2 + 1); S T *I = A + @ % (Lu / 2 + 1) + n; S const T *J = A + @ % (Lu / 2 + 1) + n; \
     while (n-- > 0) *--I = *--J; }",
];

const SORTS: [&str; 5] = [
    "for (int I = 1; I < L; ++I) { T one = A[I]; int J = I; \
     while (J > 0 && A[J - 1] > one) { A[J] = A[J - 1]; --J; } A[J] = one; }",
    "for (uint I = L; I > 1; --I) for (uint J = 1; J < I; ++J) \
     if (A[J - 1] > A[J]) { T one = A[J]; A[J] = A[J - 1]; A[J - 1] = one; }",
    "{ int J; do { J = 0; for (uint I = 1; I < Lu; ++I) \
     if (A[I - 1] < A[I]) { T one = A[I]; A[I] = A[I - 1]; A[I - 1] = one; J = 1; } } while (J); }",
    "for (uint I = 0; I < Lu; ++I) { uint J = I; for (uint at = I + 1; at < Lu; ++at) if (A[at] < A[J]) J = at; \
     T one = A[I]; A[I] = A[J]; A[J] = one; }",
    "for (uint I = L; I > 0; --I) for (uint at = I - 1, J; (J = 2 * at + 1) < Lu; at = J) { \
     if (J + 1 < Lu && A[J + 1] > A[J]) ++J; if (A[at] >= A[J]) break; \
     T one = A[at]; A[at] = A[J]; A[J] = one; }",
];

/// `R` is the name of the `uint` that is found.
const SEARCHES: [&str; 5] = [
    "uint R; for (R = 0; R < Lu; ++R) if (A[R] == @) break;",
    "uint R = 0; { uint high = L; while (R < high) { uint middle = (R + high) / 2; \
     if (A[middle] < @) R = middle + 1; else high = middle; } }",
    "uint R = 0; { T I = A[@ & (Lu - 1)]; while (R < 9 && (I & 1) == 0) { I >>= 1; ++R; } }",
    "uint R = L; while (R-- > 0) if (A[R] > @) break;",
    "uint R = 0; for (uint I = 1; I < Lu; ++I) { if (A[I] < A[R]) R = I; else if (A[I] == @) continue; else R ^= 0; }",
];

/// `R` is the name of the value of the type of the elements, `W` the type in which they are added.
const WALKS: [&str; 4] = [
    "T R = @; for (S const T *I = A; I != A + L; ++I) R = (T)((W)R * 31u + (W)*I);",
    "T R = @; for (S const T *I = A + L; I > A; ) { --I; R = (T)((W)R * 31u ^ (W)*I); }",
    "T R = @; { S const T *I = A; while (I < A + L && *I++ != R) R = (T)((W)R + 1u); R = (T)((W)R ^ (W)(I - A)); }",
    "T R = @; for (uint I = 0; I < Lu; ++I) { R = (T)((W)R + (W)A[((uint)R + I) & (Lu - 1)]); A[I] = R; }",
];

impl Generator {
    /// An array of scalars that can be written, of `least..=most` elements.
    fn array_of_scalars(&mut self, scope: &Scope, least: u32, most: u32) -> Option<Array> {
        let fits = |a: &&Array| {
            a.writable
                && a.ty.is_scalar()
                && !a.ty.base.is_float()
                && (least..=most).contains(&a.length)
        };
        let all: Vec<_> = scope.arrays.iter().filter(fits).cloned().collect();
        self.dice.pick(&all)
    }

    /// A statement out of a template about an array, whose operands are of the type `operand`.
    fn about(
        &mut self,
        scope: &Scope,
        template: &str,
        array: &Array,
        operand: Type,
    ) -> (Stmt, String) {
        let (first, second, result) = (self.name("i"), self.name("j"), self.name("v"));
        let k = 1 + self.dice.below((array.length as usize / 2).max(2) - 1);
        let (ty, length) = (array.ty.name(), array.length.to_string());
        let wide = if array.ty.base.size_bytes() == 8 {
            "ulong"
        } else {
            "uint"
        };
        let words: [(char, &str); 9] = [
            ('A', &array.name),
            ('T', &ty),
            ('L', &length),
            ('S', array.space),
            ('I', &first),
            ('J', &second),
            ('K', &k.to_string()),
            ('R', &result),
            ('W', wide),
        ];
        let text = replaced(template, &words);
        let operands: Vec<_> = (0..template.matches('@').count())
            .map(|_| Piece::Expr(self.expr(scope, operand, 1)))
            .collect();
        (Stmt::new(&text, operands), result)
    }

    /// Moves elements of an array up or down, by one or more, or to where they lay before.
    pub fn move_elements(&mut self, scope: &mut Scope, around: Around, into: &mut Vec<Stmt>) {
        let fits = |a: &&Array| a.writable && a.length >= 4;
        let all: Vec<_> = scope.arrays.iter().filter(fits).cloned().collect();
        let fits = around.trips <= MOST_TRIPS / 4;
        let Some(array) = self.dice.pick(&all).filter(|_| fits) else {
            return self.assignment(scope, into);
        };
        let template = MOVES[self.dice.below(MOVES.len())];
        into.push(self.about(scope, template, &array, Type::UINT).0);
    }

    pub fn sort(&mut self, scope: &mut Scope, around: Around, into: &mut Vec<Stmt>) {
        let fits = around.trips <= FEW_TRIPS;
        let Some(array) = self.array_of_scalars(scope, 4, 16).filter(|_| fits) else {
            return self.assignment(scope, into);
        };
        let template = SORTS[self.dice.below(SORTS.len())];
        into.push(self.about(scope, template, &array, Type::UINT).0);
    }

    pub fn search(&mut self, scope: &mut Scope, around: Around, into: &mut Vec<Stmt>) {
        let fits = around.trips <= MOST_TRIPS / 4;
        let Some(array) = self.array_of_scalars(scope, 2, 64).filter(|_| fits) else {
            return self.assignment(scope, into);
        };
        let template = SEARCHES[self.dice.below(SEARCHES.len())];
        let operand = if template.contains("Lu - 1") {
            Type::UINT
        } else {
            array.ty
        };
        let (stmt, found) = self.about(scope, template, &array, operand);
        into.push(stmt);
        scope.variables.push(declared(found, Type::UINT));
    }

    /// Walks over an array with a pointer, or with an index that depends on what it finds.
    pub fn walk(&mut self, scope: &mut Scope, around: Around, into: &mut Vec<Stmt>) {
        let fits = around.trips <= MOST_TRIPS / 4;
        let Some(array) = self.array_of_scalars(scope, 2, 64).filter(|_| fits) else {
            return self.assignment(scope, into);
        };
        let template = WALKS[self.dice.below(WALKS.len())];
        let (stmt, result) = self.about(scope, template, &array, array.ty);
        into.push(stmt);
        scope.variables.push(declared(result, array.ty));
    }

    /// A loop with one of `HEADS`; all work-items stay together in some.
    pub fn counted_loop(&mut self, scope: &mut Scope, around: Around, into: &mut Vec<Stmt>) {
        let head = &HEADS[self.dice.below(HEADS.len())];
        if around.trips * head.trips > MOST_TRIPS {
            return self.assignment(scope, into);
        }
        let operands = head.operands.iter();
        let mut all: Vec<_> = operands
            .map(|&base| Piece::Expr(self.expr(scope, Type::scalar(base), 1)))
            .collect();
        let (mut inner, name) = self.counter(scope);
        if let Some(counter) = inner.variables.last_mut() {
            counter.ty = Type::scalar(head.counter);
        }
        // The bound may be another one in every work-item.
        let same = head.operands.is_empty() && self.dice.percent(50);
        let around = Around {
            in_loop: !same,
            in_switch: false,
            uniform: around.uniform && same,
            depth: around.depth + 1,
            trips: around.trips * head.trips,
            ..around
        };
        all.push(self.block(&inner, around, 4));
        let text = replaced(head.text, &[('I', &name)]);
        into.push(Stmt::new(&format!("{text} @"), all));
    }

    /// `if … else if …`, now and then a long one.
    pub fn chain(&mut self, scope: &mut Scope, around: Around, into: &mut Vec<Stmt>) {
        let long = self.dice.percent(8);
        let count = if long {
            24 + self.dice.below(16)
        } else {
            2 + self.dice.below(6)
        };
        let ty = Type::scalar(self.dice.integer());
        let value = Piece::Expr(self.expr(scope, ty, 2));
        let name = self.name("v");
        let mut text = format!("{} {name} = @; ", ty.name());
        let mut all = vec![value];
        for at in 0..count {
            let operator = ["==", "<", ">", "&"][self.dice.below(4)];
            text.push_str(&format!("if ({name} {operator} @) @ else "));
            all.push(Piece::Expr(self.expr(scope, ty, 0)));
            let simple = long && at % 4 != 0;
            all.push(if simple {
                self.one_assignment(scope)
            } else {
                self.block(scope, around.deeper(), 2)
            });
        }
        text.push('@');
        all.push(self.block(scope, around.deeper(), 2));
        into.push(Stmt::new(&text, all));
    }

    fn one_assignment(&mut self, scope: &Scope) -> Piece {
        let mut block = Vec::new();
        self.assignment(&mut scope.clone(), &mut block);
        Piece::Block(block)
    }

    /// A loop around a `switch`, each of whose cases says which is the next.
    pub fn state_machine(&mut self, scope: &mut Scope, around: Around, into: &mut Vec<Stmt>) {
        let trips = 4 + self.dice.below(12) as u32;
        if around.trips * trips > MOST_TRIPS {
            return self.assignment(scope, into);
        }
        let states = 3 + self.dice.below(5);
        let (mut inner, name) = self.counter(scope);
        let state = self.name("state");
        inner.variables.push(Variable {
            writable: false,
            addressable: false,
            ..declared(state.clone(), Type::UINT)
        });
        let around = Around {
            in_loop: true,
            in_switch: true,
            trips: around.trips * trips,
            ..around.deeper()
        };
        let mut cases = Vec::new();
        for case in 0..states {
            let block = self.block(&inner, around, 2);
            let next = Piece::Expr(self.expr(&inner, Type::UINT, 1));
            let end = ["break;", "break;", "continue;", ""][self.dice.below(4)];
            let text = format!("case {case}: @ {state} = @ % {}u; {end}", states + 1);
            cases.push(Stmt::new(&text, [block, next]));
        }
        cases.push(Stmt::new(
            &format!("default: {state} = {name} % {states}u;"),
            [],
        ));
        let start = Piece::Expr(self.expr(scope, Type::UINT, 1));
        let after = self.block(&inner, around, 1);
        let text = format!(
            "{{ uint {state} = @ % {states}u; for (uint {name} = 0; {name} < {trips}u; ++{name}) {{ switch ({state}) @ @ }} }}"
        );
        into.push(Stmt::new(&text, [start, Piece::Block(cases), after]));
    }

    /// `goto` out of a loop within another.
    pub fn leave_two_loops(&mut self, scope: &mut Scope, around: Around, into: &mut Vec<Stmt>) {
        let trips = 12;
        if around.trips * trips > MOST_TRIPS {
            return self.assignment(scope, into);
        }
        let label = self.name("out");
        let (middle, outer) = self.counter(scope);
        let (inner, counter) = self.counter(&middle);
        let around = Around {
            in_loop: true,
            in_switch: false,
            trips: around.trips * trips,
            ..around.deeper()
        };
        let all = [
            self.block(&middle, around, 2),
            self.block(&inner, around, 2),
            Piece::Expr(self.condition(&inner, 1)),
            self.block(&inner, around, 1),
            self.block(&middle, around, 1),
        ];
        let text = format!(
            "{{ for (uint {outer} = 0; {outer} < 4u; ++{outer}) {{ @ for (uint {counter} = 2; {counter} != ~0u; --{counter}) \
             {{ @ if (@) goto {label}; @ }} @ }} {label}: ; }}"
        );
        into.push(Stmt::new(&text, all));
    }

    /// A loop that a `switch` enters in the middle.
    pub fn jump_into_loop(&mut self, scope: &mut Scope, around: Around, into: &mut Vec<Stmt>) {
        let (inner, name) = self.counter(scope);
        let around = Around {
            in_loop: false,
            in_switch: false,
            trips: around.trips * 8,
            ..around.deeper()
        };
        if around.trips > MOST_TRIPS {
            return self.assignment(scope, into);
        }
        let count = Piece::Expr(self.expr(scope, Type::UINT, 1));
        let mut all = vec![count];
        all.push(Piece::Expr(self.expr(scope, Type::UINT, 1)));
        all.extend((0..3).map(|_| self.block(&inner, around, 2)));
        let text = format!(
            "uint {name} = (@ & 7u) + 1u; switch (@ & 3u) {{ case 0: do {{ @ case 3: @ case 1: @ case 2: ; }} \
             while (--{name} > 0); }}"
        );
        into.push(Stmt::new(&text, all));
    }
}

/// A template with words in the place of its capital letters.
fn replaced(template: &str, words: &[(char, &str)]) -> String {
    let mut text = String::new();
    for one in template.chars() {
        match words.iter().find(|(letter, _)| *letter == one) {
            Some((_, word)) => text.push_str(word),
            None => text.push(one),
        }
    }
    text
}

fn declared(name: String, ty: Type) -> Variable {
    Variable {
        name,
        ty,
        writable: true,
        addressable: true,
    }
}
