//! Random statements: declarations, assignments, every kind of branch and loop, memory and synchronization.
//!
//! Every loop counts down a variable that nothing else writes. Where work-items may have parted (`uniform`
//! is false) there is no barrier.

use crate::generator::{Generator, ITEM_SLOTS, RESULTS};
use crate::scope::{Array, Member, Parameter, Place, Scope, Variable};
use crate::tree::{Expr, Piece, Stmt};
use crate::types::{Base, Type};

/// Where a statement stands.
#[derive(Clone, Copy)]
pub struct Around {
    /// Whether all work-items of the work-group come here together.
    pub uniform: bool,
    /// Whether `break` and `continue` have a loop to leave.
    pub in_loop: bool,
    /// Whether `break` leaves a `switch` (and `continue` must be conditional all the same).
    pub in_switch: bool,
    pub depth: u32,
    /// In a kernel, which has buffers, not in a function.
    pub in_kernel: bool,
    /// The product of the trip counts of the loops around it.
    pub trips: u32,
}

impl Around {
    pub fn deeper(self) -> Self {
        Self {
            uniform: false,
            depth: self.depth + 1,
            ..self
        }
    }
}

impl Generator {
    /// Statements in a scope of their own.
    pub fn block(&mut self, scope: &Scope, around: Around, most: usize) -> Piece {
        let mut inner = scope.clone();
        let mut block = Vec::new();
        for _ in 0..1 + self.dice.below(most) {
            self.statement(&mut inner, around, &mut block);
        }
        Piece::Block(block)
    }

    /// Adds a statement, and what it declares to the scope.
    pub fn statement(&mut self, scope: &mut Scope, around: Around, into: &mut Vec<Stmt>) {
        if self.budget == 0 {
            return;
        }
        self.budget -= 1;
        let nests = around.depth < 3;
        match self.dice.below(45) {
            0..5 => self.declaration(scope, into),
            5 => self.array(scope, into),
            6 => self.aggregate(scope, into),
            7 => self.pointer(scope, into),
            8 if nests => self.branch(scope, around, into),
            9 if nests => self.for_loop(scope, around, into),
            10 if nests => self.while_loop(scope, around, into),
            11 if nests => self.switch(scope, around, into),
            12 if nests => self.forward_goto(scope, around, into),
            13 if nests => self.backward_goto(scope, around, into),
            14 | 15 => self.leave(scope, around, into),
            16 => self.copy(scope, into),
            17 | 18 if !self.features.plain => self.vector_store(scope, into),
            19 => self.punning(scope, into),
            20 | 21 => self.pointer_call(scope, into),
            22 | 23 if around.uniform => self.exchange(scope, into),
            24 if around.in_kernel => self.atomic(scope, into),
            25 if around.uniform => self.local_atomics(scope, into),
            30 | 31 => self.move_elements(scope, around, into),
            32 => self.sort(scope, around, into),
            33 => self.search(scope, around, into),
            34 => self.walk(scope, around, into),
            35 | 36 if nests => self.counted_loop(scope, around, into),
            37 if nests => self.chain(scope, around, into),
            38 if nests => self.state_machine(scope, around, into),
            39 if nests => self.leave_two_loops(scope, around, into),
            40 => self.array_pointer(scope, into),
            41 => self.indirect_pointer(scope, into),
            42 => self.array_of_arrays(scope, into),
            43 if nests => self.jump_into_loop(scope, around, into),
            44 if around.uniform => self.sub_group(scope, into),
            _ => self.assignment(scope, into),
        }
    }

    pub fn initializer(&mut self, scope: &Scope, ty: Type) -> Expr {
        if ty.base.is_float() {
            self.bounded_float(scope, ty, 2)
        } else {
            self.expr(scope, ty, 3)
        }
    }

    pub fn any_type(&mut self) -> Type {
        let width = self.dice.width();
        let base = match self.dice.below(8) {
            _ if self.features.plain => self.dice.integer(),
            0 => Base::Float,
            1 if self.features.double && self.dice.percent(30) => Base::Double,
            _ => self.dice.integer(),
        };
        Type { base, width }
    }

