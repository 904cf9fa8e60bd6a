//! How a value of this device and one of the device that it stands for become one.

use ash::vk;
use serde_json::Value;

/// How two values become one that both devices keep.
pub trait Rule {
    fn of_numbers(here: f64, there: f64) -> f64;
    fn of_bits(here: u64, there: u64) -> u64;
}

/// The smaller: what is promised.
pub struct AtMost;

/// The larger: what is asked for. Alignments are powers of two.
pub struct AtLeast;

/// What both have: flags and bits.
pub struct Both;

impl Rule for AtMost {
    fn of_numbers(here: f64, there: f64) -> f64 {
        here.min(there)
    }

    fn of_bits(here: u64, there: u64) -> u64 {
        here.min(there)
    }
}

impl Rule for AtLeast {
    fn of_numbers(here: f64, there: f64) -> f64 {
        here.max(there)
    }

    fn of_bits(here: u64, there: u64) -> u64 {
        here.max(there)
    }
}

impl Rule for Both {
    fn of_numbers(here: f64, there: f64) -> f64 {
        here.min(there)
    }

    fn of_bits(here: u64, there: u64) -> u64 {
        here & there
    }
}

/// The other device's: what is told and nothing depends on.
pub struct There;

impl Rule for There {
    fn of_numbers(_: f64, there: f64) -> f64 {
        there
    }

    fn of_bits(_: u64, there: u64) -> u64 {
        there
    }
}

/// A member of a structure.
pub trait Member {
    /// Becomes what is shown; as it is where nothing is known of the other device's.
    fn show<R: Rule>(&mut self, there: Option<&Value>);
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Member for $type {
            fn show<R: Rule>(&mut self, there: Option<&Value>) {
                let there = there.and_then(|value| value.as_u64().or(value.as_bool().map(u64::from)));
                if let Some(there) = there {
                    *self = <$type>::try_from(R::of_bits(*self as u64, there)).unwrap_or(<$type>::MAX);
                }
            }
        }
    )*};
}

integers! { u32 u64 usize }

impl Member for f32 {
    fn show<R: Rule>(&mut self, there: Option<&Value>) {
        if let Some(there) = there.and_then(Value::as_f64) {
            *self = R::of_numbers((*self).into(), there) as f32;
        }
    }
}

impl<T: Member, const N: usize> Member for [T; N] {
    fn show<R: Rule>(&mut self, there: Option<&Value>) {
        for (place, member) in self.iter_mut().enumerate() {
            member.show::<R>(there.and_then(|all| all.get(place)));
        }
    }
}

/// Bits of a list of names.
fn bits(names: &Value, known: &[(&str, u32)]) -> u32 {
    let names = names.as_array().into_iter().flatten();
    let bit = |name: &Value| {
        let found = known.iter().find(|(it, _)| name.as_str() == Some(it));
        found.map_or(0, |(_, bit)| *bit)
    };
    names.map(bit).fold(0, |all, bit| all | bit)
}

impl Member for vk::ShaderStageFlags {
    fn show<R: Rule>(&mut self, there: Option<&Value>) {
        let known = [
            ("VK_SHADER_STAGE_COMPUTE_BIT", Self::COMPUTE.as_raw()),
            ("VK_SHADER_STAGE_ALL", Self::COMPUTE.as_raw()),
        ];
        if let Some(there) = there {
            *self &= Self::from_raw(bits(there, &known));
        }
    }
}

impl Member for vk::SubgroupFeatureFlags {
    fn show<R: Rule>(&mut self, there: Option<&Value>) {
        let known = [
            ("VK_SUBGROUP_FEATURE_BASIC_BIT", Self::BASIC),
            ("VK_SUBGROUP_FEATURE_VOTE_BIT", Self::VOTE),
            ("VK_SUBGROUP_FEATURE_ARITHMETIC_BIT", Self::ARITHMETIC),
            ("VK_SUBGROUP_FEATURE_BALLOT_BIT", Self::BALLOT),
            ("VK_SUBGROUP_FEATURE_SHUFFLE_BIT", Self::SHUFFLE),
            (
                "VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT",
                Self::SHUFFLE_RELATIVE,
            ),
            ("VK_SUBGROUP_FEATURE_CLUSTERED_BIT", Self::CLUSTERED),
            ("VK_SUBGROUP_FEATURE_QUAD_BIT", Self::QUAD),
            ("VK_SUBGROUP_FEATURE_ROTATE_BIT", Self::ROTATE_KHR),
            (
                "VK_SUBGROUP_FEATURE_ROTATE_CLUSTERED_BIT",
                Self::ROTATE_CLUSTERED_KHR,
            ),
        ];
        if let Some(there) = there {
            *self &= Self::from_raw(bits(there, &known.map(|(name, bit)| (name, bit.as_raw()))));
        }
    }
}
