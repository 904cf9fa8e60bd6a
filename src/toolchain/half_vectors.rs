//! OpenCL C for `vloada_half3`, put before every source that uses it.
//!
//! "For n = 3, vloada_half3 reads a half3 from address (p + (offset * 4))" (OpenCL C section 6.15.8).
//! clang-22's SPIR-V back end makes it the same instruction as `vload_half3`, which reads from
//! `p + (offset * 3)`.

/// What a source needs; empty for one that does not use the function. `elsewhere` says that more of the
/// program comes from other files.
pub fn prelude(source: &str, elsewhere: bool) -> &'static str {
    if elsewhere || source.contains("vloada_half3") {
        "#define vloada_half3(offset, p) vload_half3(0, (p) + 4 * (size_t)(offset))\n"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::prelude;

    #[test]
    fn only_a_source_that_loads_three_halves_needs_it() {
        assert_eq!(prelude("vload_half3(i, p)", false), "");
        assert!(prelude("", true).contains("vloada_half3"));
        assert!(prelude("vloada_half3(i, p)", false).contains("4 * (size_t)"));
    }
}
