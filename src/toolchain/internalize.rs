//! LLVM IR of a whole program: functions that are not kernels are for the program alone.
//!
//! In OpenCL C a function is visible to other programs unless it says `static`. clang therefore optimizes every one and
//! makes code of it, whether a kernel calls it or not, and keeps what it inlined. Where nothing is linked to the
//! program, `internal` functions do what it says, and go with their last call.

/// Gives every function that LLVM IR defines for all to see, kernels apart, internal linkage.
pub fn functions(ir: &str) -> String {
    let mut text = String::with_capacity(ir.len() + ir.len() / 64);
    for line in ir.split_inclusive('\n') {
        let function = ["define spir_func ", "define dso_local spir_func "]
            .iter()
            .find_map(|start| line.strip_prefix(start));
        match function {
            Some(function) => {
                text.push_str("define internal spir_func ");
                text.push_str(function);
            }
            None => text.push_str(line),
        }
    }
    text
}

/// Whether LLVM IR defines a kernel.
pub fn has_kernels(ir: &str) -> bool {
    ir.lines()
        .any(|line| line.starts_with("define ") && line.contains("spir_kernel "))
}

#[cfg(test)]
mod tests {
    use super::{functions, has_kernels};

    #[test]
    fn kernels_are_found() {
        assert!(has_kernels("\ndefine dso_local spir_kernel void @k() {\n"));
        assert!(!has_kernels(
            "; spir_kernel \ndefine spir_func void @f() {\n"
        ));
    }

    #[test]
    fn only_what_all_may_see_changes() {
        let ir = "\
define spir_func i32 @a(i32 %x) #0 {
  ret i32 %x
}
define dso_local spir_func void @b() {
define spir_kernel void @k(ptr addrspace(1) %p) {
define internal spir_func void @c() {
define linkonce_odr spir_func void @d() comdat {
declare spir_func void @e()
";
        let expected = "\
define internal spir_func i32 @a(i32 %x) #0 {
  ret i32 %x
}
define internal spir_func void @b() {
define spir_kernel void @k(ptr addrspace(1) %p) {
define internal spir_func void @c() {
define linkonce_odr spir_func void @d() comdat {
declare spir_func void @e()
";
        assert_eq!(functions(ir), expected);
    }
}
