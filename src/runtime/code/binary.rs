//! `CL_PROGRAM_BINARIES`: Pumice's own format.
//!
//! ```text
//! offset  bytes
//!      0      8  magic "PUMICEBN"
//!      8      4  version of the format, little-endian
//!     12      4  kind: 1 compiled object, 2 library, 4 executable (as CL_PROGRAM_BINARY_TYPE_*)
//!     16     32  fingerprint of what the contents were made for
//!     48      8  length of the payload, little-endian
//!     56     32  SHA-256 of the payload
//!     88         payload (postcard)
//! ```
//!
//! All kinds hold OpenCL SPIR-V, which fits every device. An executable also holds the code that was made of
//! it for one set of device capabilities by one version of the compiler; elsewhere the fingerprint differs,
//! and building the program makes the code anew. What that code is written as may change with the compiler: it comes
//! last, and is read only where the fingerprint is right, so that binaries of other versions stay good. PyOpenCL
//! keeps them, and fails where one is refused.

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::modules::Modules;
use crate::compiler::spirv::{shape, words};
use crate::compiler::{Capabilities, CompiledProgram, PackedModule};
use crate::toolchain::cache::DRIVER_IDENTITY;

const MAGIC: &[u8; 8] = b"PUMICEBN";
const VERSION: u32 = 3;
const HEADER_BYTES: usize = 88;

/// The contents of one program binary.
#[derive(Clone, Debug, PartialEq)]
pub enum Binary {
    /// `CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT`: OpenCL SPIR-V modules, not linked yet.
    Object(Modules),
    /// `CL_PROGRAM_BINARY_TYPE_LIBRARY`
    Library(Modules),
    /// `CL_PROGRAM_BINARY_TYPE_EXECUTABLE`
    Executable(StoredExecutable),
}

/// An executable as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StoredExecutable {
    pub modules: Modules,
    /// `None` when it was made for other device capabilities or by another compiler.
    pub program: Option<CompiledProgram>,
}

/// Why a binary is not taken; the application sees `CL_INVALID_BINARY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryError {
    /// No binary of Pumice, or of another version of the format.
    Foreign,
    /// Cut short, or changed.
    Damaged,
}

impl BinaryError {
    pub fn reason(self) -> &'static str {
        match self {
            Self::Foreign => "not a program binary of this version of Pumice",
            Self::Damaged => "the program binary is truncated or damaged",
        }
    }
}

impl Binary {
    fn kind(&self) -> u32 {
        match self {
            Self::Object(_) => opencl_sys::CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
            Self::Library(_) => opencl_sys::CL_PROGRAM_BINARY_TYPE_LIBRARY,
            Self::Executable(_) => opencl_sys::CL_PROGRAM_BINARY_TYPE_EXECUTABLE,
        }
    }

    /// The bytes that the application stores.
    pub fn to_bytes(&self, capabilities: &Capabilities) -> Vec<u8> {
        let payload = match self {
            Self::Object(modules) | Self::Library(modules) => postcard::to_allocvec(modules),
            Self::Executable(stored) => postcard::to_allocvec(stored),
        }
        // Plain data without maps or foreign types; the serializer fails only for unsized sequences.
        .unwrap_or_default();
        let mut bytes = Vec::with_capacity(HEADER_BYTES + payload.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&self.kind().to_le_bytes());
        bytes.extend_from_slice(&fingerprint(self.kind(), capabilities));
        bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        let sum: [u8; 32] = Sha256::digest(&payload).into();
        bytes.extend_from_slice(&sum);
        bytes.extend_from_slice(&payload);
        bytes
    }

    /// Reads a binary for a device with these capabilities. Plain OpenCL SPIR-V is taken as an object.
    ///
    /// # Errors
    /// The bytes are not a whole binary of this format for such a device.
    pub fn from_bytes(bytes: &[u8], capabilities: &Capabilities) -> Result<Self, BinaryError> {
        if let Some(module) = words::from_bytes(bytes) {
            shape::check(module.iter().copied()).map_err(|_| BinaryError::Damaged)?;
            return Ok(Self::Object(Modules {
                modules: vec![PackedModule::new(&module)],
                ..Modules::default()
            }));
        }
        let mut reader = Reader(bytes);
        if reader.take::<8>()? != *MAGIC {
            return Err(BinaryError::Foreign);
        }
        if u32::from_le_bytes(reader.take()?) != VERSION {
            return Err(BinaryError::Foreign);
        }
        let kind = u32::from_le_bytes(reader.take()?);
        let print: [u8; 32] = reader.take()?;
        let length = u64::from_le_bytes(reader.take()?);
        let sum: [u8; 32] = reader.take()?;
        let payload = reader.0;
        let digest: [u8; 32] = Sha256::digest(payload).into();
        if payload.len() as u64 != length || digest != sum {
            return Err(BinaryError::Damaged);
        }
        let damaged = |_| BinaryError::Damaged;
        match kind {
            opencl_sys::CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT => Ok(Self::Object(
                postcard::from_bytes(payload).map_err(damaged)?,
            )),
            opencl_sys::CL_PROGRAM_BINARY_TYPE_LIBRARY => Ok(Self::Library(
                postcard::from_bytes(payload).map_err(damaged)?,
            )),
            opencl_sys::CL_PROGRAM_BINARY_TYPE_EXECUTABLE => {
                let (modules, code) = postcard::take_from_bytes(payload).map_err(damaged)?;
                let program = if print == fingerprint(kind, capabilities) {
                    postcard::from_bytes(code).map_err(damaged)?
                } else {
                    None
                };
                Ok(Self::Executable(StoredExecutable { modules, program }))
            }
            _ => Err(BinaryError::Damaged),
        }
    }
}

