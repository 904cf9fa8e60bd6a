//! A random kernel, whose every value the specification defines.
//!
//! All kernels have one signature:
//!
//! ```c
//! kernel void k0(global ulong *out, global const uint *in, global uint *scratch, global uint *counters,
//!                local short *items, uint number, short4 vector)
//! ```
//!
//! At its end a kernel adds all it can name to its part of `out`.

use crate::scope::{Aggregate, Array, Callee, Dice, Member, Parameter, Scope, Structure, Variable};
use crate::statements::Around;
use crate::tree::{Piece, Stmt, print};
use crate::types::{Base, Type};

/// Elements of `scratch` and of `items` that a work-item owns.
pub const ITEM_SLOTS: u32 = 16;
/// Elements of local memory that a work-group counts in.
pub const GROUP_SLOTS: u32 = 8;
/// Elements of `out` that a work-item owns.
pub const RESULTS: u32 = 24;
/// Elements of `in`.
pub const INPUTS: u32 = 256;
pub const COUNTERS: u32 = 32;
/// Work-items of a launch.
pub const ITEMS: u32 = 32;

/// What stands before all kernels of a program. Where there are no sub-groups, every work-item is one.
pub const PREAMBLE: &str = "\
#pragma OPENCL FP_CONTRACT OFF
#ifndef shared
#define shared local
#endif
#ifdef cl_khr_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#elif !defined(__opencl_c_subgroups)
#define get_sub_group_id() ((uint)get_local_id(0))
#define get_sub_group_local_id() 0u
#define sub_group_reduce_add(x) (x)
#define sub_group_reduce_min(x) (x)
#define sub_group_reduce_max(x) (x)
#define sub_group_scan_exclusive_add(x) 0
#define sub_group_scan_inclusive_max(x) (x)
#define sub_group_broadcast(x, from) (x)
#define sub_group_any(x) (x)
#define sub_group_all(x) (x)
#endif
";

/// What a call of a function counts as of the product of the trip counts of loops around it.
const FUNCTION_TRIPS: u32 = 16;

/// What the devices have in common.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// Pointers may leave out their address space, and what else came with OpenCL C 2.0.
    pub generic: bool,
    pub double: bool,
    /// Only what C has, too: no vectors, no floating point.
    pub plain: bool,
}

/// A kernel that can be printed, and reduced.
#[derive(Clone)]
pub struct Program {
    pub name: String,
    pub items: Vec<Stmt>,
    pub local_size: u32,
    /// Whether its work-items know nothing of their groups: any local size will do, and several launches.
    pub free: bool,
    /// Whether it is C but for the names of types and address spaces.
    pub plain: bool,
}

impl Program {
    pub fn text(&self) -> String {
        let mut text = String::new();
        print(&self.items, 0, &mut text);
        text
    }
}

pub struct Generator {
    pub dice: Dice,
    pub features: Features,
    pub structures: Vec<Structure>,
    pub callees: Vec<Callee>,
    /// Local arrays with an element for each work-item.
    pub exchanges: Vec<(String, Type)>,
    pub local_size: u32,
    /// Whether work-items know nothing of their groups.
    pub free: bool,
    /// Statements that may still come.
    pub budget: usize,
    pub may_call: bool,
    /// What the function that is being made returns.
    pub result: Type,
    /// The structure that it returns instead.
    pub returned: Option<String>,
    /// Functions that take a structure, by its index, and return it changed.
    pub changing: Vec<(String, usize)>,
    prefix: String,
    names: usize,
}

