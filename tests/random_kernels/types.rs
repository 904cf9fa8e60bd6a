//! The scalar and vector types of OpenCL C that kernels compute with.

/// A scalar type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    Char,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    Float,
    Double,
}

pub const INTEGERS: [Base; 8] = [
    Base::Char,
    Base::UChar,
    Base::Short,
    Base::UShort,
    Base::Int,
    Base::UInt,
    Base::Long,
    Base::ULong,
];

impl Base {
    pub fn name(self) -> &'static str {
        match self {
            Self::Char => "char",
            Self::UChar => "uchar",
            Self::Short => "short",
            Self::UShort => "ushort",
            Self::Int => "int",
            Self::UInt => "uint",
            Self::Long => "long",
            Self::ULong => "ulong",
            Self::Float => "float",
            Self::Double => "double",
        }
    }

    pub fn size_bytes(self) -> u32 {
        match self {
            Self::Char | Self::UChar => 1,
            Self::Short | Self::UShort => 2,
            Self::Int | Self::UInt | Self::Float => 4,
            Self::Long | Self::ULong | Self::Double => 8,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Self::Float | Self::Double)
    }

    pub fn is_signed(self) -> bool {
        matches!(self, Self::Char | Self::Short | Self::Int | Self::Long)
    }

    /// The unsigned integer of the same size.
    pub fn unsigned(self) -> Self {
        match self.size_bytes() {
            1 => Self::UChar,
            2 => Self::UShort,
            4 => Self::UInt,
            _ => Self::ULong,
        }
    }

    /// The signed integer of the same size.
    pub fn signed(self) -> Self {
        match self.size_bytes() {
            1 => Self::Char,
            2 => Self::Short,
            4 => Self::Int,
            _ => Self::Long,
        }
    }

    /// The integer of half the size, as signed as this one.
    pub fn half(self) -> Option<Self> {
        match self {
            Self::Short => Some(Self::Char),
            Self::UShort => Some(Self::UChar),
            Self::Int => Some(Self::Short),
            Self::UInt => Some(Self::UShort),
            Self::Long => Some(Self::Int),
            Self::ULong => Some(Self::UInt),
            _ => None,
        }
    }
}

/// A scalar (width 1) or a vector of 2, 3, 4, 8 or 16 elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Type {
    pub base: Base,
    pub width: u32,
}

impl Type {
    pub const UINT: Self = Self::scalar(Base::UInt);
    pub const INT: Self = Self::scalar(Base::Int);
    pub const ULONG: Self = Self::scalar(Base::ULong);

    pub const fn scalar(base: Base) -> Self {
        Self { base, width: 1 }
    }

    pub fn with_base(self, base: Base) -> Self {
        Self { base, ..self }
    }

    pub fn with_width(self, width: u32) -> Self {
        Self { width, ..self }
    }

    pub fn unsigned(self) -> Self {
        self.with_base(self.base.unsigned())
    }

    pub fn signed(self) -> Self {
        self.with_base(self.base.signed())
    }

    pub fn name(self) -> String {
        match self.width {
            1 => self.base.name().into(),
            width => format!("{}{width}", self.base.name()),
        }
    }

    pub fn is_scalar(self) -> bool {
        self.width == 1
    }

    /// How much memory it takes: a vector of 3 takes as much as one of 4.
    pub fn size_bytes(self) -> u32 {
        let elements = if self.width == 3 { 4 } else { self.width };
        elements * self.base.size_bytes()
    }
}