/// What code of this kind depends on, beside its own contents.
fn fingerprint(kind: u32, capabilities: &Capabilities) -> [u8; 32] {
    let mut hash = Sha256::new();
    if kind == opencl_sys::CL_PROGRAM_BINARY_TYPE_EXECUTABLE {
        hash.update(DRIVER_IDENTITY);
        hash.update(postcard::to_allocvec(capabilities).unwrap_or_default());
    }
    hash.finalize().into()
}

/// Takes fixed pieces off the front; a missing piece means a truncated binary.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], BinaryError> {
        let (piece, rest) = self
            .0
            .split_first_chunk::<N>()
            .ok_or(BinaryError::Damaged)?;
        self.0 = rest;
        Ok(*piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::testing::opencl_c;
    use std::collections::BTreeMap;

    fn executable() -> Binary {
        let mut program = CompiledProgram::default();
        program.data.bytes = vec![1, 2, 3];
        Binary::Executable(StoredExecutable {
            modules: modules(),
            program: Some(program),
        })
    }

    fn modules() -> Modules {
        Modules {
            modules: vec![PackedModule::new(&[words::MAGIC, 0x0001_0400, 0, 1, 0])],
            fast_relaxed_math: true,
            specialization: BTreeMap::from([(7, vec![1, 0])]),
            ..Modules::default()
        }
    }

    fn library() -> Binary {
        Binary::Library(modules())
    }

    #[test]
    fn what_is_written_is_read() {
        let capabilities = Capabilities::full();
        for binary in [executable(), library()] {
            let bytes = binary.to_bytes(&capabilities);
            assert_eq!(Binary::from_bytes(&bytes, &capabilities), Ok(binary));
        }
    }

    #[test]
    fn elsewhere_an_executable_is_only_what_it_was_made_of() {
        let bytes = executable().to_bytes(&Capabilities::full());
        assert_eq!(
            Binary::from_bytes(&bytes, &Capabilities::minimal()),
            Ok(Binary::Executable(StoredExecutable {
                modules: modules(),
                program: None,
            }))
        );
        let bytes = library().to_bytes(&Capabilities::full());
        assert_eq!(
            Binary::from_bytes(&bytes, &Capabilities::minimal()),
            Ok(library())
        );
    }

    /// A binary by another version of the compiler, as it were: its modules are read, its code is not.
    #[test]
    fn code_that_is_written_otherwise_is_not_read() {
        let capabilities = Capabilities::full();
        let mut payload = postcard::to_allocvec(&modules()).unwrap();
        payload.extend([0xff; 100]);
        let sum: [u8; 32] = Sha256::digest(&payload).into();
        let mut bytes = executable().to_bytes(&capabilities);
        bytes.truncate(HEADER_BYTES);
        bytes[16] ^= 1;
        bytes[48..56].copy_from_slice(&(payload.len() as u64).to_le_bytes());
        bytes[56..].copy_from_slice(&sum);
        bytes.extend(payload);
        assert_eq!(
            Binary::from_bytes(&bytes, &capabilities),
            Ok(Binary::Executable(StoredExecutable {
                modules: modules(),
                program: None,
            }))
        );
    }

    #[test]
    fn modules_are_words_one_by_one() {
        let words = vec![words::MAGIC, 0x0001_0400, 0, 300, 0, 0xffff_ffff];
        let specialization = BTreeMap::from([(7_u32, vec![1_u8, 2])]);
        let plain = (
            vec![words.clone()],
            true,
            false,
            true,
            false,
            specialization.clone(),
        );
        let modules = Modules {
            modules: vec![PackedModule::new(&words)],
            denorms_are_zero: true,
            opt_disable: true,
            specialization,
            ..Modules::default()
        };
        let bytes = postcard::to_allocvec(&plain).unwrap();
        assert_eq!(postcard::to_allocvec(&modules).unwrap(), bytes);
        assert_eq!(postcard::from_bytes(&bytes), Ok(modules));
    }

    #[test]
    fn every_truncation_and_every_changed_byte_is_refused() {
        let capabilities = Capabilities::full();
        let whole = executable().to_bytes(&capabilities);
        for length in 0..whole.len() {
            assert!(Binary::from_bytes(&whole[..length], &capabilities).is_err());
        }
        // The fingerprint itself is what may differ.
        for place in (0..16).chain(48..whole.len()) {
            let mut bytes = whole.clone();
            bytes[place] ^= 1;
            assert!(
                Binary::from_bytes(&bytes, &capabilities).is_err(),
                "byte {place}"
            );
        }
        let mut longer = whole;
        longer.push(0);
        assert!(Binary::from_bytes(&longer, &capabilities).is_err());
    }

    #[test]
    fn foreign_bytes_are_refused_and_spirv_is_an_object() {
        let capabilities = Capabilities::full();
        assert_eq!(
            Binary::from_bytes(b"\x7fELF\x02\x01\x01\0more", &capabilities),
            Err(BinaryError::Foreign)
        );
        let module = opencl_c("kernel void k(global int *p) { *p = 1; }");
        let spirv = words::to_bytes(&module);
        assert!(matches!(
            Binary::from_bytes(&spirv, &capabilities),
            Ok(Binary::Object(_))
        ));
        for length in (20..spirv.len()).step_by(4) {
            assert_eq!(
                Binary::from_bytes(&spirv[..length], &capabilities),
                Err(BinaryError::Damaged),
                "cut to {length}"
            );
        }
    }
}