/// The kernel of a seed; `name` starts all its global names.
pub fn kernel(seed: u64, name: &str, features: Features) -> Program {
    let mut dice = Dice::new(seed, features.plain);
    let local_size = [1, 2, 4, 8, 8, 16, 16, 32][dice.below(8)];
    let free = dice.percent(40);
    let mut generator = Generator {
        dice,
        features,
        structures: Vec::new(),
        callees: Vec::new(),
        exchanges: Vec::new(),
        local_size,
        free,
        budget: 0,
        may_call: true,
        result: Type::INT,
        returned: None,
        changing: Vec::new(),
        prefix: name.into(),
        names: 0,
    };
    let mut items = Vec::new();
    for _ in 0..generator.dice.below(4) {
        generator.structure(&mut items);
    }
    for _ in 0..generator.dice.below(4) {
        generator.function(&mut items);
    }
    if generator.dice.percent(40) {
        generator.changing_function(&mut items);
    }
    generator.kernel(&mut items);
    Program {
        name: name.into(),
        items,
        local_size,
        free,
        plain: features.plain,
    }
}

/// The kernel of a text that `Program::text` made, which nothing can be taken from; `plain` if it is C, too.
pub fn printed(text: &str, local_size: u32, plain: bool) -> Option<Program> {
    let (_, signature) = text.split_once("kernel void ")?;
    let (name, _) = signature.split_once('(')?;
    let items = vec![Stmt {
        pieces: vec![Piece::Text(text.into())],
        pinned: true,
    }];
    Some(Program {
        name: name.trim().into(),
        items,
        local_size,
        free: false,
        plain,
    })
}

impl Generator {
    /// A name that no other thing of the kernel has.
    pub fn name(&mut self, kind: &str) -> String {
        self.names += 1;
        format!("{kind}{}", self.names)
    }

    fn structure(&mut self, items: &mut Vec<Stmt>) {
        let at = self.structures.len();
        if self.dice.percent(35) {
            return self.union(items);
        }
        let packed = self.dice.percent(25);
        let mut members = Vec::new();
        let mut text = String::new();
        for index in 0..1 + self.dice.below(5) {
            let name = format!("m{index}");
            let plain: Vec<_> = (0..at)
                .filter(|&one| !self.structures[one].packed)
                .collect();
            let member = match (self.dice.below(6), self.dice.pick(&plain)) {
                (0, _) => Member::Array(
                    Type {
                        base: self.dice.integer(),
                        width: 1,
                    },
                    1 << self.dice.below(4),
                ),
                (1, Some(inner)) => Member::Nested(inner),
                _ => Member::Plain(self.any_type()),
            };
            text.push_str(&match &member {
                Member::Plain(ty) => format!("{} {name}; ", ty.name()),
                Member::Array(ty, length) => format!("{} {name}[{length}]; ", ty.name()),
                Member::Nested(inner) => format!("{} {name}; ", self.structures[*inner].name),
            });
            members.push((name, member));
        }
        let name = format!("struct {}_s{at}", self.prefix);
        let attribute = if packed {
            " __attribute__((packed))"
        } else {
            ""
        };
        items.push(Stmt::new(&format!("{name} {{ {text}}}{attribute};"), []));
        self.structures.push(Structure {
            name,
            members,
            packed,
            is_union: false,
        });
    }

    /// One value seen as several types of its size.
    fn union(&mut self, items: &mut Vec<Stmt>) {
        let at = self.structures.len();
        let size = [4u32, 8, 16][self.dice.below(3)];
        let mut members = Vec::new();
        let mut text = String::new();
        for index in 0..2 + self.dice.below(3) {
            let base = self.dice.integer();
            let count = size / base.size_bytes();
            if count == 0 {
                continue;
            }
            let name = format!("m{index}");
            if self.features.plain || self.dice.percent(50) && index > 0 {
                text.push_str(&format!("{} {name}[{count}]; ", base.name()));
                members.push((name, Member::Array(Type::scalar(base), count)));
            } else {
                let ty = Type { base, width: count };
                text.push_str(&format!("{} {name}; ", ty.name()));
                members.push((name, Member::Plain(ty)));
            }
        }
        if members.is_empty() {
            return;
        }
        let name = format!("union {}_s{at}", self.prefix);
        items.push(Stmt::new(&format!("{name} {{ {text}}};"), []));
        self.structures.push(Structure {
            name,
            members,
            packed: false,
            is_union: true,
        });
    }

