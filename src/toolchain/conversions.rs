//! OpenCL C for the integer `convert_` functions, put before every source that uses them.
//!
//! clang-22's SPIR-V back end forgets whether the source of such a conversion is signed: it makes every
//! `convert_ulong(uint)` an `OpSConvert`, every saturation to a signed type an `OpSatConvertUToS` and every
//! saturation to an unsigned one an `OpSatConvertSToU`. In SPIR-V the difference is lost, so it has to be
//! kept from getting there: plain conversions become casts, saturating ones a clamp and a cast.
//!
//! A rounding mode means something for floats only: they are rounded first, and integers left alone; what
//! follows is one of the conversions above. Other saturating conversions of floats stay the compiler's, as
//! do those to floats, which clang gets right.

use std::fmt::Write;

struct Integer {
    name: &'static str,
    bits: u32,
    signed: bool,
}

const fn integer(name: &'static str, bits: u32, signed: bool) -> Integer {
    Integer { name, bits, signed }
}

const INTEGERS: [Integer; 8] = [
    integer("char", 8, true),
    integer("uchar", 8, false),
    integer("short", 16, true),
    integer("ushort", 16, false),
    integer("int", 32, true),
    integer("uint", 32, false),
    integer("long", 64, true),
    integer("ulong", 64, false),
];

/// Float types, and the macro that says that there are such.
const FLOATS: [(&str, &str); 3] = [
    ("float", ""),
    ("double", "cl_khr_fp64"),
    ("half", "cl_khr_fp16"),
];

/// Suffixes of rounding modes, and the functions that round to whole numbers that way.
const ROUNDINGS: [(&str, &str); 4] = [
    ("rte", "rint"),
    ("rtz", "trunc"),
    ("rtp", "ceil"),
    ("rtn", "floor"),
];

const WIDTHS: [&str; 6] = ["", "2", "3", "4", "8", "16"];

impl Integer {
    /// The largest value.
    fn max(&self) -> u64 {
        let unused = 64 - self.bits + u32::from(self.signed);
        u64::MAX >> unused
    }
}

/// What a source needs; empty for one that converts nothing. `elsewhere` says that more of the program
/// comes from other files, `overloads` that it may declare conversions of its own: then ours are functions, too, of which
/// there are hundreds.
pub fn prelude(source: &str, elsewhere: bool, overloads: bool) -> String {
    let mut text = String::new();
    if elsewhere || source.contains("convert_") {
        if overloads {
            cast_functions(&mut text)
        } else {
            casts(&mut text)
        }
        if elsewhere || source.contains("_sat") {
            saturations(&mut text);
        }
        if elsewhere || source.contains("_rt") {
            roundings(&mut text);
        }
    }
    text
}

fn casts(text: &mut String) {
    for to in &INTEGERS {
        let name = to.name;
        let _ = writeln!(text, "#define convert_{name}(x) (({name})(x))");
        for width in &WIDTHS[1..] {
            let _ = writeln!(
                text,
                "#define convert_{name}{width}(x) __builtin_convertvector((x), {name}{width})"
            );
        }
    }
}

/// Plain conversions as functions, one for each pair of types, under a name that a macro makes the program's as well.
fn cast_functions(text: &mut String) {
    text.push_str(
        "#define PUMICE_CAST inline __attribute__((internal_linkage, overloadable, always_inline))\n",
    );
    for to in &INTEGERS {
        for width in WIDTHS {
            let target = format!("{}{width}", to.name);
            let value = match width {
                "" => format!("({target})(x)"),
                _ => format!("__builtin_convertvector(x, {target})"),
            };
            let integers = INTEGERS.iter().map(|from| (from.name, ""));
            for (from, condition) in integers.chain(FLOATS) {
                let line = format!(
                    "PUMICE_CAST {target} __pumice_convert_{target}({from}{width} x) {{ return {value}; }}"
                );
                where_defined(text, condition, &line);
            }
            let _ = writeln!(text, "#define convert_{target} __pumice_convert_{target}");
        }
    }
    text.push_str("#undef PUMICE_CAST\n");
}

/// OpenCL C before 1.2 has no `static`: our functions are internal by an attribute.
fn saturations(text: &mut String) {
    text.push_str(
        "#define PUMICE_SATURATE inline __attribute__((internal_linkage, overloadable, always_inline))\n",
    );
    for to in &INTEGERS {
        for width in WIDTHS {
            saturations_to(text, to, width);
        }
    }
    text.push_str("#undef PUMICE_SATURATE\n");
}

