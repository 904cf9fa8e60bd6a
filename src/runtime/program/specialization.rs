//! Which specialization constants a SPIR-V module has.

const OP_TYPE_INT: u16 = 21;
const OP_TYPE_FLOAT: u16 = 22;
const OP_SPEC_CONSTANT_TRUE: u16 = 48;
const OP_SPEC_CONSTANT_FALSE: u16 = 49;
const OP_SPEC_CONSTANT: u16 = 50;
const OP_DECORATE: u16 = 71;
const DECORATION_SPEC_ID: u32 = 1;
const HEADER_WORDS: usize = 5;

/// Bytes of the constant with this `SpecId`; `None` if the module has none.
pub fn constant_size(module: &[u32], spec_id: u32) -> Option<usize> {
    let constant = instructions(module).find_map(|instruction| match instruction {
        [word, target, DECORATION_SPEC_ID, id] if *word as u16 == OP_DECORATE && *id == spec_id => {
            Some(*target)
        }
        _ => None,
    })?;
    instructions(module).find_map(|instruction| {
        let [word, type_id, result, ..] = instruction else {
            return None;
        };
        match *word as u16 {
            OP_SPEC_CONSTANT_TRUE | OP_SPEC_CONSTANT_FALSE if *result == constant => Some(1),
            OP_SPEC_CONSTANT if *result == constant => type_size(module, *type_id),
            _ => None,
        }
    })
}

fn type_size(module: &[u32], type_id: u32) -> Option<usize> {
    instructions(module).find_map(|instruction| match instruction {
        [word, result, width, ..]
            if matches!(*word as u16, OP_TYPE_INT | OP_TYPE_FLOAT) && *result == type_id =>
        {
            Some(*width as usize / 8)
        }
        _ => None,
    })
}

/// The instructions of a module, each with its first word; ends at the first that doesn't fit.
fn instructions(module: &[u32]) -> impl Iterator<Item = &[u32]> {
    let mut rest = module.get(HEADER_WORDS..).unwrap_or_default();
    std::iter::from_fn(move || {
        let count = (*rest.first()? >> 16) as usize;
        let (instruction, after) = rest.split_at_checked(count.max(1))?;
        rest = after;
        Some(instruction)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_the_types() {
        let op = |opcode: u16, operands: &[u32]| -> Vec<u32> {
            let first = (operands.len() as u32 + 1) << 16 | u32::from(opcode);
            [&[first], operands].concat()
        };
        let mut module = vec![0x0723_0203, 0x0001_0000, 0, 9, 0];
        module.extend(op(OP_DECORATE, &[5, DECORATION_SPEC_ID, 100]));
        module.extend(op(OP_DECORATE, &[6, DECORATION_SPEC_ID, 101]));
        module.extend(op(OP_TYPE_INT, &[1, 16, 0]));
        module.extend(op(20, &[2]));
        module.extend(op(OP_SPEC_CONSTANT, &[1, 5, 7]));
        module.extend(op(OP_SPEC_CONSTANT_TRUE, &[2, 6]));
        assert_eq!(constant_size(&module, 100), Some(2));
        assert_eq!(constant_size(&module, 101), Some(1));
        assert_eq!(constant_size(&module, 102), None);
        assert_eq!(constant_size(&module[..7], 100), None);
    }
}
