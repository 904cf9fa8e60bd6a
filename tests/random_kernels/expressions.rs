//! Random expressions: each of exactly the type that is asked for, none with an undefined value.

use crate::generator::Generator;
use crate::scope::{Parameter, Place, Scope};
use crate::tree::Expr;
use crate::types::{Base, Type};

impl Generator {
    /// An expression of a type; `depth` bounds how deep it nests.
    pub fn expr(&mut self, scope: &Scope, ty: Type, depth: u32) -> Expr {
        if ty.base.is_float() {
            return self.float(scope, ty, depth.min(3));
        }
        if depth == 0 || self.dice.percent(12) {
            return self.leaf(scope, ty);
        }
        for _ in 0..3 {
            let found = match self.dice.below(17) {
                0..4 => Some(self.arithmetic(scope, ty, depth - 1)),
                4 => Some(self.division(scope, ty, depth - 1)),
                5 | 6 => Some(self.comparison(scope, ty, depth - 1)),
                7 => Some(self.choice(scope, ty, depth - 1)),
                8 | 9 => Some(self.built_in(scope, ty, depth - 1)),
                10 => Some(self.conversion(scope, ty, depth - 1)),
                11 => self.reinterpretation(scope, ty, depth - 1),
                12 => self.composition(scope, ty, depth - 1),
                13 => self.call(scope, ty, depth - 1),
                14 => self.element(scope, ty, depth - 1),
                15 if !self.features.plain => self.integer_of_float(scope, ty, depth - 1),
                _ => Some(self.unary(scope, ty, depth - 1)),
            };
            if let Some(found) = found {
                return found;
            }
        }
        self.leaf(scope, ty)
    }

    /// An `int` to branch on.
    pub fn condition(&mut self, scope: &Scope, depth: u32) -> Expr {
        let base = self.dice.integer();
        let ty = Type::scalar(base);
        match self.dice.below(4) {
            0 => {
                let a = self.expr(scope, Type::INT, depth);
                Expr::new(Type::INT, "(@ & 1)", [a])
            }
            1 if !self.features.plain => {
                let vector = ty.with_base(base.signed()).with_width(4);
                let a = self.expr(scope, vector, depth);
                let name = if self.dice.percent(50) { "any" } else { "all" };
                Expr::new(Type::INT, &format!("{name}(@)"), [a])
            }
            _ => {
                let operator = self.comparison_operator();
                let (a, b) = (self.expr(scope, ty, depth), self.expr(scope, ty, depth));
                Expr::new(Type::INT, &format!("(@ {operator} @)"), [a, b])
            }
        }
    }

