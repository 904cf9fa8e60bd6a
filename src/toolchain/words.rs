//! SPIR-V modules as bytes and as words.

/// The first word of a SPIR-V module.
pub const MAGIC: u32 = 0x0723_0203;

/// Bytes to words in host order; a module stored in the other byte order is turned round.
///
/// `None` when it is no SPIR-V: not a multiple of four bytes, no header, or another magic number.
pub fn from_bytes(bytes: &[u8]) -> Option<Vec<u32>> {
    read(bytes).map(Iterator::collect)
}

/// The same word by word.
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
    Some(chunks.iter().map(move |chunk| match swapped {
        false => u32::from_le_bytes(*chunk),
        true => u32::from_be_bytes(*chunk),
    }))
}

/// Words as little-endian bytes.
pub fn to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
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
