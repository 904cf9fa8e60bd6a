//! What the OpenCL C language offers on a device: its extensions and optional features.

/// The part of a device that the front end must know. Built from the device object, so that the macros a
/// kernel sees and the strings `clGetDeviceInfo` gives never differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LanguageTarget {
    /// `CL_DEVICE_EXTENSIONS`, e.g. `cl_khr_fp64`. Those that don't concern the language do no harm.
    pub extensions: Vec<String>,
    /// `CL_DEVICE_OPENCL_C_FEATURES`, e.g. `__opencl_c_int64`.
    pub features: Vec<String>,
    /// `CL_DEVICE_IMAGE_SUPPORT`
    pub images: bool,
    /// Whether a fused multiply-add is one operation of the device.
    pub fused_multiply_add: bool,
    /// `__EMBEDDED_PROFILE__`: whether `CL_DEVICE_PROFILE` is `EMBEDDED_PROFILE`.
    pub embedded_profile: bool,
    /// `__OPENCL_VERSION__`: the device's OpenCL version, e.g. 300.
    pub device_version: u32,
}

/// Pairs that OpenCL C 3.0 defines together, and that clang refuses to see apart.
const PAIRS: [(&str, &str); 2] = [
    ("cl_khr_fp64", "__opencl_c_fp64"),
    ("cl_khr_3d_image_writes", "__opencl_c_3d_image_writes"),
];

/// Extensions of the language that clang-22 does not know.
const UNKNOWN_TO_CLANG: [&str; 2] = [
    "cl_khr_expect_assume",
    "cl_khr_work_group_uniform_arithmetic",
];

impl LanguageTarget {
    pub fn has_extension(&self, name: &str) -> bool {
        self.extensions.iter().any(|have| have == name)
    }

    /// "Every extension which affects the OpenCL language semantics, syntax or adds built-in functions to the
    /// language must create a preprocessor #define that matches the extension name string": those that clang
    /// does not make.
    pub fn clang_definitions(&self) -> impl Iterator<Item = String> {
        let unknown = UNKNOWN_TO_CLANG
            .iter()
            .filter(|name| self.has_extension(name));
        unknown.map(|name| format!("-D{name}=1"))
    }

    /// The value of clang's `-cl-ext`: everything off but what the device has.
    pub fn clang_extensions(&self) -> String {
        let mut names: Vec<&str> = self
            .extensions
            .iter()
            .chain(&self.features)
            .map(String::as_str)
            .collect();
        for (extension, feature) in PAIRS {
            if names.contains(&extension) || names.contains(&feature) {
                names.push(extension);
                names.push(feature);
            }
        }
        names.sort_unstable();
        names.dedup();
        let mut text = String::from("-all");
        for name in names {
            text.push_str(",+");
            text.push_str(name);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_come_together_and_everything_else_is_off() {
        let target = LanguageTarget {
            extensions: vec!["cl_khr_fp64".into(), "cl_khr_icd".into()],
            features: vec!["__opencl_c_int64".into()],
            ..LanguageTarget::default()
        };
        assert_eq!(
            target.clang_extensions(),
            "-all,+__opencl_c_fp64,+__opencl_c_int64,+cl_khr_fp64,+cl_khr_icd"
        );
        assert_eq!(target.clang_definitions().count(), 0);
    }

    #[test]
    fn extensions_that_clang_does_not_know_are_defined() {
        let target = LanguageTarget {
            extensions: vec!["cl_khr_expect_assume".into(), "cl_khr_icd".into()],
            ..LanguageTarget::default()
        };
        let definitions: Vec<String> = target.clang_definitions().collect();
        assert_eq!(definitions, ["-Dcl_khr_expect_assume=1"]);
    }
}
