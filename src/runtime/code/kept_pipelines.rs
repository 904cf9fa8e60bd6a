//! Pipelines that the Vulkan driver needn't compile again in the next process.
//!
//! One entry of the disk cache for each pipeline, named by everything that the driver compiles it from: so processes that
//! run at once don't wait for each other and never overwrite what another one added, and the disk cache's bound
//! holds for pipelines, too. Drivers that keep nothing (lavapipe, SwiftShader) leave no entries.

use std::sync::Arc;

use crate::compiler::PackedModule;
use crate::runtime::Result;
use crate::toolchain::DiskCache;
use crate::toolchain::cache::{Key, KeyBuilder};
use crate::vulkan::{self, PhysicalDeviceInfo, PipelineCache, PipelineOptions};

/// What a pipeline is compiled from.
pub struct Recipe<'a> {
    pub spirv: &'a PackedModule,
    /// Made of `spirv`.
    pub module: &'a vulkan::ShaderModule,
    /// `SpecId` and value.
    pub constants: &'a [(u32, u32)],
    pub options: PipelineOptions,
}

/// Makes a pipeline, of what `cache` holds for it if possible; else keeps there what the driver gives.
///
/// # Errors
/// The Vulkan driver can't make it.
pub fn make(
    device: &Arc<vulkan::Device>,
    recipe: &Recipe<'_>,
    cache: &DiskCache,
) -> Result<vulkan::Pipeline> {
    let make = |kept: Option<&PipelineCache>| {
        let Recipe {
            module,
            constants,
            options,
            ..
        } = *recipe;
        vulkan::Pipeline::new(device, module, constants, options, kept)
    };
    if cache.root().is_none() {
        return Ok(make(None)?);
    }
    let key = key(device.info(), recipe);
    let found = cache
        .get(key)
        .filter(|bytes| PipelineCache::fits(device.info(), bytes));
    let driver_cache = PipelineCache::new(device, found.as_deref().unwrap_or(&[]))?;
    let pipeline = make(Some(&driver_cache))?;
    if found.is_none() {
        match driver_cache.contents() {
            Ok(Some(bytes)) => cache.put(key, &bytes),
            Ok(None) => {}
            Err(error) => log::debug!("a pipeline is not kept: {error}"),
        }
    }
    Ok(pipeline)
}

fn key(info: &PhysicalDeviceInfo, recipe: &Recipe<'_>) -> Key {
    let constants: Vec<u32> = recipe
        .constants
        .iter()
        .flat_map(|&(id, value)| [id, value])
        .collect();
    let options = recipe.options;
    let subgroup_size = options.required_subgroup_size.unwrap_or(0);
    KeyBuilder::new("pipeline")
        .field(&info.device_uuid)
        .field(&info.driver_uuid)
        .field(&info.pipeline_cache_uuid)
        .field(&info.driver_version.to_le_bytes())
        .field(recipe.spirv.as_bytes())
        .words(&constants)
        .field(&subgroup_size.to_le_bytes())
        .field(&[u8::from(options.full_subgroups)])
        .finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::{self, Capabilities, Library, testing};
    use crate::vulkan::{ShaderModule, test_device};

    #[test]
    fn pipelines_are_told_apart_and_made_from_what_is_kept() {
        let Some(device) = test_device::get() else {
            return;
        };
        let words = testing::opencl_c(
            "kernel void k(global uint *out) { out[get_global_id(0)] = get_local_size(0); }",
        );
        let program = compiler::compile(
            &[&words],
            &Library::embedded().unwrap(),
            &Capabilities::minimal(),
            &compiler::Options::default(),
        );
        let spirv = &program.unwrap().kernels[0].spirv;
        let module = ShaderModule::new(&device, &spirv.words().unwrap()).unwrap();
        let recipe = |constants| Recipe {
            spirv,
            module: &module,
            constants,
            options: PipelineOptions::default(),
        };
        let (eight, nine) = ([(0, 8), (1, 1), (2, 1)], [(0, 9), (1, 1), (2, 1)]);
        let [first, second] = [recipe(&eight), recipe(&nine)];
        let info = device.info();
        assert_eq!(key(info, &first), key(info, &recipe(&eight)));
        assert_ne!(key(info, &first), key(info, &second));
        let other_driver = PhysicalDeviceInfo {
            driver_version: info.driver_version.wrapping_add(1),
            ..info.clone()
        };
        assert_ne!(key(info, &first), key(&other_driver, &first));

        let name = format!("pumice-test-pipelines-{}", std::process::id());
        let root = std::env::temp_dir().join(name);
        let cache = DiskCache::new(root.clone(), 1 << 24);
        make(&device, &first, &cache).unwrap();
        // What another driver left under the name, were that possible, does no harm.
        cache.put(key(info, &second), b"not of this driver");
        make(&device, &second, &cache).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| make(&device, &first, &cache).unwrap());
            }
        });
        make(&device, &first, &DiskCache::disabled()).unwrap();
        let _ = std::fs::remove_dir_all(root);
    }
}
