//! What is known of a device that Vulkan leaves open, or that drivers get wrong, and what follows from it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::compiler::Defects;
use crate::vulkan::PhysicalDeviceInfo;

macro_rules! subjects {
    ($($subject:ident $name:literal $is_served:literal $without:literal)*) => {
        /// What is tried out.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Subject {
            $(#[doc = $without] $subject,)*
        }

        impl Subject {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$subject),*];

            /// The name that `PUMICE_ASSUME` and `pumice info` have for it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$subject => $name,)*
                }
            }

            /// What is done on a device without it.
            pub fn without(self) -> &'static str {
                match self {
                    $(Self::$subject => $without,)*
                }
            }

            /// Whether a device without it is served as well: it then has no defect, but one way less to do something.
            fn is_served(self) -> bool {
                match self {
                    $(Self::$subject => $is_served,)*
                }
            }
        }
    };
}

subjects! {
    Singles "singles" false "results of singles may be wrong: nothing stands in for them"
    FusedSingles "fused-singles" true "fma of singles is computed by other operations"
    DenormalSingles "denormal-singles" true "singles flush denormals to zero"
    PreciseExp2 "precise-exp2" true "exp2 of singles is computed by other operations"
    Halves "halves" false "halves are computed by integers"
    FusedHalves "fused-halves" true "fma of halves is computed by other operations"
    Doubles "doubles" false "there are no doubles"
    FusedDoubles "fused-doubles" true "fma of doubles is computed by other operations"
    DenormalDoubles "denormal-doubles" true "doubles flush denormals to zero where nothing stands in for that"
    Longs "longs" false "64-bit integers are computed by words"
    NarrowIntegers "narrow-integers" false "8- and 16-bit integers are computed by words"
    NarrowMemory "narrow-memory" false "8- and 16-bit memory accesses are made of whole words"
    Barriers "barriers" false "work-items may see less of each other than they should: nothing stands in for barriers"
    Messages "messages" false "atomics may order less than they should: nothing stands in for that"
    SubGroupArithmetic "sub-group-arithmetic" false "sub-groups compute by shuffles"
    SubGroupVotes "sub-group-votes" false "sub-groups vote by ballots"
    SubGroupExchanges "sub-group-exchanges" false "sub-groups have one work-item each"
    SubGroupRotations "sub-group-rotations" false "sub-groups rotate by shuffles"
    SubGroupProgress "sub-group-progress" true "cl_khr_subgroups is not reported"
}

/// How something is known of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// It was tried out.
    Tried,
    /// Its driver's file says so.
    Driver,
    /// `PUMICE_ASSUME` says so.
    Assumed,
    /// It could not be tried out: it is taken for missing.
    Untried,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tried => "tried",
            Self::Driver => "known of the driver",
            Self::Assumed => "assumed",
            Self::Untried => "could not be tried",
        })
    }
}

/// What is known of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub subject: Subject,
    pub holds: bool,
    pub origin: Origin,
}

/// What was found of a device: nothing of what it does not claim to have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings(pub Vec<Finding>);

impl Findings {
    /// Whether something was found to be missing.
    pub fn lacks(&self, subject: Subject) -> bool {
        self.0.iter().any(|it| it.subject == subject && !it.holds)
    }

    /// Whether something was found to be there.
    pub fn has(&self, subject: Subject) -> bool {
        self.0.iter().any(|it| it.subject == subject && it.holds)
    }

    /// Writes a line to the log for each thing that a device gets wrong.
    pub fn warn(&self, info: &PhysicalDeviceInfo) {
        for finding in &self.0 {
            let what = match finding.origin {
                Origin::Tried => "was tried and gets",
                Origin::Untried => "can't be tried and may get",
                Origin::Driver | Origin::Assumed => continue,
            };
            if !finding.holds && !finding.subject.is_served() {
                let (name, driver, version) = (&info.name, &info.driver_name, &info.driver_info);
                let (subject, without) = (finding.subject.name(), finding.subject.without());
                log::warn!("{name} ({driver} {version}) {what} {subject} wrong: {without}");
            }
        }
    }

    /// Takes out of what a device reports what it does not do right.
    pub fn correct(&self, info: &mut PhysicalDeviceInfo) {
        let lacks = |subject| self.lacks(subject);
        let (features, driver) = (&mut info.features, &mut info.driver);
        features.shader_float16 &= !lacks(Subject::Halves);
        features.shader_float64 &= !lacks(Subject::Doubles);
        features.shader_int64 &= !lacks(Subject::Longs);
        features.storage_buffer_8bit &= !lacks(Subject::NarrowMemory);
        features.storage_buffer_16bit &= !lacks(Subject::NarrowMemory);
        if lacks(Subject::NarrowIntegers) {
            driver.defects |= Defects::MISCOMPUTES_NARROW_INTEGERS;
        }
        if lacks(Subject::DenormalSingles) {
            info.float32_controls.denorm_preserve = false;
            driver.arithmetic.keeps_denormals32 = false;
        }
        if lacks(Subject::DenormalDoubles) {
            info.float64_controls.denorm_preserve = false;
            driver.arithmetic.keeps_denormals64 = false;
        }
        if lacks(Subject::Messages) {
            features.vulkan_memory_model_device_scope = false;
        }
        let groups = &mut info.subgroup;
        groups.arithmetic &= !lacks(Subject::SubGroupArithmetic);
        groups.clustered &= !lacks(Subject::SubGroupArithmetic);
        groups.vote &= !lacks(Subject::SubGroupVotes);
        groups.rotate &= !lacks(Subject::SubGroupRotations);
        if lacks(Subject::SubGroupExchanges) {
            (groups.ballot, groups.shuffle, groups.shuffle_relative) = (false, false, false);
        }
    }
}