    /// Puts a structure and all its members in scope, with the address space of its arrays.
    pub fn name_members(
        &mut self,
        scope: &mut Scope,
        name: &str,
        structure: usize,
        space: &'static str,
        writable: bool,
    ) {
        let all = self.structures[structure].clone();
        for (member, kind) in &all.members {
            let name = format!("{name}.{member}");
            match kind {
                Member::Plain(ty) => {
                    scope.variables.push(Variable {
                        name,
                        ty: *ty,
                        writable,
                        addressable: !all.packed,
                    });
                }
                Member::Array(ty, length) if !all.packed => {
                    scope.arrays.push(Array {
                        name,
                        ty: *ty,
                        length: *length,
                        writable,
                        space,
                    });
                }
                Member::Array(ty, _) => {
                    let name = format!("{name}[0]");
                    scope.variables.push(Variable {
                        name,
                        ty: *ty,
                        writable,
                        addressable: false,
                    });
                }
                // Within a packed structure its members would have to be, too.
                Member::Nested(_) if all.packed => {}
                Member::Nested(inner) => {
                    self.name_members(scope, &name, *inner, space, writable);
                }
            }
        }
        scope.aggregates.push(Aggregate {
            name: name.into(),
            structure,
            writable: writable && !all.packed,
        });
    }

    fn parameter(&mut self, pure: bool) -> Parameter {
        let ty = Type {
            base: self.dice.integer(),
            width: self.dice.width(),
        };
        match self.dice.below(7) {
            0 | 1 if !self.structures.is_empty() => {
                Parameter::Structure(self.dice.below(self.structures.len()))
            }
            2 | 3 if !pure => Parameter::Pointer(ty),
            4 if !pure => match self.dice.below(4) {
                0 => Parameter::Array(Type::UINT, ITEM_SLOTS, "global"),
                1 => Parameter::Array(Type::scalar(Base::Short), ITEM_SLOTS, "local"),
                2 if self.features.generic => Parameter::Array(Type::UINT, 4, ""),
                _ => Parameter::Array(ty, 4, "private"),
            },
            _ => Parameter::Value(ty),
        }
    }

    /// The text of a parameter, which is put in scope.
    fn declare_parameter(&mut self, parameter: &Parameter, scope: &mut Scope) -> String {
        let name = self.name("x");
        let variable = |name: String, ty| Variable {
            name,
            ty,
            writable: true,
            addressable: true,
        };
        match parameter {
            Parameter::Value(ty) => {
                let text = format!("{} {name}", ty.name());
                scope.variables.push(variable(name, *ty));
                text
            }
            Parameter::Pointer(ty) => {
                let text = format!("{} *{name}", ty.name());
                scope.variables.push(variable(format!("(*{name})"), *ty));
                text
            }
            Parameter::Structure(structure) => {
                self.name_members(scope, &name, *structure, "private", true);
                format!("{} {name}", self.structures[*structure].name)
            }
            Parameter::Array(ty, length, space) => {
                let text = format!("{space} {} *{name}", ty.name());
                scope.arrays.push(Array {
                    name,
                    ty: *ty,
                    length: *length,
                    writable: true,
                    space,
                });
                text
            }
        }
    }

