//! Parameters of dispatch blocks, which the targets share.

use super::Shaper;
use crate::compiler::ir::{Block, Function, Op, Type, Value};
use std::collections::HashMap;

/// What a dispatch takes for its targets, of which one is meant at a time: a parameter of each is in the same slot.
pub struct Slots {
    /// Types of the slots.
    types: Vec<Type>,
    /// The slot of each parameter of each target.
    places: Vec<Vec<usize>>,
}

impl Slots {
    /// Those for the parameters of `targets`. Parameters of two targets that get the same value from anywhere share a slot
    /// where they can, which then has the same value on more ways.
    pub fn new(function: &Function, targets: &[Block]) -> Self {
        let mut slots = Self {
            types: Vec::new(),
            places: Vec::new(),
        };
        let mut of_value: HashMap<Value, Vec<usize>> = HashMap::new();
        for (&target, values) in targets.iter().zip(values_of(function, targets)) {
            let params = &function.block(target).params;
            let types: Vec<Type> = params.iter().map(|&param| function.ty(param)).collect();
            let places = slots.place(&types, &values, &of_value);
            for (values, &slot) in values.iter().zip(&places) {
                for &value in values {
                    of_value.entry(value).or_default().push(slot);
                }
            }
            slots.places.push(places);
        }
        slots
    }

    /// A slot for each parameter of one target: one that had one of its values before, else any that is free.
    fn place(
        &mut self,
        types: &[Type],
        values: &[Vec<Value>],
        of_value: &HashMap<Value, Vec<usize>>,
    ) -> Vec<usize> {
        let mut free = vec![true; self.types.len()];
        let mut places = Vec::new();
        for (&ty, values) in types.iter().zip(values) {
            let mut alike = values.iter().filter_map(|it| of_value.get(it)).flatten();
            let place = alike.find(|&&slot| free[slot] && self.types[slot] == ty);
            if let Some(&slot) = place {
                free[slot] = false;
            }
            places.push(place.copied());
        }
        let placed = places.into_iter().zip(types).map(|(place, &ty)| {
            let slot = place.unwrap_or_else(|| {
                let mut slots = (0..self.types.len()).filter(|&slot| self.types[slot] == ty);
                slots.find(|&slot| free[slot]).unwrap_or_else(|| {
                    self.types.push(ty);
                    free.push(true);
                    self.types.len() - 1
                })
            });
            free[slot] = false;
            slot
        });
        placed.collect()
    }

    /// The slots that targets take from number `first` on.
    pub fn from(&self, first: usize) -> Vec<usize> {
        let mut slots: Vec<usize> = self.places[first..].iter().flatten().copied().collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// What to pass to a block that takes the slots from target `first` on, so that the target `chosen` gets `args`.
    pub fn pass(
        &self,
        shaper: &mut Shaper,
        first: usize,
        chosen: usize,
        args: &[Value],
    ) -> Vec<Value> {
        let places = &self.places[chosen];
        let slots = self.from(first).into_iter();
        slots
            .map(
                |slot| match places.iter().position(|&place| place == slot) {
                    Some(position) => args[position],
                    None => shaper.undefined(self.types[slot]),
                },
            )
            .collect()
    }

    /// Adds the slots from target `first` on to a block's parameters; the value of each.
    pub fn add_params(
        &self,
        function: &mut Function,
        block: Block,
        first: usize,
    ) -> HashMap<usize, Value> {
        let slots = self.from(first).into_iter();
        slots
            .map(|slot| (slot, function.add_param(block, self.types[slot])))
            .collect()
    }

    /// What a target gets of the slots' values.
    pub fn args(&self, target: usize, values: &HashMap<usize, Value>) -> Vec<Value> {
        let places = self.places[target].iter();
        places.map(|slot| values[slot]).collect()
    }
}

/// For each target and each of its parameters, the values that it gets.
fn values_of(function: &Function, targets: &[Block]) -> Vec<Vec<Vec<Value>>> {
    let empty = |target: &Block| vec![Vec::new(); function.block(*target).params.len()];
    let mut values: Vec<Vec<Vec<Value>>> = targets.iter().map(empty).collect();
    for &block in function.layout() {
        for edge in function.block(block).terminator.edges() {
            let Some(target) = targets.iter().position(|&target| target == edge.block) else {
                continue;
            };
            for (values, &arg) in values[target].iter_mut().zip(&edge.args) {
                let is_undefined = matches!(function.op_of(arg), Some(Op::Undef));
                if !is_undefined && !values.contains(&arg) {
                    values.push(arg);
                }
            }
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Builder, Edge, Terminator};
    use smallvec::smallvec;

    #[test]
    fn parameters_of_one_value_share_a_slot() {
        let mut function = Function::new("f");
        let entry = function.entry();
        let [x, y] = [0; 2].map(|_| function.add_param(entry, Type::I32));
        let [first, second] = [0; 2].map(|_| function.add_block());
        for (block, count) in [(first, 2), (second, 3)] {
            for _ in 0..count {
                function.add_param(block, Type::I32);
            }
            Builder::new(&mut function, block).terminate(Terminator::Return(smallvec![]));
        }
        let mut b = Builder::new(&mut function, entry);
        let (condition, zero) = (b.constant(Type::Bool, 1), b.i32(0));
        b.branch(
            condition,
            Edge::new(first, [x, y]),
            Edge::new(second, [zero, y, x]),
        );
        let slots = Slots::new(&function, &[first, second]);
        assert_eq!(slots.places, [vec![0, 1], vec![2, 1, 0]]);
    }
}
