//! Random pointers to parts of arrays, to pointers and within structures, and arrays of more than scalars.

use crate::generator::Generator;
use crate::scope::{Array, Scope, Variable};
use crate::tree::{Piece, Stmt};
use crate::types::Type;

impl Generator {
    /// A pointer that is used as an array: some elements of another one, or of one of two.
    pub fn array_pointer(&mut self, scope: &mut Scope, into: &mut Vec<Stmt>) {
        let fits = |a: &&Array| a.writable && a.length >= 2;
        let all: Vec<_> = scope.arrays.iter().filter(fits).cloned().collect();
        let Some(array) = self.dice.pick(&all) else {
            return self.assignment(scope, into);
        };
        let generic = self.features.generic;
        let pairs = all.iter().filter(|other| {
            other.ty == array.ty
                && other.length >= array.length
                && (generic || other.space == array.space)
        });
        let Some(other) = self.dice.pick(&pairs.collect::<Vec<_>>()).cloned() else {
            return;
        };
        let half = array.length / 2;
        let space = if array.space == other.space {
            array.space
        } else {
            ""
        };
        let name = self.name("p");
        let text = format!(
            "{space} {ty} *{name} = @ ? ({space} {ty} *){} + (@ & {}u) : ({space} {ty} *){};",
            array.name,
            half,
            other.name,
            ty = array.ty.name()
        );
        let condition = Piece::Expr(self.condition(scope, 1));
        let offset = Piece::Expr(self.expr(scope, Type::UINT, 1));
        into.push(Stmt::new(&text, [condition, offset]));
        scope.arrays.push(Array {
            name,
            length: half,
            space,
            ..array
        });
    }

    /// A pointer to one of two pointers, or one within a structure.
    pub fn indirect_pointer(&mut self, scope: &mut Scope, into: &mut Vec<Stmt>) {
        let fits = |v: &&Variable| v.writable && v.addressable;
        let all: Vec<_> = scope.variables.iter().filter(fits).cloned().collect();
        let Some(first) = self.dice.pick(&all) else {
            return self.assignment(scope, into);
        };
        let same: Vec<_> = all.iter().filter(|v| v.ty == first.ty).cloned().collect();
        let Some(second) = self.dice.pick(&same) else {
            return;
        };
        let ty = first.ty.name();
        let condition = Piece::Expr(self.condition(scope, 1));
        let (one, other, name) = (self.name("p"), self.name("p"), self.name("p"));
        let (text, reached) = if self.dice.percent(50) {
            let text = format!(
                "{ty} *{one} = &{}, *{other} = &{}; {ty} **{name} = @ ? &{one} : &{other};",
                first.name, second.name
            );
            (text, vec![format!("(*{one})"), format!("(**{name})")])
        } else {
            let text = format!(
                "struct {{ uint tag; {ty} *to[2]; }} {name} = {{ @, {{ &{}, &{} }} }};",
                first.name, second.name
            );
            let reached = format!("(*{name}.to[{name}.tag & 1u])");
            (text, vec![format!("(*{name}.to[1])"), reached])
        };
        into.push(Stmt::new(&text, [condition]));
        scope
            .variables
            .extend(reached.into_iter().map(|name| Variable {
                name,
                ..first.clone()
            }));
    }

    /// Structures in an array, or an array in an array.
    pub fn array_of_arrays(&mut self, scope: &mut Scope, into: &mut Vec<Stmt>) {
        let length = 2u32 << self.dice.below(2);
        let name = self.name("a");
        if !self.structures.is_empty() && self.dice.percent(50) {
            let structure = self.dice.below(self.structures.len());
            let mut values = Vec::new();
            let one = self.members(scope, structure, &mut values);
            let text = format!(
                "{} {name}[{length}] = {{ {one} }};",
                self.structures[structure].name
            );
            into.push(Stmt::new(&text, values));
            for _ in 0..2 {
                let index = self.index_text(scope, length);
                self.name_members(
                    scope,
                    &format!("{name}[{index}]"),
                    structure,
                    "private",
                    true,
                );
            }
            return;
        }
        let ty = Type {
            base: self.dice.integer(),
            width: self.dice.width(),
        };
        let inner = 2u32 << self.dice.below(3);
        let value = Piece::Expr(self.expr(scope, ty, 1));
        let text = format!("{} {name}[{length}][{inner}] = {{ {{ @ }} }};", ty.name());
        into.push(Stmt::new(&text, [value]));
        for _ in 0..2 {
            let index = self.index_text(scope, length);
            scope.arrays.push(Array {
                name: format!("{name}[{index}]"),
                ty,
                length: inner,
                writable: true,
                space: "private",
            });
        }
    }

    /// An index below a power of two as text: a number, or what a variable says.
    fn index_text(&mut self, scope: &Scope, length: u32) -> String {
        // Not one that has such an index itself.
        let fits =
            |v: &&Variable| v.ty.is_scalar() && !v.ty.base.is_float() && !v.name.contains('[');
        let all: Vec<_> = scope.variables.iter().filter(fits).collect();
        match self.dice.pick(&all) {
            Some(variable) if self.dice.percent(60) => {
                format!("(uint){} & {}u", variable.name, length - 1)
            }
            _ => self.dice.below(length as usize).to_string(),
        }
    }
}