    fn function(&mut self, items: &mut Vec<Stmt>) {
        let name = format!("{}_f{}", self.prefix, self.callees.len());
        let pure = self.dice.percent(50);
        let mut scope = Scope::default();
        let mut parameters = Vec::new();
        let mut texts = Vec::new();
        for _ in 0..1 + self.dice.below(4) {
            let parameter = self.parameter(pure);
            texts.push(self.declare_parameter(&parameter, &mut scope));
            parameters.push(parameter);
        }
        let result = Type {
            base: self.dice.integer(),
            width: self.dice.width(),
        };
        let around = Around {
            uniform: false,
            in_loop: false,
            in_switch: false,
            depth: 1,
            in_kernel: false,
            trips: FUNCTION_TRIPS,
        };
        self.budget = 2 + self.dice.below(7);
        self.result = result;
        let mut body = Vec::new();
        // Calls within loops within functions within loops would take for ever.
        self.may_call = self.dice.percent(50);
        let around = if self.may_call {
            Around { depth: 3, ..around }
        } else {
            around
        };
        while self.budget > 0 {
            self.statement(&mut scope, around, &mut body);
        }
        let value = self.expr(&scope, result, 3);
        body.push(Stmt::new("return @;", [Piece::Expr(value)]).pinned());
        let attribute = if self.dice.percent(40) {
            "__attribute__((noinline)) "
        } else {
            ""
        };
        let text = format!(
            "{attribute}{} {name}({}) @",
            result.name(),
            texts.join(", ")
        );
        items.push(Stmt::new(&text, [Piece::Block(body)]));
        self.callees.push(Callee {
            name,
            result,
            parameters,
            pure,
        });
    }

    /// A function that takes a structure and returns it changed.
    fn changing_function(&mut self, items: &mut Vec<Stmt>) {
        if self.structures.is_empty() {
            return;
        }
        let structure = self.dice.below(self.structures.len());
        let (name, argument) = (format!("{}_change", self.prefix), self.name("x"));
        let mut scope = Scope::default();
        self.name_members(&mut scope, &argument, structure, "private", true);
        let around = Around {
            uniform: false,
            in_loop: false,
            in_switch: false,
            depth: 1,
            in_kernel: false,
            trips: FUNCTION_TRIPS,
        };
        self.budget = 2 + self.dice.below(5);
        self.may_call = false;
        self.returned = Some(argument.clone());
        let mut body = Vec::new();
        while self.budget > 0 {
            self.statement(&mut scope, around, &mut body);
        }
        self.returned = None;
        body.push(Stmt::new(&format!("return {argument};"), []).pinned());
        let ty = &self.structures[structure].name;
        let text = format!("{ty} {name}({ty} {argument}) @");
        items.push(Stmt::new(&text, [Piece::Block(body)]));
        self.changing.push((name, structure));
    }

    fn kernel(&mut self, items: &mut Vec<Stmt>) {
        let mut body = Vec::new();
        let fixed = |text: &str| Stmt::new(text, []).pinned();
        body.push(fixed(
            "const uint gid = (uint)get_global_id(0), lid = (uint)get_local_id(0);",
        ));
        body.push(fixed(&format!(
            "global uint *mine = scratch + gid * {ITEM_SLOTS};"
        )));
        body.push(fixed(&format!(
            "local short *shorts = items + lid * {ITEM_SLOTS};"
        )));
        body.push(fixed(&format!(
            "for (uint i = 0; i < {ITEM_SLOTS}; ++i) shorts[i] = (short)(i * 259u + gid);"
        )));
        if !self.free {
            self.shared_memory(&mut body);
        }
        let mut scope = self.kernel_scope();
        let given = scope.variables.len();
        for _ in 0..self.dice.below(2) {
            self.constant_array(&mut scope, items);
        }
        let around = Around {
            uniform: !self.free,
            in_loop: false,
            in_switch: false,
            depth: 0,
            in_kernel: true,
            trips: 1,
        };
        self.may_call = true;
        self.budget = 8 + self.dice.below(30);
        for _ in 0..3 {
            self.declaration(&mut scope, &mut body);
        }
        while self.budget > 0 {
            self.statement(&mut scope, around, &mut body);
        }
        self.results(&scope, given, &mut body);
        let attribute = if self.free {
            String::new()
        } else {
            format!(
                "__attribute__((reqd_work_group_size({}, 1, 1)))\n",
                self.local_size
            )
        };
        let text = format!(
            "{attribute}kernel void {}(global ulong *out, global const uint *in, global uint *scratch, \
             global uint *counters, local short *items, uint number, short4 vector) @",
            self.prefix
        );
        items.push(Stmt::new(&text, [Piece::Block(body)]).pinned());
    }

