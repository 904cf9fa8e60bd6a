//! Which memory has been touched since the last barrier.

use smallvec::SmallVec;

/// Identifies an allocation while somebody holds it: its address.
pub type Id = usize;

/// Past this a barrier costs less than the search.
const MOST: usize = 64;

/// What the commands since the last barrier read and write.
#[derive(Debug, Default)]
pub struct Hazards {
    touched: SmallVec<[(Id, bool); MOST]>,
    anything: bool,
}

impl Hazards {
    /// Whether a command that uses `accesses` (allocation, written) must come after a barrier.
    /// `anything`: it may use memory that is not named.
    pub fn conflict(&self, accesses: &[(Id, bool)], anything: bool) -> bool {
        if anything || self.anything {
            return self.anything || !self.touched.is_empty();
        }
        if self.touched.len() + accesses.len() > MOST {
            return true;
        }
        accesses.iter().any(|(id, write)| {
            self.touched
                .iter()
                .any(|(other, written)| id == other && (*write || *written))
        })
    }

    /// The command has been recorded.
    pub fn note(&mut self, accesses: &[(Id, bool)], anything: bool) {
        self.anything |= anything;
        for &(id, write) in accesses {
            match self.touched.iter_mut().find(|(other, _)| *other == id) {
                Some((_, written)) => *written |= write,
                None => self.touched.push((id, write)),
            }
        }
    }

    /// A barrier has been recorded.
    pub fn clear(&mut self) {
        self.touched.clear();
        self.anything = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_write_makes_a_conflict() {
        let mut hazards = Hazards::default();
        hazards.note(&[(1, false), (2, true)], false);
        assert!(!hazards.conflict(&[(1, false)], false));
        assert!(hazards.conflict(&[(1, true)], false));
        assert!(hazards.conflict(&[(2, false)], false));
        assert!(!hazards.conflict(&[(3, true)], false));
        hazards.clear();
        assert!(!hazards.conflict(&[(2, true)], false));
    }

    #[test]
    fn unnamed_memory_conflicts_with_everything() {
        let mut hazards = Hazards::default();
        assert!(!hazards.conflict(&[], true));
        hazards.note(&[], true);
        assert!(hazards.conflict(&[(1, false)], false));
    }

    #[test]
    fn a_long_list_is_cut_by_a_barrier() {
        let mut hazards = Hazards::default();
        for id in 0..MOST {
            hazards.note(&[(id, false)], false);
        }
        assert!(hazards.conflict(&[(MOST, false)], false));
    }
}
