//! A program that was compiled without the functions that no kernel reaches, and what makes a module of all of them.
//!
//! `clCompileProgram` does not know what its program will be linked to. Most are linked alone, and need nothing but their
//! kernels then; whatever else a long program holds is compiled when a program that is linked to it may call it.

use super::argument_info::Wanted;
use super::cache::{DiskCache, KeyBuilder};
use super::clang::{Clang, NoClang};
use super::job::{Job, Way};
use super::request::{Rest, SourceOutcome, TIME_LIMIT};

impl Rest {
    /// The module of all functions, or what the log has to say.
    pub fn compile(&self, clang: Result<&Clang, &NoClang>, cache: &DiskCache) -> SourceOutcome {
        let clang = match clang {
            Ok(clang) => clang,
            Err(missing) => return SourceOutcome::failed(missing.to_string()),
        };
        let builder = KeyBuilder::new("all functions").field(clang.identity.as_bytes());
        let builder = self.arguments.iter().fold(builder, |builder, argument| {
            builder.field(argument.as_bytes())
        });
        let Wanted {
            arguments,
            vector_types,
        } = self.wanted;
        let builder = builder.field(&[u8::from(arguments), u8::from(vector_types)]);
        let key = builder.field(&self.ir).finish();
        if let Some(kept) = cache.get(key)
            && let Ok(outcome) = postcard::from_bytes::<SourceOutcome>(&kept)
        {
            return outcome;
        }
        let ir = lz4_flex::decompress_size_prepended(&self.ir).ok();
        let Some(ir) = ir.and_then(|ir| String::from_utf8(ir).ok()) else {
            return SourceOutcome::failed(
                "error: what was kept of the program is damaged\n".into(),
            );
        };
        let job = Job::again(clang, ir, self.arguments.clone(), TIME_LIMIT);
        let outcome = job.compile(self.wanted, Way::Rest);
        if outcome.spirv.is_some()
            && let Ok(bytes) = postcard::to_allocvec(&outcome)
        {
            cache.put(key, &bytes);
        }
        outcome
    }
}
