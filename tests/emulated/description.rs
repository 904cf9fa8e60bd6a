//! A device as a file of `tests/devices` describes it: what it reports to Vulkan.

use std::collections::HashSet;

use ash::vk;
use serde_json::{Map, Value};

/// What a device reports.
pub struct Description {
    pub name: String,
    pub api_version: u32,
    pub vendor_id: u32,
    pub device_id: u32,
    pub device_type: vk::PhysicalDeviceType,
    pub memory: vk::PhysicalDeviceMemoryProperties,
    pub timestamp_valid_bits: u32,
    extensions: HashSet<String>,
    features: HashSet<String>,
    properties: Map<String, Value>,
}

impl Description {
    /// Reads a file.
    ///
    /// # Panics
    /// When it does not hold what such files hold: whoever wrote it is to see that.
    pub fn read(path: &str) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let all: Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        let text = |name: &str| {
            all[name]
                .as_str()
                .unwrap_or_else(|| panic!("{path}: no {name}"))
        };
        let number = |name: &str| {
            all[name]
                .as_u64()
                .unwrap_or_else(|| panic!("{path}: no {name}"))
        };
        let set = |name: &str| -> HashSet<String> {
            let names = all[name]
                .as_array()
                .unwrap_or_else(|| panic!("{path}: no {name}"));
            names.iter().filter_map(Value::as_str).map(plain).collect()
        };
        let mut version = text("apiVersion")
            .split('.')
            .map(|part| part.parse().unwrap_or(0));
        let mut part = || version.next().unwrap_or(0);
        Self {
            name: text("name").to_owned(),
            api_version: vk::make_api_version(0, part(), part(), part()),
            vendor_id: number("vendorID") as u32,
            device_id: number("deviceID") as u32,
            device_type: match text("deviceType") {
                "VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU" => vk::PhysicalDeviceType::DISCRETE_GPU,
                "VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU" => vk::PhysicalDeviceType::VIRTUAL_GPU,
                "VK_PHYSICAL_DEVICE_TYPE_CPU" => vk::PhysicalDeviceType::CPU,
                "VK_PHYSICAL_DEVICE_TYPE_OTHER" => vk::PhysicalDeviceType::OTHER,
                _ => vk::PhysicalDeviceType::INTEGRATED_GPU,
            },
            memory: memory(&all["memory"]),
            timestamp_valid_bits: all["queues"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|queue| queue["timestampValidBits"].as_u64())
                .max()
                .unwrap_or(0) as u32,
            extensions: set("extensions"),
            features: set("features"),
            properties: all["properties"]
                .as_object()
                .unwrap_or_else(|| panic!("{path}: no properties"))
                .iter()
                .map(|(name, value)| (plain(name), value.clone()))
                .collect(),
        }
    }

    /// The device without features, named with commas between them.
    pub fn without(mut self, features: &str) -> Self {
        for feature in features.split(',').filter(|it| !it.is_empty()) {
            self.features.remove(&plain(feature));
        }
        self
    }

    pub fn has_extension(&self, name: &str) -> bool {
        self.extensions.contains(&plain(name))
    }

    pub fn has_feature(&self, name: &str) -> bool {
        self.features.contains(&plain(name))
    }

    /// The value of a member of some structure of properties.
    pub fn property(&self, name: &str) -> Option<&Value> {
        let name = plain(name);
        // VkPhysicalDeviceSubgroupProperties has short names for what VkPhysicalDeviceVulkan11Properties has.
        self.properties
            .get(&name)
            .or_else(|| self.properties.get(&format!("subgroup{name}")))
    }
}

/// A name as Vulkan, ash and files alike have it: `shaderInt64` is `shader_int64`.
fn plain(name: &str) -> String {
    name.chars()
        .filter(|it| *it != '_')
        .map(|it| it.to_ascii_lowercase())
        .collect()
}

fn memory(found: &Value) -> vk::PhysicalDeviceMemoryProperties {
    let mut memory = vk::PhysicalDeviceMemoryProperties::default();
    let has = |it: &Value, name: &str| {
        let flags = it["flags"].as_array();
        flags.is_some_and(|flags| flags.iter().any(|flag| flag.as_str() == Some(name)))
    };
    for heap in found["heaps"].as_array().into_iter().flatten() {
        memory.memory_heaps[memory.memory_heap_count as usize] = vk::MemoryHeap {
            size: heap["size"].as_u64().unwrap_or(0),
            flags: if has(heap, "VK_MEMORY_HEAP_DEVICE_LOCAL_BIT") {
                vk::MemoryHeapFlags::DEVICE_LOCAL
            } else {
                vk::MemoryHeapFlags::empty()
            },
        };
        memory.memory_heap_count += 1;
    }
    let known = [
        (
            "VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT",
            vk::MemoryPropertyFlags::DEVICE_LOCAL,
        ),
        (
            "VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT",
            vk::MemoryPropertyFlags::HOST_VISIBLE,
        ),
        (
            "VK_MEMORY_PROPERTY_HOST_COHERENT_BIT",
            vk::MemoryPropertyFlags::HOST_COHERENT,
        ),
        (
            "VK_MEMORY_PROPERTY_HOST_CACHED_BIT",
            vk::MemoryPropertyFlags::HOST_CACHED,
        ),
        (
            "VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT",
            vk::MemoryPropertyFlags::LAZILY_ALLOCATED,
        ),
        (
            "VK_MEMORY_PROPERTY_PROTECTED_BIT",
            vk::MemoryPropertyFlags::PROTECTED,
        ),
    ];
    for kind in found["types"].as_array().into_iter().flatten() {
        let there = known.iter().filter(|(name, _)| has(kind, name));
        memory.memory_types[memory.memory_type_count as usize] = vk::MemoryType {
            heap_index: kind["heap"].as_u64().unwrap_or(0) as u32,
            property_flags: there.fold(vk::MemoryPropertyFlags::empty(), |all, (_, flag)| {
                all | *flag
            }),
        };
        memory.memory_type_count += 1;
    }
    memory
}