    pub fn declaration(&mut self, scope: &mut Scope, into: &mut Vec<Stmt>) {
        let ty = self.any_type();
        self.declaration_of(ty, scope, into);
    }

    fn declaration_of(&mut self, ty: Type, scope: &mut Scope, into: &mut Vec<Stmt>) {
        let value = self.initializer(scope, ty);
        let name = self.name("v");
        let text = format!("{} {name} = @;", ty.name());
        into.push(Stmt::new(&text, [Piece::Expr(value)]));
        scope.variables.push(Variable {
            name,
            ty,
            writable: true,
            addressable: true,
        });
    }

    fn array(&mut self, scope: &mut Scope, into: &mut Vec<Stmt>) {
        let ty = Type {
            base: self.dice.integer(),
            width: self.dice.width(),
        };
        let length = 1 << self.dice.below(5);
        self.array_of(ty, length, scope, into);
    }

    fn array_of(&mut self, ty: Type, length: usize, scope: &mut Scope, into: &mut Vec<Stmt>) {
        let values: Vec<_> = (0..1 + self.dice.below(length.min(5)))
            .map(|_| Piece::Expr(self.expr(scope, ty, 1)))
            .collect();
        let name = self.name("a");
        let places = vec!["@"; values.len()].join(", ");
        let text = format!("{} {name}[{length}] = {{ {places} }};", ty.name());
        into.push(Stmt::new(&text, values));
        scope.arrays.push(Array {
            name,
            ty,
            length: length as u32,
            writable: true,
            space: "private",
        });
    }

    /// Values for the members, in braces.
    pub fn members(&mut self, scope: &Scope, structure: usize, values: &mut Vec<Piece>) -> String {
        let all = self.structures[structure].clone();
        let count = if all.is_union { 1 } else { all.members.len() };
        let one = |(_, member): &(String, Member)| match member {
            Member::Plain(ty) => {
                let value = self.initializer(scope, *ty);
                values.push(Piece::Expr(value));
                "@".to_owned()
            }
            Member::Array(ty, length) => {
                for _ in 0..*length {
                    values.push(Piece::Expr(self.expr(scope, *ty, 0)));
                }
                let places = vec!["@"; *length as usize];
                format!("{{ {} }}", places.join(", "))
            }
            Member::Nested(inner) => self.members(scope, *inner, values),
        };
        let texts: Vec<_> = all.members[..count].iter().map(one).collect();
        format!("{{ {} }}", texts.join(", "))
    }

    fn aggregate(&mut self, scope: &mut Scope, into: &mut Vec<Stmt>) {
        if self.structures.is_empty() {
            return;
        }
        let structure = self.dice.below(self.structures.len());
        self.aggregate_of(structure, scope, into);
    }

    fn aggregate_of(&mut self, structure: usize, scope: &mut Scope, into: &mut Vec<Stmt>) {
        let name = self.name("s");
        let mut values = Vec::new();
        let initializer = self.members(scope, structure, &mut values);
        let text = format!(
            "{} {name} = {initializer};",
            self.structures[structure].name
        );
        into.push(Stmt::new(&text, values));
        self.name_members(scope, &name, structure, "private", true);
    }

    /// `private` pointers to something that is in scope.
    fn pointer(&mut self, scope: &mut Scope, into: &mut Vec<Stmt>) {
        if scope.aggregates.iter().any(|one| one.writable) && self.dice.percent(25) {
            let all: Vec<_> = scope
                .aggregates
                .iter()
                .filter(|one| one.writable)
                .cloned()
                .collect();
            let Some(target) = self.dice.pick(&all) else {
                return;
            };
            let name = self.name("p");
            let space = if self.features.generic { "" } else { "private" };
            let text = format!(
                "{space} {} *{name} = &{};",
                self.structures[target.structure].name, target.name
            );
            into.push(Stmt::new(&text, []));
            self.name_members(scope, &format!("(*{name})"), target.structure, space, true);
            return;
        }
        let all: Vec<_> = scope
            .variables
            .iter()
            .filter(|v| v.writable && v.addressable)
            .cloned()
            .collect();
        let Some(target) = self.dice.pick(&all) else {
            return;
        };
        let mut others: Vec<_> = all
            .iter()
            .filter(|v| v.ty == target.ty)
            .map(|v| format!("&{}", v.name))
            .collect();
        let spaces = if self.features.generic {
            &["private", "local", "global"][..]
        } else {
            &["private"]
        };
        let arrays = scope
            .arrays
            .iter()
            .filter(|a| a.ty == target.ty && a.writable && spaces.contains(&a.space));
        others.extend(arrays.map(|a| format!("&{}[{}]", a.name, a.length - 1)));
        let name = self.name("p");
        let condition = self.condition(scope, 1);
        let ty = target.ty.name();
        let Some(other) = self.dice.pick(&others) else {
            return;
        };
        let text = format!(
            "{ty} *{name} = @ ? ({ty} *)&{} : ({ty} *){other};",
            target.name
        );
        into.push(Stmt::new(&text, [Piece::Expr(condition)]));
        let name = format!("(*{name})");
        scope.variables.push(Variable {
            name,
            ty: target.ty,
            writable: true,
            addressable: true,
        });
    }

