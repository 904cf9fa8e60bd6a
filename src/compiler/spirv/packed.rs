//! SPIR-V modules as they are kept, in memory and on disk.
//!
//! A program of a thousand lines is a megabyte of SPIR-V in many modules, and few of them are looked at again: a launch
//! wants those of its kernel, once. Packed by LZ4 they take a fraction of the memory, of the disk cache, and above all of
//! the time in which a build takes a program from the cache, most of which is what the system takes for new memory.

use super::words;
use crate::compiler::CompileError;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::TryReserveError;
use std::fmt;
use std::sync::Arc;

/// LZ4 makes at most so many bytes of one.
const MOST_TIMES: usize = 255;

/// A SPIR-V module: the length of its words in bytes (little-endian, 32 bits), then an LZ4 block of the words as
/// little-endian bytes. Clones share it.
#[derive(Clone, PartialEq, Eq)]
pub struct PackedModule(Arc<Vec<u8>>);

impl PackedModule {
    /// # Panics
    /// No memory for it: a build catches that. A module without words would be kept as if it were the program's.
    pub fn new(words: &[u32]) -> Self {
        let packed = Self::of_bytes(&words::to_bytes(words));
        packed.unwrap_or_else(|error| panic!("no room for a module: {error}"))
    }

    /// Packs a module's words, given as little-endian bytes.
    ///
    /// # Errors
    /// No memory for it.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, TryReserveError> {
        let most = lz4_flex::block::get_maximum_output_size(bytes.len());
        let mut packed = Vec::new();
        packed.try_reserve_exact(size_of::<u32>() + most)?;
        packed.extend((bytes.len() as u32).to_le_bytes());
        let start = packed.len();
        packed.resize(start + most, 0);
        // There is room for the most it may take: it can't fail.
        let length = lz4_flex::block::compress_into(bytes, &mut packed[start..]).unwrap_or(0);
        packed.truncate(start + length);
        packed.shrink_to_fit();
        Ok(Self(Arc::new(packed)))
    }

    /// The module.
    ///
    /// # Errors
    /// The bytes that it was read from are none that a module was ever packed to.
    pub fn words(&self) -> Result<Vec<u32>, CompileError> {
        let damaged =
            || CompileError::invalid("the SPIR-V that was kept of the program is damaged");
        let (length, block) = self.0.split_first_chunk().ok_or_else(damaged)?;
        let length = u32::from_le_bytes(*length) as usize;
        if length.div_ceil(MOST_TIMES) > block.len() {
            return Err(damaged());
        }
        let bytes = lz4_flex::block::decompress(block, length).map_err(|_| damaged())?;
        match bytes.as_chunks() {
            (words, []) if bytes.len() == length => {
                Ok(words.iter().copied().map(u32::from_le_bytes).collect())
            }
            _ => Err(damaged()),
        }
    }

    /// The bytes that the module is kept as: the same for the same words.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Default for PackedModule {
    /// No words.
    fn default() -> Self {
        Self(Arc::new(vec![0; size_of::<u32>() + 1]))
    }
}

impl fmt::Debug for PackedModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PackedModule({} bytes)", self.0.len())
    }
}

impl Serialize for PackedModule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.as_bytes())
    }
}

impl<'de> Deserialize<'de> for PackedModule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Bytes)
    }
}

struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = PackedModule;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a packed module")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<PackedModule, E> {
        Ok(PackedModule(Arc::new(bytes.to_vec())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some_words() -> Vec<u32> {
        (0..5000).map(|word| word % 700 * 3).collect()
    }

    #[test]
    fn what_is_packed_comes_out_again() {
        let scattered = (0..999u32).map(|word| word.wrapping_mul(0x9e37_79b9));
        for words in [vec![], vec![7], some_words(), scattered.collect()] {
            let packed = PackedModule::new(&words);
            assert_eq!(packed.words().as_ref(), Ok(&words));
            let bytes = postcard::to_allocvec(&packed).unwrap();
            assert_eq!(postcard::from_bytes(&bytes), Ok(packed.clone()));
            assert_eq!(
                packed,
                PackedModule::of_bytes(&words::to_bytes(&words)).unwrap()
            );
        }
        assert_eq!(PackedModule::default().words(), Ok(vec![]));
        let packed = PackedModule::new(&some_words());
        assert!(packed.as_bytes().len() < 4 * some_words().len() / 4);
    }

    #[test]
    fn what_was_never_packed_is_refused() {
        let whole = PackedModule::new(&some_words());
        let read = |bytes: &[u8]| PackedModule(Arc::new(bytes.to_vec())).words();
        for length in 0..whole.as_bytes().len() {
            assert!(
                read(&whole.as_bytes()[..length]).is_err(),
                "cut to {length}"
            );
        }
        let longer = [whole.as_bytes(), &[0]].concat();
        assert!(read(&longer).is_err());
        // A length that nothing so short can have must not be believed.
        let mut large = whole.as_bytes().to_vec();
        large[..4].copy_from_slice(&0xffff_fffc_u32.to_le_bytes());
        assert!(read(&large).is_err());
        let ragged = PackedModule::of_bytes(&[1, 2, 3]).unwrap();
        assert!(ragged.words().is_err());
        // Whatever else is changed, it is an answer and no panic.
        for place in 4..whole.as_bytes().len() {
            let mut changed = whole.as_bytes().to_vec();
            changed[place] ^= 0x41;
            let _ = read(&changed);
        }
    }
}
