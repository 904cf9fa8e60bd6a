//! What the module says of its ids beside defining them: names, decorations, strings.

use super::decode::{Id, Instruction, string};
use crate::compiler::CompileError;
use rspirv::spirv::{Decoration, FunctionParameterAttribute, LinkageType, Op};
use std::collections::HashMap;

/// Names and decorations by id.
#[derive(Default)]
pub(super) struct Decorations<'a> {
    names: HashMap<Id, String>,
    by_id: HashMap<Id, Vec<(u32, &'a [u32])>>,
    /// Decoration groups that an id belongs to.
    groups: HashMap<Id, Vec<Id>>,
    /// `Offset` of structure members.
    member_offsets: HashMap<(Id, u32), u32>,
    /// Every `OpString`.
    pub strings: Vec<String>,
}

/// `LinkageAttributes`
pub(super) enum Linkage {
    Import(String),
    Export(String),
    /// Exported under a name that other modules may define as well (`LinkOnceODR`).
    LinkOnce(String),
}

impl<'a> Decorations<'a> {
    /// Collects from an instruction; false if it is of another kind.
    pub fn collect(&mut self, inst: &Instruction<'a>) -> Result<bool, CompileError> {
        match inst.op {
            Op::Name => {
                let (name, _) = inst.string(1)?;
                self.names.insert(inst.id(0)?, name);
            }
            Op::String => self.strings.push(inst.string(0)?.0),
            Op::Decorate | Op::DecorateId | Op::DecorateString => {
                let operands = inst.operands.get(2..).unwrap_or(&[]);
                let list = self.by_id.entry(inst.id(0)?).or_default();
                list.push((inst.word(1)?, operands));
            }
            Op::MemberDecorate => {
                if inst.word(2)? == Decoration::Offset as u32 {
                    let key = (inst.id(0)?, inst.word(1)?);
                    self.member_offsets.insert(key, inst.word(3)?);
                }
            }
            Op::GroupDecorate => {
                for target in inst.ids_from(1) {
                    self.groups.entry(target).or_default().push(inst.id(0)?);
                }
            }
            Op::GroupMemberDecorate => {
                let offset = self.literal(inst.id(0)?, Decoration::Offset);
                for at in (1..inst.operands.len()).step_by(2) {
                    let key = (inst.id(at)?, inst.word(at + 1)?);
                    if let Some(offset) = offset {
                        self.member_offsets.insert(key, offset);
                    }
                }
            }
            Op::DecorationGroup | Op::MemberDecorateString | Op::MemberName => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub fn name(&self, id: Id) -> Option<&str> {
        self.names
            .get(&id)
            .map(String::as_str)
            .filter(|name| !name.is_empty())
    }

    /// Every decoration of an id, its own first, then those of its groups.
    fn all(&self, id: Id) -> impl Iterator<Item = (u32, &'a [u32])> {
        let groups = self.groups.get(&id).map_or(&[][..], Vec::as_slice);
        std::iter::once(id)
            .chain(groups.iter().copied())
            .filter_map(|id| self.by_id.get(&id))
            .flatten()
            .copied()
    }

    /// The operands of the first decoration of this kind.
    pub fn find(&self, id: Id, decoration: Decoration) -> Option<&'a [u32]> {
        self.all(id)
            .find(|(kind, _)| *kind == decoration as u32)
            .map(|(_, operands)| operands)
    }

    pub fn has(&self, id: Id, decoration: Decoration) -> bool {
        self.find(id, decoration).is_some()
    }

    /// Whether a function parameter has the attribute.
    pub fn has_attribute(&self, id: Id, attribute: FunctionParameterAttribute) -> bool {
        self.all(id).any(|(kind, operands)| {
            kind == Decoration::FuncParamAttr as u32
                && operands.first() == Some(&(attribute as u32))
        })
    }

    /// The first literal of a decoration.
    pub fn literal(&self, id: Id, decoration: Decoration) -> Option<u32> {
        self.find(id, decoration)?.first().copied()
    }

    pub fn member_offset(&self, ty: Id, member: u32) -> Option<u32> {
        self.member_offsets.get(&(ty, member)).copied()
    }

    pub fn linkage(&self, id: Id) -> Option<Linkage> {
        let operands = self.find(id, Decoration::LinkageAttributes)?;
        let (name, length) = string(operands)?;
        let name = String::from_utf8_lossy(&name).into_owned();
        Some(match LinkageType::from_u32(*operands.get(length)?)? {
            LinkageType::Import => Linkage::Import(name),
            LinkageType::LinkOnceODR => Linkage::LinkOnce(name),
            _ => Linkage::Export(name),
        })
    }
}
