//! Places of entities in the arenas of their function or module.

macro_rules! entity {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// Position in the arena.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{self}")
            }
        }
    };
}

entity!(
    /// A value of one function.
    Value, "%"
);
entity!(
    /// An instruction of one function.
    Inst, "inst"
);
entity!(
    /// A basic block of one function.
    Block, "b"
);
entity!(
    /// A private variable of one function.
    VariableId, "var"
);
entity!(
    /// A function of the module.
    FuncId, "fn"
);
entity!(
    /// A variable of module scope.
    GlobalId, "@g"
);
entity!(
    /// A typed array that local or private memory was turned into.
    ArrayId, "@a"
);