    pub fn assignment(&mut self, scope: &mut Scope, into: &mut Vec<Stmt>) {
        let Some(Place {
            ty,
            template,
            operands,
        }) = self.place(scope)
        else {
            return;
        };
        let operator = match self.dice.below(12) {
            0 => "^=",
            1 => "|=",
            2 => "&=",
            3 if !ty.base.is_signed() => "+=",
            4 if !ty.base.is_signed() && ty.base.size_bytes() >= 4 => "*=",
            5 if !ty.base.is_signed() => "-=",
            6 if !ty.base.is_signed() => "<<=",
            7 => ">>=",
            _ => "=",
        };
        let operator = if ty.base.is_float() { "=" } else { operator };
        let mut value = self.initializer(scope, ty);
        if self.features.plain && operator.len() == 3 {
            value = self.shift_amount(ty, value);
        }
        let mut all: Vec<_> = operands.into_iter().map(Piece::Expr).collect();
        all.push(Piece::Expr(value));
        into.push(Stmt::new(&format!("{template} {operator} @;"), all));
    }

    fn branch(&mut self, scope: &Scope, around: Around, into: &mut Vec<Stmt>) {
        let condition = Piece::Expr(self.condition(scope, 2));
        let then = self.block(scope, around.deeper(), 3);
        if self.dice.percent(40) {
            let other = self.block(scope, around.deeper(), 3);
            into.push(Stmt::new("if (@) @ else @", [condition, then, other]));
        } else {
            into.push(Stmt::new("if (@) @", [condition, then]));
        }
    }

    /// A loop's counter, which only the loop writes.
    pub fn counter(&mut self, scope: &Scope) -> (Scope, String) {
        let name = self.name("i");
        let mut inner = scope.clone();
        inner.variables.push(Variable {
            name: name.clone(),
            ty: Type::UINT,
            writable: false,
            addressable: false,
        });
        (inner, name)
    }

    fn for_loop(&mut self, scope: &Scope, around: Around, into: &mut Vec<Stmt>) {
        let (inner, name) = self.counter(scope);
        if self.dice.percent(40) {
            // As often in all work-items, and left at its end alone: barriers are allowed.
            let around = Around {
                in_loop: false,
                in_switch: false,
                depth: around.depth + 1,
                trips: around.trips * 4,
                ..around
            };
            let count = 1 + self.dice.below(4);
            let block = self.block(&inner, around, 4);
            into.push(Stmt::new(
                &format!("for (uint {name} = 0; {name} < {count}; ++{name}) @"),
                [block],
            ));
            return;
        }
        let around = Around {
            in_loop: true,
            in_switch: false,
            trips: around.trips * 4,
            ..around.deeper()
        };
        let bound = self.expr(scope, Type::UINT, 1);
        let block = self.block(&inner, around, 4);
        let text = format!("for (uint {name} = @ & 3u; {name} != ~0u; --{name}) @");
        into.push(Stmt::new(&text, [Piece::Expr(bound), block]));
    }

