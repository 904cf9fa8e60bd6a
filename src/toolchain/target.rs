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
    /// `__OPENCL_VERSION__`: the device's OpenCL version, e.g. 300.
    pub device_version: u32,
}

/// Pairs that OpenCL C 3.0 defines together, and that clang refuses to see apart.
const PAIRS: [(&str, &str); 2] = [
    ("cl_khr_fp64", "__opencl_c_fp64"),
    ("cl_khr_3d_image_writes", "__opencl_c_3d_image_writes"),
];

impl LanguageTarget {
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
    }
}