fn saturations_to(text: &mut String, to: &Integer, width: &str) {
    let target = format!("{}{width}", to.name);
    let function = format!("__pumice_saturate_{target}");
    for from in &INTEGERS {
        let source = format!("{}{width}", from.name);
        let mut value = String::from("x");
        if from.max() > to.max() {
            value = format!("min({value}, ({source})({}))", to.max());
        }
        if from.signed && !to.signed {
            value = format!("max({value}, ({source})(0))");
        } else if from.signed && from.bits > to.bits {
            value = format!("max({value}, ({source})(-{} - 1))", to.max());
        }
        let cast = match width {
            "" => format!("({target})({value})"),
            _ => format!("__builtin_convertvector({value}, {target})"),
        };
        let _ = writeln!(
            text,
            "PUMICE_SATURATE {target} {function}({source} x) {{ return {cast}; }}"
        );
    }
    for (float, condition) in FLOATS {
        let definition = format!(
            "PUMICE_SATURATE {target} {function}({float}{width} x) {{ return convert_{target}_sat(x); }}"
        );
        where_defined(text, condition, &definition);
    }
    let _ = writeln!(text, "#define convert_{target}_sat {function}");
}

/// A line that counts where a macro is defined; an empty one always is.
fn where_defined(text: &mut String, condition: &str, line: &str) {
    let _ = match condition {
        "" => writeln!(text, "{line}"),
        // The type needs more than that its extension is there.
        "cl_khr_fp16" => writeln!(
            text,
            "#ifdef {condition}\n#pragma OPENCL EXTENSION {condition} : enable\n{line}\n\
             #pragma OPENCL EXTENSION {condition} : disable\n#endif"
        ),
        _ => writeln!(text, "#ifdef {condition}\n{line}\n#endif"),
    };
}

fn roundings(text: &mut String) {
    text.push_str(
        "#define PUMICE_ROUND inline __attribute__((internal_linkage, overloadable, always_inline))\n",
    );
    for (suffix, function) in ROUNDINGS {
        for width in WIDTHS {
            let mut define = |ty: &str, condition: &str, value: &str| {
                let ty = format!("{ty}{width}");
                let line =
                    format!("PUMICE_ROUND {ty} __pumice_{suffix}({ty} x) {{ return {value}; }}");
                where_defined(text, condition, &line);
            };
            for integer in &INTEGERS {
                define(integer.name, "", "x");
            }
            for (float, condition) in FLOATS {
                define(float, condition, &format!("{function}(x)"));
            }
            for to in &INTEGERS {
                for saturation in ["", "_sat"] {
                    let target = format!("convert_{}{width}{saturation}", to.name);
                    let _ = writeln!(
                        text,
                        "#define {target}_{suffix}(x) {target}(__pumice_{suffix}(x))"
                    );
                }
            }
        }
    }
    text.push_str("#undef PUMICE_ROUND\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_without_conversions_needs_nothing() {
        assert_eq!(prelude("kernel void k() {}", false, false), "");
        assert!(!prelude("convert_int2(x)", false, false).contains("saturate"));
        assert!(prelude("", true, false).contains("#define convert_uchar4_sat "));
        assert!(!prelude("convert_int2_sat(x)", false, false).contains("rint"));
    }

    #[test]
    fn floats_are_rounded_and_integers_are_not() {
        let text = prelude(
            "convert_char_sat_rte(x) + convert_int4_rtp(y)",
            false,
            false,
        );
        for line in [
            "PUMICE_ROUND float4 __pumice_rte(float4 x) { return rint(x); }",
            "PUMICE_ROUND uint4 __pumice_rtp(uint4 x) { return x; }",
            "#ifdef cl_khr_fp64\nPUMICE_ROUND double __pumice_rtn(double x) { return floor(x); }\n#endif",
            "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\nPUMICE_ROUND half2 __pumice_rtz(half2 x) { return trunc(x); }",
            "#define convert_char_sat_rte(x) convert_char_sat(__pumice_rte(x))",
            "#define convert_int4_rtp(x) convert_int4(__pumice_rtp(x))",
        ] {
            assert!(text.contains(line), "{line}");
        }
    }

    #[test]
    fn bounds_are_those_of_the_types() {
        let text = prelude("convert_char_sat", false, false);
        for line in [
            "char __pumice_saturate_char(long x) { return (char)(max(min(x, (long)(127)), (long)(-127 - 1))); }",
            "uchar __pumice_saturate_uchar(int x) { return (uchar)(max(min(x, (int)(255)), (int)(0))); }",
            "int __pumice_saturate_int(uint x) { return (int)(min(x, (uint)(2147483647))); }",
            "ulong __pumice_saturate_ulong(long x) { return (ulong)(max(x, (long)(0))); }",
            "long __pumice_saturate_long(uchar x) { return (long)(x); }",
        ] {
            assert!(text.contains(line), "{line}");
        }
    }
}