    fn while_loop(&mut self, scope: &Scope, around: Around, into: &mut Vec<Stmt>) {
        let (inner, name) = self.counter(scope);
        let around = Around {
            in_loop: true,
            in_switch: false,
            trips: around.trips * 4,
            ..around.deeper()
        };
        let count = 1 + self.dice.below(4);
        let condition = Piece::Expr(self.condition(scope, 1));
        let block = self.block(&inner, around, 4);
        let template = match self.dice.below(3) {
            0 => format!("uint {name} = {count}; do @ while (--{name} != 0 && @);"),
            1 => {
                let text = format!("uint {name} = {count}; while ({name}-- != 0 && @) @");
                into.push(Stmt::new(&text, [condition, block]));
                return;
            }
            _ => {
                // Without an end but the one within.
                let Piece::Block(mut statements) = block else {
                    return;
                };
                let at = self.dice.below(statements.len());
                let end =
                    Stmt::new(&format!("if ({name}-- == 0 || @) break;"), [condition]).pinned();
                // Nothing before it may go on with the loop.
                let at = if around.in_loop { 0 } else { at };
                statements.insert(at, end);
                let text = format!("uint {name} = {count}; for (;;) @");
                into.push(Stmt::new(&text, [Piece::Block(statements)]));
                return;
            }
        };
        into.push(Stmt::new(&template, [block, condition]));
    }

    fn switch(&mut self, scope: &Scope, around: Around, into: &mut Vec<Stmt>) {
        let around = Around {
            in_switch: true,
            ..around.deeper()
        };
        let base = self.dice.integer();
        let value = self.expr(scope, Type::scalar(base), 2);
        let default = self.dice.below(6);
        let mut cases = Vec::new();
        for case in 0..2 + self.dice.below(4) {
            let label = match (case == default, self.dice.below(4)) {
                (true, _) => "default:".to_owned(),
                (_, 0) => format!("case {case}: case {}:", case + 8),
                _ => format!("case {case}:"),
            };
            let block = self.block(scope, around, 2);
            let end = if self.dice.percent(60) { " break;" } else { "" };
            cases.push(Stmt::new(&format!("{label} @{end}"), [block]));
        }
        into.push(Stmt::new(
            "switch (@ & 15) @",
            [Piece::Expr(value), Piece::Block(cases)],
        ));
    }

    fn forward_goto(&mut self, scope: &Scope, around: Around, into: &mut Vec<Stmt>) {
        let label = self.name("skip");
        let first = self.block(scope, around.deeper(), 2);
        let condition = Piece::Expr(self.condition(scope, 1));
        let second = self.block(scope, around.deeper(), 2);
        let text = format!("{{ @ if (@) goto {label}; @ {label}: ; }}");
        into.push(Stmt::new(&text, [first, condition, second]));
    }

    /// A loop out of `goto`; at times with a second way in.
    fn backward_goto(&mut self, scope: &Scope, around: Around, into: &mut Vec<Stmt>) {
        let (top, middle) = (self.name("top"), self.name("middle"));
        let (inner, name) = self.counter(scope);
        let around = Around {
            in_loop: false,
            in_switch: false,
            trips: around.trips * 4,
            ..around.deeper()
        };
        let first = self.block(&inner, around, 2);
        let second = self.block(&inner, around, 2);
        let count = 1 + self.dice.below(4);
        let again = Piece::Expr(self.condition(scope, 1));
        if self.dice.percent(50) {
            let enter = Piece::Expr(self.condition(scope, 1));
            let text = format!(
                "uint {name} = {count}; if (@) goto {middle}; {top}: ; @ {middle}: ; @ \
                 if ({name}-- != 0 && @) goto {top};"
            );
            into.push(Stmt::new(&text, [enter, first, second, again]));
        } else {
            let text =
                format!("uint {name} = {count}; {top}: ; @ if ({name}-- != 0 && @) goto {top};");
            into.push(Stmt::new(&text, [first, again]));
        }
    }

