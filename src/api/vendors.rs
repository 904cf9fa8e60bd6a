//! Names of vendors (`CL_DEVICE_VENDOR`).
//!
//! Applications compare them with what the vendor's own OpenCL driver says, and choose kernels, tables and workarounds by that:
//! so each is spelled as there, where there is such a driver. `docs/devices.md` says who compares with what.

use std::borrow::Cow;

/// The first of the identifiers that Khronos gives to who has none of PCI's (section 4.2, `CL_DEVICE_VENDOR_ID`).
const FIRST_OF_KHRONOS: u32 = 0x1_0000;

/// The name of the vendor of a device: of PCI's identifiers those of whom a Vulkan driver is known, of Khronos' all that
/// Vulkan's registry has (`VkVendorId`). The identifier itself stands for a name that is not known.
pub fn name(id: u32) -> Cow<'static, str> {
    let known = match id {
        0x0731 => "Jingjia Microelectronics",
        0x1002 | 0x1022 => "Advanced Micro Devices, Inc.",
        0x1010 => "Imagination Technologies",
        0x106B => "Apple",
        0x10DE => "NVIDIA Corporation",
        0x13B5 => "ARM",
        0x1414 => "Microsoft",
        0x144D => "Samsung Electronics Co., Ltd.",
        0x14E4 => "Broadcom",
        0x15AD => "VMware",
        0x19E5 => "Huawei",
        0x1AE0 => "Google",
        0x1AF4 => "Red Hat",
        0x1D17 => "Zhaoxin",
        0x1ED5 => "Moore Threads",
        0x5143 => "QUALCOMM",
        0x8086 => "Intel(R) Corporation",
        0x1_0000 => "Khronos",
        0x1_0001 => "Vivante Corporation",
        0x1_0002 => "VeriSilicon",
        0x1_0003 => "Kazan Software Renderer",
        0x1_0004 => "Codeplay Software Ltd.",
        0x1_0005 => "Mesa",
        0x1_0006 => "PoCL",
        0x1_0007 => "Mobileye",
        0x1_0008 => "Ape",
        _ if id >= FIRST_OF_KHRONOS => return format!("Khronos vendor 0x{id:x}").into(),
        _ => return format!("PCI vendor 0x{id:04x}").into(),
    };
    known.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_not_known_is_told_by_the_identifier() {
        assert_eq!(name(0x1234), "PCI vendor 0x1234");
        assert_eq!(name(0x12), "PCI vendor 0x0012");
        assert_eq!(name(0x1_4242), "Khronos vendor 0x14242");
    }
}
