//! A small program and the results that the specification gives it, as a file's head tells them.

/// How an argument is given, and what is to be seen of it afterwards.
#[derive(Debug, PartialEq)]
pub enum Argument {
    /// A buffer, and what it must hold in the end, if that is looked at.
    Buffer { first: Vec<u8>, last: Option<Words> },
    /// A value.
    Value(Vec<u8>),
    /// Local memory of so many bytes.
    Local(usize),
}

/// Elements of one type.
#[derive(Debug, PartialEq)]
pub struct Words {
    pub ty: Type,
    pub bytes: Vec<u8>,
    /// How far a floating-point element may be from what it should be, relative to that; none for exact bits.
    pub tolerance: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Int { bytes: usize, signed: bool },
    Float,
    Double,
}

impl Type {
    fn parse(name: &str) -> Result<Self, String> {
        let int = |bytes, signed| Ok(Self::Int { bytes, signed });
        match name {
            "char" => int(1, true),
            "uchar" => int(1, false),
            "short" => int(2, true),
            // Of a half, the bits.
            "ushort" | "half" => int(2, false),
            "int" => int(4, true),
            "uint" => int(4, false),
            "long" => int(8, true),
            "ulong" => int(8, false),
            "float" => Ok(Self::Float),
            "double" => Ok(Self::Double),
            _ => Err(format!("no type '{name}'")),
        }
    }

    /// Bytes of an element.
    pub fn size(self) -> usize {
        match self {
            Self::Int { bytes, .. } => bytes,
            Self::Float => 4,
            Self::Double => 8,
        }
    }

    fn element(self, text: &str) -> Result<Vec<u8>, String> {
        let wrong = |_| format!("'{text}' is no element");
        Ok(match self {
            Self::Int { bytes, .. } => {
                let (negative, digits) = match text.strip_prefix('-') {
                    Some(digits) => (true, digits),
                    None => (false, text),
                };
                let magnitude = match digits.strip_prefix("0x") {
                    Some(hex) => u64::from_str_radix(hex, 16),
                    None => digits.parse(),
                }
                .map_err(|_| format!("'{text}' is no element"))?;
                let value = if negative {
                    magnitude.wrapping_neg()
                } else {
                    magnitude
                };
                value.to_le_bytes()[..bytes].to_vec()
            }
            Self::Float => text.parse::<f32>().map_err(wrong)?.to_le_bytes().to_vec(),
            Self::Double => text.parse::<f64>().map_err(wrong)?.to_le_bytes().to_vec(),
        })
    }

    /// An element as text.
    pub fn shown(self, bytes: &[u8]) -> String {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        match self {
            Self::Int { bytes, signed } => {
                let unused = 64 - 8 * bytes as u32;
                let raw = u64::from_le_bytes(wide);
                if signed {
                    ((raw << unused) as i64 >> unused).to_string()
                } else {
                    raw.to_string()
                }
            }
            Self::Float => f32::from_bits(u64::from_le_bytes(wide) as u32).to_string(),
            Self::Double => f64::from_le_bytes(wide).to_string(),
        }
    }

    fn value(self, bytes: &[u8]) -> Option<f64> {
        match self {
            Self::Int { .. } => None,
            _ => self.shown(bytes).parse().ok(),
        }
    }
}

impl Words {
    /// `TYPE [near X] ELEMENT…`; `N*ELEMENT` is that element N times.
    fn parse(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace().peekable();
        let ty = Type::parse(words.next().ok_or("a type is missing")?)?;
        let mut tolerance = None;
        if words.next_if_eq(&"near").is_some() {
            let number = words.next().and_then(|number| number.parse().ok());
            tolerance = Some(number.ok_or("'near' needs a number")?);
        }
        let mut bytes = Vec::new();
        for word in words {
            let (count, element) = match word.split_once('*') {
                Some((count, element)) => {
                    (count.parse().map_err(|_| format!("'{word}'"))?, element)
                }
                None => (1, word),
            };
            bytes.extend(ty.element(element)?.repeat(count));
        }
        if bytes.is_empty() {
            Err("there are no elements".into())
        } else {
            Ok(Self {
                ty,
                bytes,
                tolerance,
            })
        }
    }