    fn leave(&mut self, scope: &mut Scope, around: Around, into: &mut Vec<Stmt>) {
        let what = match self.dice.below(3) {
            0 if around.in_loop => "continue",
            1 if !around.in_kernel => {
                let condition = Piece::Expr(self.condition(scope, 1));
                if let Some(returned) = &self.returned {
                    into.push(Stmt::new(
                        &format!("if (@) return {returned};"),
                        [condition],
                    ));
                    return;
                }
                let ty = self.result;
                let value = Piece::Expr(self.expr(scope, ty, 1));
                into.push(Stmt::new("if (@) return @;", [condition, value]));
                return;
            }
            1 if self.free && self.dice.percent(30) => {
                let condition = Piece::Expr(self.condition(scope, 1));
                let value = Piece::Expr(self.expr(scope, Type::ULONG, 1));
                let text = format!("if (@) {{ out[gid * {RESULTS}] = @; return; }}");
                into.push(Stmt::new(&text, [condition, value]));
                return;
            }
            _ if around.in_loop || around.in_switch => "break",
            _ => return self.assignment(scope, into),
        };
        let condition = Piece::Expr(self.condition(scope, 1));
        into.push(Stmt::new(&format!("if (@) {what};"), [condition]));
    }

    /// A whole structure, or an array element by element.
    fn copy(&mut self, scope: &mut Scope, into: &mut Vec<Stmt>) {
        let to: Vec<_> = scope.aggregates.iter().filter(|one| one.writable).collect();
        let Some(to) = self.dice.pick(&to) else {
            return self.assignment(scope, into);
        };
        let from: Vec<_> = scope
            .aggregates
            .iter()
            .filter(|one| one.structure == to.structure)
            .collect();
        let Some(from) = self.dice.pick(&from) else {
            return;
        };
        let mut changing = self.changing.iter();
        let change = changing.find(|(_, structure)| *structure == to.structure);
        let text = match change.filter(|_| self.may_call) {
            Some((name, _)) => format!("{} = {name}({});", to.name, from.name),
            None => format!("{} = {};", to.name, from.name),
        };
        into.push(Stmt::new(&text, []));
    }

    fn vector_store(&mut self, scope: &mut Scope, into: &mut Vec<Stmt>) {
        let arrays: Vec<_> = scope
            .arrays
            .iter()
            .filter(|a| a.writable && a.ty.is_scalar() && a.length > 1)
            .cloned()
            .collect();
        let Some(array) = self.dice.pick(&arrays) else {
            return self.assignment(scope, into);
        };
        let widths: Vec<_> = [2u32, 3, 4, 8, 16]
            .into_iter()
            .filter(|w| w.next_power_of_two() <= array.length)
            .collect();
        let Some(width) = self.dice.pick(&widths) else {
            return;
        };
        let value = self.expr(scope, array.ty.with_width(width), 2);
        let index = self.index(scope, array.length / width.next_power_of_two(), 1);
        let text = format!("vstore{width}(@, @, {});", array.name);
        into.push(Stmt::new(&text, [Piece::Expr(value), Piece::Expr(index)]));
    }

    /// A byte of something through a pointer to bytes, or something through a pointer of the other sign.
    fn punning(&mut self, scope: &mut Scope, into: &mut Vec<Stmt>) {
        let value = self.expr(scope, Type::scalar(Base::UChar), 2);
        if self.dice.percent(50) {
            let arrays: Vec<_> = scope
                .arrays
                .iter()
                .filter(|a| a.writable && !a.ty.base.is_float())
                .cloned()
                .collect();
            let Some(array) = self.dice.pick(&arrays) else {
                return;
            };
            // The fourth element of a vector of 3 is nobody's.
            if array.ty.width == 3 {
                return;
            }
            let index = self.index(scope, array.length * array.ty.size_bytes(), 1);
            let text = format!("(({} uchar *){})[@] = @;", array.space, array.name);
            into.push(Stmt::new(&text, [Piece::Expr(index), Piece::Expr(value)]));
            return;
        }
        let all: Vec<_> = scope
            .variables
            .iter()
            .filter(|v| v.writable && v.addressable && !v.ty.base.is_float() && v.ty.width != 3)
            .cloned()
            .collect();
        let Some(target) = self.dice.pick(&all) else {
            return;
        };
        if self.dice.percent(50) {
            let index = self.index(scope, target.ty.size_bytes(), 1);
            let text = format!("((uchar *)&{})[@] = @;", target.name);
            into.push(Stmt::new(&text, [Piece::Expr(index), Piece::Expr(value)]));
        } else {
            let other = if target.ty.base.is_signed() {
                target.ty.unsigned()
            } else {
                target.ty.signed()
            };
            let value = self.expr(scope, other, 2);
            let text = format!("*({} *)&{} = @;", other.name(), target.name);
            into.push(Stmt::new(&text, [Piece::Expr(value)]));
        }
    }