    /// Local memory that the work-items of a group share.
    fn shared_memory(&mut self, body: &mut Vec<Stmt>) {
        let fixed = |text: &str| Stmt::new(text, []).pinned();
        let size = self.local_size;
        body.push(fixed(&format!("shared uint group_slots[{GROUP_SLOTS}];")));
        body.push(fixed(&format!(
            "shared ulong group_values[{size}]; shared uint group_places[{size}];"
        )));
        for _ in 0..1 + self.dice.below(2) {
            let ty = self.any_type();
            let name = self.name("shared");
            let text = format!("shared {} {name}[{}];", ty.name(), self.local_size);
            body.push(fixed(&text));
            self.exchanges.push((name, ty));
        }
    }

    /// What a kernel is given.
    fn kernel_scope(&self) -> Scope {
        let mut scope = Scope::default();
        let mut named = vec![("gid", Type::UINT), ("number", Type::UINT)];
        if !self.features.plain {
            named.push(("vector", Type::scalar(Base::Short).with_width(4)));
        }
        if !self.free {
            named.push(("lid", Type::UINT));
            named.push(("((uint)get_group_id(0))", Type::UINT));
            named.push(("((ulong)get_global_size(0))", Type::ULONG));
        }
        scope.variables = named
            .into_iter()
            .map(|(name, ty)| Variable {
                name: name.into(),
                ty,
                writable: false,
                addressable: false,
            })
            .collect();
        scope.arrays = self.own_memory();
        scope.arrays.push(Array {
            name: "in".into(),
            ty: Type::UINT,
            length: INPUTS,
            writable: false,
            space: "global",
        });
        scope
    }

    fn constant_array(&mut self, scope: &mut Scope, items: &mut Vec<Stmt>) {
        let ty = Type {
            base: self.dice.integer(),
            width: self.dice.width(),
        };
        let length = 1u32 << self.dice.below(5);
        let values: Vec<_> = (0..length).map(|_| Piece::Expr(self.literal(ty))).collect();
        let name = self.name("c");
        let name = format!("{}_{name}", self.prefix);
        let places = vec!["@"; values.len()].join(", ");
        items.push(Stmt::new(
            &format!("constant {} {name}[{length}] = {{ {places} }};", ty.name()),
            values,
        ));
        scope.arrays.push(Array {
            name,
            ty,
            length,
            writable: false,
            space: "constant",
        });
    }

    /// Adds all that is in scope to the results, but for the first `given` variables.
    fn results(&mut self, scope: &Scope, given: usize, body: &mut Vec<Stmt>) {
        let mut values = Vec::new();
        // A multiple of 1/4 and an eighth: never zero, whose sign may not show.
        let element = |name: &str, ty: Type| match ty.base {
            Base::Float => format!("(ulong)as_uint({name} + 12345.125f)"),
            Base::Double => format!("as_ulong({name} + 12345.125)"),
            _ => format!("(ulong){name}"),
        };
        let mut add = |name: &str, ty: Type| {
            let one = |at: u32| {
                format!(
                    "{} * {}ul",
                    element(&format!("{name}.s{at:x}"), ty),
                    2 * at + 3
                )
            };
            values.push(if ty.is_scalar() {
                element(name, ty)
            } else {
                (0..ty.width).map(one).collect::<Vec<_>>().join(" + ")
            });
        };
        for variable in scope.variables.iter().skip(given) {
            add(&variable.name, variable.ty);
        }
        for array in scope.arrays.iter().filter(|array| array.writable) {
            for at in 0..array.length {
                add(&format!("{}[{at}]", array.name), array.ty);
            }
        }
        for (at, value) in values.iter().enumerate() {
            let at = at as u32 % RESULTS;
            body.push(Stmt::new(
                &format!("out[gid * {RESULTS} + {at}] += {value};"),
                [],
            ));
        }
    }
}