    /// The first element that is another: its index, what it is, and what it should be.
    pub fn difference(&self, found: &[u8]) -> Option<(usize, String, String)> {
        let size = self.ty.size();
        let pairs = found.chunks(size).zip(self.bytes.chunks(size));
        let mut wrong = pairs
            .enumerate()
            .filter(|(_, (is, should))| !self.is_close(is, should));
        wrong
            .next()
            .map(|(index, (is, should))| (index, self.ty.shown(is), self.ty.shown(should)))
    }

    fn is_close(&self, is: &[u8], should: &[u8]) -> bool {
        if is == should {
            return true;
        }
        match (self.ty.value(is), self.ty.value(should)) {
            (Some(is), Some(should)) if is.is_nan() && should.is_nan() => true,
            (Some(is), Some(should)) => self.tolerance.is_some_and(|tolerance| {
                (is - should).abs() <= tolerance * should.abs().max(f64::MIN_POSITIVE)
            }),
            _ => false,
        }
    }
}

/// What a file says.
#[derive(Debug)]
pub struct Report {
    /// Whose report it is, and what was wrong.
    pub title: String,
    pub options: String,
    /// Extensions and optional features without which there is nothing to see.
    pub needs: Vec<String>,
    pub global: Vec<usize>,
    pub local: Vec<usize>,
    pub arguments: Vec<Argument>,
    /// A part of the build log, where the program must not build.
    pub refused: Option<String>,
    pub source: String,
}

impl Report {
    /// Reads the comment at a file's head.
    ///
    /// # Errors
    /// A line is not understood, or a launch has nothing to look at.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut report = Self {
            title: String::new(),
            options: String::new(),
            needs: Vec::new(),
            global: vec![1],
            local: Vec::new(),
            arguments: Vec::new(),
            refused: None,
            source: text.to_owned(),
        };
        for line in text.lines().map_while(|line| line.strip_prefix("//")) {
            let line = line.trim();
            report
                .line(line)
                .map_err(|reason| format!("'{line}': {reason}"))?;
        }
        let is_looked_at =
            |argument: &Argument| matches!(argument, Argument::Buffer { last: Some(_), .. });
        if report.refused.is_some() || report.arguments.iter().any(is_looked_at) {
            Ok(report)
        } else {
            Err("nothing is looked at".into())
        }
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        let (key, rest) = match line.split_once(':') {
            Some((key, rest)) => (key, rest.trim()),
            None => (line, ""),
        };
        match key {
            "options" => self.options = rest.to_owned(),
            "needs" => self
                .needs
                .extend(rest.split_whitespace().map(str::to_owned)),
            "refused" => self.refused = Some(rest.to_owned()),
            "range" => {
                let (global, local) = rest.split_once(" by ").unwrap_or((rest, ""));
                (self.global, self.local) = (sizes(global)?, sizes(local)?);
            }
            "value" => self
                .arguments
                .push(Argument::Value(Words::parse(rest)?.bytes)),
            "local" => {
                let bytes = rest.parse().map_err(|_| "no number of bytes")?;
                self.arguments.push(Argument::Local(bytes));
            }
            "in" => self.arguments.push(Argument::Buffer {
                first: Words::parse(rest)?.bytes,
                last: None,
            }),
            "out" => {
                let last = Words::parse(rest)?;
                // A result that is never written is seen, zero or not.
                let first = vec![0xa5; last.bytes.len()];
                self.arguments.push(Argument::Buffer {
                    first,
                    last: Some(last),
                });
            }
            "inout" => {
                let (first, last) = rest.split_once(" -> ").ok_or("'->' is missing")?;
                let last = Words::parse(last)?;
                let first = Words::parse(first)?.bytes;
                self.arguments.push(Argument::Buffer {
                    first,
                    last: Some(last),
                });
            }
            _ => {
                self.title.push_str(line);
                self.title.push(' ');
            }
        }
        Ok(())
    }
}

fn sizes(text: &str) -> Result<Vec<usize>, String> {
    let parts = text
        .split('x')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    parts
        .map(|part| part.parse().map_err(|_| format!("'{part}' is no size")))
        .collect()
}