    /// A call that writes through its arguments.
    fn pointer_call(&mut self, scope: &mut Scope, into: &mut Vec<Stmt>) {
        let callees: Vec<_> = self
            .callees
            .iter()
            .filter(|one| !one.pure)
            .cloned()
            .collect();
        let Some(callee) = self.dice.pick(&callees).filter(|_| self.may_call) else {
            return self.assignment(scope, into);
        };
        let mut operands = Vec::new();
        let mut places = Vec::new();
        for parameter in &callee.parameters {
            if let Parameter::Value(ty) = parameter {
                operands.push(Piece::Expr(self.expr(scope, *ty, 1)));
                places.push("@".to_owned());
                continue;
            }
            match self.argument(scope, parameter, into) {
                Some(argument) => places.push(argument),
                None => return self.assignment(scope, into),
            }
        }
        let name = self.name("v");
        let text = format!(
            "{} {name} = {}({});",
            callee.result.name(),
            callee.name,
            places.join(", ")
        );
        into.push(Stmt::new(&text, operands));
        scope.variables.push(Variable {
            name,
            ty: callee.result,
            writable: true,
            addressable: true,
        });
    }

    /// Something that can be given for a parameter that is no value; declares it if there is nothing.
    fn argument(
        &mut self,
        scope: &mut Scope,
        parameter: &Parameter,
        into: &mut Vec<Stmt>,
    ) -> Option<String> {
        let mut all = self.arguments(scope, parameter);
        if all.is_empty() || self.dice.percent(15) {
            self.declare_argument(scope, parameter, into);
            all = self.arguments(scope, parameter);
        }
        self.dice.pick(&all)
    }

    fn arguments(&self, scope: &Scope, parameter: &Parameter) -> Vec<String> {
        let usable = |array: &&Array, ty: Type, space: &str| {
            let any = self.features.generic && space.is_empty();
            array.ty == ty && array.writable && (any || array.space == space)
        };
        match parameter {
            Parameter::Value(_) => Vec::new(),
            Parameter::Pointer(ty) => {
                let space = if self.features.generic { "" } else { "private" };
                let variables = scope.variables.iter();
                let variables = variables.filter(|v| v.ty == *ty && v.writable && v.addressable);
                let arrays = scope.arrays.iter().filter(|a| usable(a, *ty, space));
                variables
                    .map(|v| format!("&{}", v.name))
                    .chain(arrays.map(|a| format!("&{}[{}]", a.name, a.length / 2)))
                    .collect()
            }
            Parameter::Structure(structure) => {
                let all = scope.aggregates.iter();
                let all = all.filter(|a| a.structure == *structure);
                all.map(|a| a.name.clone()).collect()
            }
            Parameter::Array(ty, length, space) => {
                let all = scope.arrays.iter().filter(|a| usable(a, *ty, space));
                let all = all.filter(|a| a.length >= *length);
                all.map(|a| a.name.clone()).collect()
            }
        }
    }

    fn declare_argument(&mut self, scope: &mut Scope, parameter: &Parameter, into: &mut Vec<Stmt>) {
        match parameter {
            Parameter::Pointer(ty) => self.declaration_of(*ty, scope, into),
            Parameter::Structure(structure) => self.aggregate_of(*structure, scope, into),
            Parameter::Array(ty, length, "private" | "") => {
                self.array_of(*ty, *length as usize, scope, into);
            }
            Parameter::Array(..) | Parameter::Value(_) => {}
        }
    }

    /// The elements of a kernel's buffers and local memory that are a work-item's own.
    pub fn own_memory(&self) -> Vec<Array> {
        let own = |name: &str, ty, space| Array {
            name: name.into(),
            ty,
            length: ITEM_SLOTS,
            writable: true,
            space,
        };
        vec![
            own("mine", Type::UINT, "global"),
            own("shorts", Type::scalar(Base::Short), "local"),
        ]
    }
}