    fn comparison_operator(&mut self) -> &'static str {
        ["<", "<=", ">", ">=", "==", "!="][self.dice.below(6)]
    }

    pub fn literal(&mut self, ty: Type) -> Expr {
        let name = ty.name();
        if ty.base.is_float() {
            let suffix = if ty.base == Base::Float { "f" } else { "" };
            let value = self.dice.quarter();
            return Expr::new(ty, &format!("(({name})({value:?}{suffix}))"), []);
        }
        let mut one = || {
            let bits = 8 * ty.base.size_bytes();
            let value = self.dice.number() & (u64::MAX >> (64 - bits));
            format!(
                "({}){value:#x}{}",
                ty.base.name(),
                if bits == 64 { "ul" } else { "u" }
            )
        };
        let first = one();
        let text = if ty.is_scalar() {
            format!("({first})")
        } else if self.dice.percent(60) {
            format!("(({name})({first}))")
        } else {
            let mut all = vec![first];
            for _ in 1..ty.width {
                let bits = 8 * ty.base.size_bytes();
                let value = self.dice.number() & (u64::MAX >> (64 - bits));
                let suffix = if bits == 64 { "ul" } else { "u" };
                all.push(format!("({}){value:#x}{suffix}", ty.base.name()));
            }
            format!("(({name})({}))", all.join(", "))
        };
        Expr::new(ty, &text, [])
    }

    /// A variable where there is one, or what can be made of one.
    fn leaf(&mut self, scope: &Scope, ty: Type) -> Expr {
        if self.dice.percent(15) {
            return self.literal(ty);
        }
        let same: Vec<_> = scope.variables.iter().filter(|v| v.ty == ty).collect();
        if let Some(variable) = self.dice.pick(&same) {
            return Expr::new(ty, &variable.name, []);
        }
        let alike: Vec<_> = scope
            .variables
            .iter()
            .filter(|v| !v.ty.base.is_float())
            .collect();
        let Some(variable) = self.dice.pick(&alike) else {
            return self.literal(ty);
        };
        let inner = Expr::new(variable.ty, &variable.name, []);
        self.convert(inner, ty)
    }

    /// Any integer as any other: elements are repeated or left out.
    fn convert(&mut self, from: Expr, ty: Type) -> Expr {
        let scalar = if from.ty.is_scalar() {
            from
        } else if from.ty.width == ty.width {
            return Expr::new(ty, &format!("convert_{}(@)", ty.name()), [from]);
        } else {
            let at = self.dice.below(from.ty.width as usize);
            Expr::new(from.ty.with_width(1), &format!("@.s{at:x}"), [from])
        };
        let element = Expr::new(
            ty.with_width(1),
            &format!("(({})@)", ty.base.name()),
            [scalar],
        );
        if ty.is_scalar() {
            element
        } else {
            Expr::new(ty, &format!("(({})(@))", ty.name()), [element])
        }
    }

    /// The type in which scalars of this one are added without overflow being undefined.
    fn wide(ty: Type) -> &'static str {
        if ty.base.size_bytes() == 8 {
            "ulong"
        } else {
            "uint"
        }
    }

    fn arithmetic(&mut self, scope: &Scope, ty: Type, depth: u32) -> Expr {
        let (name, unsigned) = (ty.name(), ty.unsigned().name());
        let (a, b) = (self.expr(scope, ty, depth), self.expr(scope, ty, depth));
        let operator = ["+", "-", "*", "&", "|", "^", "<<", ">>"][self.dice.below(8)];
        let b = if self.features.plain && matches!(operator, "<<" | ">>") {
            self.shift_amount(ty, b)
        } else {
            b
        };
        let template = match operator {
            "+" | "-" | "*" if ty.is_scalar() => {
                let wide = Self::wide(ty);
                format!("(({name})(({wide})@ {operator} ({wide})@))")
            }
            "<<" if ty.is_scalar() => format!("(({name})(({})@ << @))", Self::wide(ty)),
            _ if ty.is_scalar() => format!("(({name})(@ {operator} @))"),
            "+" | "-" | "*" | "<<" => {
                format!("as_{name}(as_{unsigned}(@) {operator} as_{unsigned}(@))")
            }
            _ => format!("(@ {operator} @)"),
        };
        Expr::new(ty, &template, [a, b])
    }

    /// An amount that C shifts by, too: OpenCL C takes what is above it off.
    pub fn shift_amount(&self, ty: Type, amount: Expr) -> Expr {
        let mask = 8 * ty.base.size_bytes() - 1;
        Expr::new(ty, &format!("(({})(@ & {mask}))", ty.name()), [amount]).pinned()
    }

    fn division(&mut self, scope: &Scope, ty: Type, depth: u32) -> Expr {
        let (a, b) = (self.expr(scope, ty, depth), self.expr(scope, ty, depth));
        let name = ty.name();
        let operator = if self.dice.percent(50) { "/" } else { "%" };
        let mask = u64::MAX >> (65 - 8 * ty.base.size_bytes());
        // A positive divisor is neither 0 nor the -1 that the least number must not be divided by.
        let divisor = if ty.base.is_signed() {
            format!("((@ & ({name}){mask:#x}) | ({name})1)")
        } else {
            format!("(@ | ({name})1)")
        };
        Expr::new(ty, &format!("(({name})(@ {operator} {divisor}))"), [a, b])
    }

    fn comparison(&mut self, scope: &Scope, ty: Type, depth: u32) -> Expr {
        let (name, operator) = (ty.name(), self.comparison_operator());
        if ty.is_scalar() {
            let other = Type::scalar(self.dice.integer());
            let (a, b) = (
                self.expr(scope, other, depth),
                self.expr(scope, other, depth),
            );
            let operator = if self.dice.percent(25) {
                ["&&", "||"][self.dice.below(2)]
            } else {
                operator
            };
            return Expr::new(ty, &format!("(({name})(@ {operator} @))"), [a, b]);
        }
        let other = match self.dice.below(3) {
            0 => ty.signed(),
            1 if ty.base.size_bytes() == 4 => ty.with_base(Base::Float),
            _ => ty.unsigned(),
        };
        let (a, b) = (
            self.expr(scope, other, depth),
            self.expr(scope, other, depth),
        );
        Expr::new(ty, &format!("as_{name}(@ {operator} @)"), [a, b])
    }

    fn choice(&mut self, scope: &Scope, ty: Type, depth: u32) -> Expr {
        let name = ty.name();
        let (a, b) = (self.expr(scope, ty, depth), self.expr(scope, ty, depth));
        match self.dice.below(3) {
            0 if ty.is_scalar() => {
                let condition = self.condition(scope, depth);
                Expr::new(ty, &format!("(({name})(@ ? @ : @))"), [condition, a, b])
            }
            1 => {
                let c = self.expr(scope, ty, depth);
                Expr::new(ty, "bitselect(@, @, @)", [a, b, c])
            }
            _ => {
                let signed = self.dice.percent(50);
                let kind = if signed { ty.signed() } else { ty.unsigned() };
                let c = self.expr(scope, kind, depth);
                Expr::new(ty, "select(@, @, @)", [a, b, c])
            }
        }
    }

    fn unary(&mut self, scope: &Scope, ty: Type, depth: u32) -> Expr {
        let (name, unsigned) = (ty.name(), ty.unsigned().name());
        let a = self.expr(scope, ty, depth);
        let template = match self.dice.below(3) {
            0 if ty.is_scalar() => format!("(({name})~@)"),
            0 => "(~@)".into(),
            1 if ty.is_scalar() => format!("(({name})(-({})@))", Self::wide(ty)),
            1 => format!("as_{name}(-as_{unsigned}(@))"),
            _ if ty.is_scalar() => format!("(({name})!@)"),
            _ => format!("as_{name}(!@)"),
        };
        Expr::new(ty, &template, [a])
    }

    fn built_in(&mut self, scope: &Scope, ty: Type, depth: u32) -> Expr {
        let name = ty.name();
        let mut one = |ty| self.expr(scope, ty, depth);
        let (a, b, c) = (one(ty), one(ty), one(ty));
        let whole = matches!(ty.base, Base::Int | Base::UInt);
        match self.dice.below(20) {
            0 => Expr::new(ty, &format!("as_{name}(abs(@))"), [a]),
            1 => Expr::new(ty, &format!("as_{name}(abs_diff(@, @))"), [a, b]),
            2 => Expr::new(ty, "add_sat(@, @)", [a, b]),
            3 => Expr::new(ty, "sub_sat(@, @)", [a, b]),
            4 => Expr::new(ty, "hadd(@, @)", [a, b]),
            5 => Expr::new(ty, "rhadd(@, @)", [a, b]),
            6 => Expr::new(ty, "max(@, @)", [a, b]),
            7 => Expr::new(ty, "min(@, @)", [a, b]),
            8 => Expr::new(ty, "clz(@)", [a]),
            9 => Expr::new(ty, "popcount(@)", [a]),
            10 => Expr::new(ty, "rotate(@, @)", [a, b]),
            11 => Expr::new(ty, "mul_hi(@, @)", [a, b]),
            12 => Expr::new(ty, "mad_hi(@, @, @)", [a, b, c]),
            13 => Expr::new(ty, "mad_sat(@, @, @)", [a, b, c]),
            14 => {
                // The bounds must be in order.
                let low = self.dice.below(60);
                let high = low + self.dice.below(60);
                Expr::new(ty, &format!("clamp(@, ({name}){low}, ({name}){high})"), [a])
            }
            15 if whole => Expr::new(ty, "mul24((@ >> 8), (@ >> 8))", [a, b]),
            16 if whole => Expr::new(ty, "mad24((@ >> 8), (@ >> 8), @)", [a, b, c]),
            17 if self.features.generic => Expr::new(ty, "ctz(@)", [a]),
            18 if !ty.is_scalar() => {
                let b = self.expr(scope, ty.with_width(1), depth);
                let function = if self.dice.percent(50) { "min" } else { "max" };
                Expr::new(ty, &format!("{function}(@, @)"), [a, b])
            }
            _ => match ty.base.half() {
                Some(half) => {
                    let a = self.expr(scope, ty.with_base(half), depth);
                    let b = self.expr(scope, ty.with_base(half.unsigned()), depth);
                    Expr::new(ty, "upsample(@, @)", [a, b])
                }
                None => Expr::new(ty, "max(@, @)", [a, b]),
            },
        }
    }

    fn conversion(&mut self, scope: &Scope, ty: Type, depth: u32) -> Expr {
        let from = ty.with_base(self.dice.integer());
        let a = self.expr(scope, from, depth);
        let saturate = if self.dice.percent(50) { "_sat" } else { "" };
        let rounding = ["", "", "_rte", "_rtz", "_rtp", "_rtn"][self.dice.below(6)];
        Expr::new(
            ty,
            &format!("convert_{}{saturate}{rounding}(@)", ty.name()),
            [a],
        )
    }

    /// `as_type` of a type that is as large.
    fn reinterpretation(&mut self, scope: &Scope, ty: Type, depth: u32) -> Option<Expr> {
        let base = self.dice.integer();
        let from = if ty.width == 3 {
            ty.with_base(if self.dice.percent(50) {
                ty.base.signed()
            } else {
                ty.base.unsigned()
            })
        } else {
            let width = ty.size_bytes() / base.size_bytes();
            let exists = matches!(width, 1 | 2 | 4 | 8 | 16);
            let exists = exists && (width == 1 || !self.features.plain);
            exists.then_some(Type { base, width })?
        };
        let a = self.expr(scope, from, depth);
        Some(Expr::new(ty, &format!("as_{}(@)", ty.name()), [a]))
    }

    /// An element or some of a vector; a vector out of parts; shuffles.
    fn composition(&mut self, scope: &Scope, ty: Type, depth: u32) -> Option<Expr> {
        let name = ty.name();
        let whole = [2, 4, 8, 16][self.dice.below(4)];
        if self.features.plain {
            return None;
        }
        if ty.is_scalar() {
            let from = ty.with_width(self.dice.width().max(2));
            let at = self.dice.below(from.width as usize);
            let a = self.expr(scope, from, depth);
            return Some(Expr::new(ty, &format!("@.s{at:x}"), [a]));
        }
        match self.dice.below(4) {
            0 if ty.width != 3 && ty.width < 16 => {
                let a = self.expr(scope, ty.with_width(ty.width * 2), depth);
                let part = ["lo", "hi", "even", "odd"][self.dice.below(4)];
                Some(Expr::new(ty, &format!("@.{part}"), [a]))
            }
            1 => {
                let from = ty.with_width(self.dice.width().max(2));
                let a = self.expr(scope, from, depth);
                let pick =
                    |_| std::char::from_digit(self.dice.below(from.width as usize) as u32, 16);
                let all: Option<String> = (0..ty.width).map(pick).collect();
                Some(Expr::new(ty, &format!("@.s{}", all?), [a]))
            }
            2 if ty.width != 3 => {
                let mask = ty.unsigned();
                let from = ty.with_width(whole);
                let a = self.expr(scope, from, depth);
                if self.dice.percent(50) {
                    let mask = self.expr(scope, mask, depth);
                    return Some(Expr::new(ty, "shuffle(@, @)", [a, mask]));
                }
                let b = self.expr(scope, from, depth);
                let mask = self.expr(scope, mask, depth);
                Some(Expr::new(ty, "shuffle2(@, @, @)", [a, b, mask]))
            }
            _ => {
                let mut left = ty.width;
                let mut parts = Vec::new();
                while left > 0 {
                    let widths = [1, 1, 2, 3, 4, 8];
                    let width = widths[self.dice.below(6)];
                    if width < ty.width && width <= left {
                        parts.push(self.expr(scope, ty.with_width(width), depth.min(1)));
                        left -= width;
                    }
                }
                let places = vec!["@"; parts.len()].join(", ");
                Some(Expr::new(ty, &format!("(({name})({places}))"), parts))
            }
        }
    }

    fn call(&mut self, scope: &Scope, ty: Type, depth: u32) -> Option<Expr> {
        if !self.may_call {
            return None;
        }
        let callees: Vec<_> = self
            .callees
            .iter()
            .filter(|one| one.pure)
            .cloned()
            .collect();
        let callee = self.dice.pick(&callees)?;
        let mut operands = Vec::new();
        let mut places = Vec::new();
        for parameter in &callee.parameters {
            match parameter {
                Parameter::Value(ty) => {
                    operands.push(self.expr(scope, *ty, depth));
                    places.push("@".to_owned());
                }
                Parameter::Structure(structure) => {
                    let all = scope
                        .aggregates
                        .iter()
                        .filter(|a| a.structure == *structure);
                    let all: Vec<_> = all.collect();
                    places.push(self.dice.pick(&all)?.name.clone());
                }
                Parameter::Pointer(_) | Parameter::Array(..) => return None,
            }
        }
        let text = format!("{}({})", callee.name, places.join(", "));
        let called = Expr::new(callee.result, &text, operands);
        Some(if callee.result == ty {
            called
        } else {
            self.convert(called, ty)
        })
    }

    /// An index below a power of two.
    pub fn index(&mut self, scope: &Scope, length: u32, depth: u32) -> Expr {
        let base = [Base::UInt, Base::Int, Base::ULong, Base::UChar][self.dice.below(4)];
        let a = self.expr(scope, Type::scalar(base), depth.min(1));
        let mask = length - 1;
        let template = if base == Base::Int {
            format!("(@ & {mask})")
        } else {
            format!("(@ & {mask}u)")
        };
        Expr::new(Type::UINT, &template, [a]).pinned()
    }

    /// An element of an array, or several of them as a vector.
    fn element(&mut self, scope: &Scope, ty: Type, depth: u32) -> Option<Expr> {
        let array = self.dice.pick(&scope.arrays)?;
        if array.ty.base.is_float() {
            return None;
        }
        let width = ty.width;
        let loads = array.ty.is_scalar() && width > 1 && width.next_power_of_two() <= array.length;
        if loads {
            let index = self.index(scope, array.length / width.next_power_of_two(), depth);
            let text = format!("vload{width}(@, {})", array.name);
            let loaded = Expr::new(array.ty.with_width(width), &text, [index]);
            return Some(if array.ty.base == ty.base {
                loaded
            } else {
                self.convert(loaded, ty)
            });
        }
        let index = self.index(scope, array.length, depth);
        let element = Expr::new(array.ty, &format!("{}[@]", array.name), [index]);
        Some(if array.ty == ty {
            element
        } else {
            self.convert(element, ty)
        })
    }

    /// Something to write to.
    pub fn place(&mut self, scope: &Scope) -> Option<Place> {
        if self.dice.percent(35) {
            let arrays: Vec<_> = scope.arrays.iter().filter(|array| array.writable).collect();
            if let Some(&array) = self.dice.pick(&arrays).as_ref() {
                let (name, ty) = (array.name.clone(), array.ty);
                let index = self.index(scope, array.length, 1);
                return Some(Place {
                    ty,
                    template: format!("{name}[@]"),
                    operands: vec![index],
                });
            }
        }
        let variables: Vec<_> = scope.variables.iter().filter(|v| v.writable).collect();
        let variable = self.dice.pick(&variables)?;
        let (mut ty, mut template) = (variable.ty, variable.name.clone());
        if !ty.is_scalar() && self.dice.percent(30) {
            if ty.width != 3 && self.dice.percent(40) {
                let part = ["lo", "hi", "even", "odd"][self.dice.below(4)];
                template = format!("{template}.{part}");
                ty = ty.with_width(ty.width / 2);
            } else {
                template = format!("{template}.s{:x}", self.dice.below(ty.width as usize));
                ty = ty.with_width(1);
            }
        }
        Some(Place {
            ty,
            template,
            operands: Vec::new(),
        })
    }
}
