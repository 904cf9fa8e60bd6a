//! The low 32 bits of integers, compared whichever width they are computed in.
//!
//! An offset into device memory has 64 bits and one into local memory 32, so the same index is computed twice: masked, added
//! to and extended in either order. Numbers are given to what the low 32 bits are made of, as in value numbering.

use super::{DEPTH, Pointer, extended_word};
use crate::compiler::analysis::Affine;
use crate::compiler::ir::{Binary, Convert, Function, Op, Value};
use std::collections::{BTreeMap, HashMap};

/// Integers with the same number have the same low 32 bits.
type Number = usize;

/// What numbers add up to, modulo 2³².
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct WordSum {
    /// None 0 times.
    pub terms: BTreeMap<Number, u32>,
    pub constant: u32,
}

/// What the low 32 bits of an integer are made of.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Form {
    Sum(WordSum),
    Bitwise(Binary, Number, Number),
    /// An extension of an integer of fewer than 32 bits.
    Extended(Convert, Value),
    Other(Value),
}

/// The numbers of the integers of a function.
pub struct LowWords<'a> {
    /// Whose integers they are.
    pub function: &'a Function,
    numbers: HashMap<Value, Number>,
    forms: Vec<Form>,
    by_form: HashMap<Form, Number>,
}

impl<'a> LowWords<'a> {
    pub fn new(function: &'a Function) -> Self {
        Self {
            function,
            numbers: HashMap::new(),
            forms: Vec::new(),
            by_form: HashMap::new(),
        }
    }

    /// How far a pointer is from its variable.
    pub fn distance(&mut self, pointer: &Pointer) -> WordSum {
        self.sum(&pointer.terms, pointer.constant, DEPTH)
    }

    fn sum(&mut self, terms: &[(Value, u64)], constant: u64, depth: u32) -> WordSum {
        let mut sum = WordSum {
            terms: BTreeMap::new(),
            constant: constant as u32,
        };
        for &(term, factor) in terms {
            let (factor, number) = (factor as u32, self.number(term, depth));
            let inner = match &self.forms[number] {
                Form::Sum(inner) => inner.clone(),
                _ => WordSum {
                    terms: [(number, 1)].into(),
                    constant: 0,
                },
            };
            sum.constant = sum
                .constant
                .wrapping_add(inner.constant.wrapping_mul(factor));
            for (number, times) in inner.terms {
                let all = sum.terms.entry(number).or_default();
                *all = all.wrapping_add(times.wrapping_mul(factor));
            }
        }
        sum.terms.retain(|_, factor| *factor != 0);
        sum
    }

    /// The number of an integer of 32 bits or more; what is made of more than `depth` operations has one of its own.
    fn number(&mut self, value: Value, depth: u32) -> Number {
        if let Some(&number) = self.numbers.get(&value) {
            return number;
        }
        let Some(depth) = depth.checked_sub(1) else {
            return self.of_form(Form::Other(value));
        };
        let number = match extended_word(self.function, value) {
            Some(word) => self.number(word, depth),
            None => {
                let form = self.form(value, depth);
                self.of_form(form)
            }
        };
        self.numbers.insert(value, number);
        number
    }

    fn form(&mut self, value: Value, depth: u32) -> Form {
        let sum = Affine::of(self.function, value, DEPTH);
        if sum.terms.as_slice() != [(value, 1)] {
            return Form::Sum(self.sum(&sum.terms, sum.constant, depth));
        }
        match self.function.op_of(value) {
            Some(&Op::Binary(op @ (Binary::And | Binary::Or | Binary::Xor), a, b)) => {
                Form::Bitwise(op, self.number(a, depth), self.number(b, depth))
            }
            Some(&Op::Convert(op @ (Convert::ZeroExtend | Convert::SignExtend), from)) => {
                Form::Extended(op, from)
            }
            _ => Form::Other(value),
        }
    }

    fn of_form(&mut self, form: Form) -> Number {
        // A sum of one number, taken once, is that number.
        if let Form::Sum(WordSum { terms, constant: 0 }) = &form
            && let Some((&number, 1)) = terms.first_key_value()
            && terms.len() == 1
        {
            return number;
        }
        let next = self.forms.len();
        let number = *self.by_form.entry(form.clone()).or_insert(next);
        if number == next {
            self.forms.push(form);
        }
        number
    }
}
