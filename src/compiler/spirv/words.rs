//! SPIR-V modules as bytes and as words.

/// So many words at a time become bytes.
const PART_WORDS: usize = 1024;

/// The first word of a SPIR-V module.
pub const MAGIC: u32 = 0x0723_0203;

/// Bytes to words in host order; a module stored in the other byte order is turned round.
///
/// `None` when it is no SPIR-V: not a multiple of four bytes, no header, or another magic number.
pub fn from_bytes(bytes: &[u8]) -> Option<Vec<u32>> {
    read(bytes).map(Iterator::collect)
}

/// The words of a SPIR-V module in host order, one by one; `None` where [`from_bytes`] returns that.
pub fn read(bytes: &[u8]) -> Option<impl ExactSizeIterator<Item = u32>> {
    let (chunks, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() || chunks.len() < 5 {
        return None;
    }
    let swapped = match u32::from_le_bytes(chunks[0]) {
        MAGIC => false,
        other if other == MAGIC.swap_bytes() => true,
        _ => return None,
    };
    Some(chunks.iter().map(move |chunk| {
        if !swapped {
            u32::from_le_bytes(*chunk)
        } else {
            u32::from_be_bytes(*chunk)
        }
    }))
}

/// Words as little-endian bytes.
pub fn to_bytes(words: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(words));
    give_bytes(words, |part| bytes.extend_from_slice(part));
    bytes
}

/// Gives words to `take` as little-endian bytes, part by part.
pub fn give_bytes(words: &[u32], mut take: impl FnMut(&[u8])) {
    let mut bytes = [0; PART_WORDS * size_of::<u32>()];
    for part in words.chunks(PART_WORDS) {
        for (to, word) in bytes.as_chunks_mut().0.iter_mut().zip(part) {
            *to = word.to_le_bytes();
        }
        take(&bytes[..size_of_val(part)]);
    }
}

/// The oldest environment that takes a module of its version, by the name that SPIRV-Tools has for it.
pub fn environment(module: &[u32]) -> &'static str {
    match module.get(1) {
        Some(..=0x0001_0300) => "vulkan1.1",
        Some(..=0x0001_0400) => "vulkan1.1spv1.4",
        Some(..=0x0001_0500) => "vulkan1.2",
        _ => "vulkan1.3",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_byte_orders_are_read() {
        let words = vec![MAGIC, 0x0001_0400, 7, 9, 0];
        assert_eq!(from_bytes(&to_bytes(&words)), Some(words.clone()));
        let big: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        assert_eq!(from_bytes(&big), Some(words));
    }

    #[test]
    fn many_words_become_bytes_in_their_order() {
        let words: Vec<u32> = (0..3 * PART_WORDS as u32 + 7).collect();
        let bytes = to_bytes(&words);
        assert_eq!(bytes.len(), 4 * words.len());
        for (index, chunk) in bytes.as_chunks().0.iter().enumerate() {
            assert_eq!(u32::from_le_bytes(*chunk), index as u32);
        }
    }

    #[test]
    fn what_is_not_spirv_is_refused() {
        assert_eq!(from_bytes(b""), None);
        assert_eq!(from_bytes(b"BC\xc0\xde0000000000000000"), None);
        let short = to_bytes(&[MAGIC, 0x0001_0400, 7, 9]);
        assert_eq!(from_bytes(&short), None);
        let mut ragged = to_bytes(&[MAGIC, 0x0001_0400, 7, 9, 0]);
        ragged.push(0);
        assert_eq!(from_bytes(&ragged), None);
    }
}
