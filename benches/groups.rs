//! Collectives: work-group functions against a tree in local memory, sub-group functions against the same
//! kernel written for Vulkan by hand, and Intel's block reads and writes against a copy of vectors.
//!
//! ```text
//! cargo bench --bench groups -- [--out FOLDER] [NAME…]
//! ```
//!
//! Every OpenCL device that the loader finds takes part (with names: those whose platform or device name contains
//! one). The plain Vulkan (SPIR-V assembled by `spirv-as`) runs on the first Vulkan device, and after it the driver's own
//! code for the kernels, launched in the same way: what kernels cost, without launches. Each work-item reads a float,
//! takes part in one collective, or in sixteen one after the other, and writes a float. On a GPU all take turns, with
//! memory of their own anew each time: where it lies makes a difference of one or two percent. Medians: GB read and
//! written in a second, and nanoseconds of one collective of a group of 256.

mod support;

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::memory::Buffer;
use pumice::runtime::platform::Platform;
use pumice::vulkan::{
    MemoryKind, Pipeline, PipelineOptions, Recorder, ShaderModule, Timeline, info::DeviceType,
};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;
use support::opencl::{Subject, buffer, kernel, launch, queue, read, set_buffer, subjects, write};
use support::report::Report;
use support::table::{Table, Unit};
use support::vulkan_code::VulkanCode;
use support::{Arguments, Result, median, time};

/// Work-items of a group.
const GROUP: usize = 256;

/// What a device is given.
struct Load {
    elements: usize,
    /// Launches that are timed together.
    launches: usize,
    /// How often each takes its turn.
    turns: usize,
}

impl Load {
    fn of(is_gpu: bool) -> Self {
        if is_gpu { ON_A_GPU } else { ON_A_PROCESSOR }
    }
}

/// Far more than its caches hold, and so often that the first launch's way to the device and the last one's way back,
/// which `latency` measures, do not count.
const ON_A_GPU: Load = Load {
    elements: 64 << 20,
    launches: 50,
    turns: 5,
};
/// A processor takes long over every barrier.
const ON_A_PROCESSOR: Load = Load {
    elements: 64 << 10,
    launches: 10,
    turns: 1,
};

const SOURCE: &str = "
#define KERNEL(name, collective) \\
    kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) \\
    void name(global const float *restrict in, global float *restrict out) { \\
        local float sums[GROUP]; \\
        uint item = get_local_id(0); \\
        float x = in[get_global_id(0)]; \\
        _Pragma(\"unroll\") \\
        for (uint round = 0; round < ROUNDS; round++) \\
            x = collective * 0.00390625f; \\
        out[get_global_id(0)] = x; \\
    }

float tree_reduce(local float *sums, uint item, float x) {
    sums[item] = x;
    for (uint width = GROUP / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < width)
            sums[item] += sums[item + width];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    x = sums[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return x;
}

float tree_scan(local float *sums, uint item, float x) {
    sums[item] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint distance = 1; distance < GROUP; distance *= 2) {
        float other = item >= distance ? sums[item - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[item] = x += other;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return x;
}

#if defined(BLOCKS)
#define COPY(name, type, width) \
    kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) \
    void copy_by_blocks_##name##width(global const type *restrict in, global type *restrict out) { \
        size_t sub_group = get_group_id(0) * get_num_sub_groups() + get_sub_group_id(); \
        size_t first = sub_group * get_max_sub_group_size() * width; \
        intel_sub_group_block_write_##name##width(out + first, \
            intel_sub_group_block_read_##name##width(in + first)); \
    }
COPY(ui, uint, 4)
COPY(us, ushort, 8)
COPY(uc, uchar, 16)
#elif defined(VECTORS)
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void copy_of_vectors(global const uint4 *restrict in, global uint4 *restrict out) {
    out[get_global_id(0)] = in[get_global_id(0)];
}
#elif defined(TREES)
KERNEL(sum_by_a_tree, tree_reduce(sums, item, x))
KERNEL(scan_by_a_tree, tree_scan(sums, item, x))
#else
KERNEL(work_group_reduce, work_group_reduce_add(x))
KERNEL(work_group_scan, work_group_scan_inclusive_add(x))
KERNEL(sub_group_reduce, sub_group_reduce_add(x))
KERNEL(sub_group_scan, sub_group_scan_inclusive_add(x))
#endif
";

/// A kernel of the source.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    /// What is defined when it is compiled.
    part: &'static str,
    /// 32-bit elements that a work-item reads, and writes.
    elements: usize,
}

const fn collective(name: &'static str, part: &'static str) -> Case {
    Case {
        name,
        part,
        elements: 1,
    }
}

const COLLECTIVES: [Case; 6] = [
    collective("sum_by_a_tree", "TREES"),
    collective("work_group_reduce", "FUNCTIONS"),
    collective("scan_by_a_tree", "TREES"),
    collective("work_group_scan", "FUNCTIONS"),
    collective("sub_group_reduce", "FUNCTIONS"),
    collective("sub_group_scan", "FUNCTIONS"),
];

const fn copy(name: &'static str, part: &'static str) -> Case {
    Case {
        name,
        part,
        elements: 4,
    }
}

const COPIES: [Case; 4] = [
    copy("copy_of_vectors", "VECTORS"),
    copy("copy_by_blocks_ui4", "BLOCKS"),
    copy("copy_by_blocks_us8", "BLOCKS"),
    copy("copy_by_blocks_uc16", "BLOCKS"),
];

/// A measured kernel.
#[derive(PartialEq)]
struct Row {
    name: String,
    column: usize,
    /// Floats of a launch.
    count: usize,
    rounds: usize,
}

/// Seconds of one launch, one of each turn.
#[derive(Default)]
struct Figures(Vec<(Row, Vec<f64>)>);

impl Figures {
    fn put(&mut self, column: usize, name: &str, count: usize, rounds: usize, seconds: f64) {
        let name = match rounds {
            1 => name.to_owned(),
            _ => format!("{name}, {rounds} rounds"),
        };
        let row = Row {
            name,
            column,
            count,
            rounds,
        };
        match self.0.iter_mut().find(|(known, _)| *known == row) {
            Some((_, all)) => all.push(seconds),
            None => self.0.push((row, vec![seconds])),
        }
    }

    /// GB read and written in a second, and nanoseconds of one collective of a group.
    fn tables(self, columns: &[String]) -> [Table; 2] {
        let mut bandwidth = Table::new("Bytes read and written by a collective", columns);
        let mut collective = Table::new("One collective of a group", columns);
        for (row, seconds) in self.0 {
            let seconds = median(seconds);
            let rate = (row.count * 8) as f64 / seconds / 1e9;
            bandwidth.put(row.column, &row.name, Unit::GIGABYTES_PER_SECOND, rate);
            let collectives = (row.count / GROUP * row.rounds) as f64;
            let ns = seconds * 1e9 / collectives;
            collective.put(row.column, &row.name, Unit::less("ns"), ns);
        }
        [bandwidth, collective]
    }
}

/// What the first element of the result is, where that is easily said.
fn expected(case: Case, input: &[f32], rounds: usize) -> Option<f32> {
    let sum: f32 = input[..GROUP].iter().sum();
    match case.name {
        // All work-items of a group hold the same after a reduction.
        "sum_by_a_tree" | "work_group_reduce" if rounds == 1 => Some(sum / GROUP as f32),
        _ if case.elements > 1 => input.first().copied(),
        _ => None,
    }
}

struct Memory {
    source: Buffer<u8>,
    target: Buffer<u8>,
    input: Vec<f32>,
}

/// Seconds of one launch.
fn measure(
    context: &Context,
    queue: &CommandQueue,
    memory: &Memory,
    launches: usize,
    (case, rounds): (Case, usize),
) -> Result<f64> {
    let options = format!(
        "-cl-std=CL3.0 -DGROUP={GROUP} -DROUNDS={rounds} -D{}",
        case.part
    );
    let kernel = kernel(context, SOURCE, case.name, &options)?;
    set_buffer(&kernel, 0, &memory.source)?;
    set_buffer(&kernel, 1, &memory.target)?;
    write(queue, &memory.target, true, &[0; 4])?;
    let seconds = time(7, || {
        for _ in 0..launches {
            launch(queue, &kernel, memory.input.len() / case.elements, GROUP)?;
        }
        Ok(queue.finish()?)
    })?;
    let mut first = [0; 4];
    read(queue, &memory.target, true, &mut first)?;
    let found = f32::from_le_bytes(first);
    if expected(case, &memory.input, rounds).is_some_and(|wanted| (wanted - found).abs() > 1e-4) {
        return Err(format!("it is wrong: {found}").into());
    }
    Ok(seconds / launches as f64)
}

fn opencl(subject: &Subject, column: usize, figures: &mut Figures) -> Result<()> {
    let load = Load::of(subject.is_gpu());
    let (count, launches) = (load.elements, load.launches);
    let context = Context::from_device(&subject.device)?;
    let queue = queue(&context, 0)?;
    // The first is not 0, which is what the target holds before.
    let input: Vec<f32> = (0..count).map(|i| ((i + 1) * 7 % 13) as f32).collect();
    let bytes: Vec<u8> = input.iter().flat_map(|x| x.to_le_bytes()).collect();
    let memory = Memory {
        source: buffer(&context, count * 4)?,
        target: buffer(&context, count * 4)?,
        input,
    };
    write(&queue, &memory.source, true, &bytes)?;
    let once = COLLECTIVES.iter().chain(&COPIES).map(|case| (*case, 1));
    let often = COLLECTIVES.iter().map(|case| (*case, 16));
    for (case, rounds) in once.chain(often) {
        match measure(&context, &queue, &memory, launches, (case, rounds)) {
            Ok(seconds) => figures.put(column, case.name, count, rounds, seconds),
            Err(error) => println!("{}: {}: {error}", subject.name, case.name),
        }
    }
    Ok(())
}

/// The kernel as one would write it for Vulkan: two addresses in push constants.
fn assembly(operation: &str, rounds: usize) -> String {
    let mut text = format!(
        "OpCapability Shader
         OpCapability PhysicalStorageBufferAddresses
         OpCapability GroupNonUniformArithmetic
         OpExtension \"SPV_KHR_physical_storage_buffer\"
         OpMemoryModel PhysicalStorageBuffer64 GLSL450
         OpEntryPoint GLCompute %main \"main\" %id %push
         OpExecutionMode %main LocalSize {GROUP} 1 1
         OpDecorate %id BuiltIn GlobalInvocationId
         OpDecorate %floats ArrayStride 4
         OpDecorate %memory Block
         OpMemberDecorate %memory 0 Offset 0
         OpDecorate %block Block
         OpMemberDecorate %block 0 Offset 0
         OpMemberDecorate %block 1 Offset 8
         %void = OpTypeVoid
         %function = OpTypeFunction %void
         %uint = OpTypeInt 32 0
         %float = OpTypeFloat 32
         %uint3 = OpTypeVector %uint 3
         %id_pointer = OpTypePointer Input %uint3
         %floats = OpTypeRuntimeArray %float
         %memory = OpTypeStruct %floats
         %memory_pointer = OpTypePointer PhysicalStorageBuffer %memory
         %float_pointer = OpTypePointer PhysicalStorageBuffer %float
         %block = OpTypeStruct %memory_pointer %memory_pointer
         %block_pointer = OpTypePointer PushConstant %block
         %member_pointer = OpTypePointer PushConstant %memory_pointer
         %zero = OpConstant %uint 0
         %one = OpConstant %uint 1
         %subgroup = OpConstant %uint 3
         %factor = OpConstant %float 0.00390625
         %id = OpVariable %id_pointer Input
         %push = OpVariable %block_pointer PushConstant
         %main = OpFunction %void None %function
         %entry = OpLabel
         %ids = OpLoad %uint3 %id
         %i = OpCompositeExtract %uint %ids 0
         %from_at = OpAccessChain %member_pointer %push %zero
         %from = OpLoad %memory_pointer %from_at
         %to_at = OpAccessChain %member_pointer %push %one
         %to = OpLoad %memory_pointer %to_at
         %source = OpAccessChain %float_pointer %from %zero %i
         %x0 = OpLoad %float %source Aligned 4\n"
    );
    for round in 0..rounds {
        text += &format!(
            "%s{round} = OpGroupNonUniformFAdd %float %subgroup {operation} %x{round}
             %x{} = OpFMul %float %s{round} %factor\n",
            round + 1
        );
    }
    text += &format!(
        "%target = OpAccessChain %float_pointer %to %zero %i
         OpStore %target %x{rounds} Aligned 4
         OpReturn
         OpFunctionEnd\n"
    );
    text
}

fn assemble(text: &str) -> Result<Vec<u32>> {
    let mut assembler = Command::new("spirv-as")
        .args(["--target-env", "vulkan1.2", "-o", "-", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    // The text is far smaller than what spirv-as reads before it writes: nothing blocks.
    let mut input = assembler.stdin.take().ok_or("no standard input")?;
    input.write_all(text.as_bytes())?;
    drop(input);
    let output = assembler.wait_with_output()?;
    let words = output.stdout.chunks_exact(4);
    if output.status.success() {
        Ok(words
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect())
    } else {
        Err("spirv-as refuses the shader".into())
    }
}

/// A kernel launched by plain Vulkan.
struct Plain {
    words: Vec<u32>,
    /// `SpecId` and value.
    constants: Vec<(u32, u32)>,
    push: Vec<u8>,
}

/// The sub-group functions' counterparts in `column`, and in the next one the driver's code for them.
fn plain_vulkan(column: usize, figures: &mut Figures) -> Result<()> {
    let platform = Platform::instance();
    let device = platform.devices().first().ok_or("no Vulkan device")?;
    let vulkan = device.vulkan()?;
    let load = Load::of(device.kind() != DeviceType::Cpu);
    let (count, launches) = (load.elements, load.launches);
    let source = vulkan.create_buffer((count * 4) as u64, MemoryKind::Device)?;
    let target = vulkan.create_buffer((count * 4) as u64, MemoryKind::Device)?;
    let addresses = [&source, &target].map(|buffer| buffer.device_address().to_le_bytes());
    let timeline = Timeline::new(vulkan)?;
    let queue = vulkan.spare_queue();
    let mut value = 0;
    for rounds in [1, 16] {
        for (name, operation) in [
            ("sub_group_reduce", "Reduce"),
            ("sub_group_scan", "InclusiveScan"),
        ] {
            let by_hand = Plain {
                words: assemble(&assembly(operation, rounds))?,
                constants: Vec::new(),
                push: addresses.concat(),
            };
            let options = format!("-cl-std=CL3.0 -DGROUP={GROUP} -DROUNDS={rounds} -DFUNCTIONS");
            let code = VulkanCode::new(device, SOURCE, name, &options, false)?;
            let mut push = vec![0; code.block_bytes()];
            for (at, address) in code.offsets()?.into_iter().zip(addresses) {
                push[at..at + 8].copy_from_slice(&address);
            }
            let compiled = Plain {
                words: code.words().to_vec(),
                constants: code.constants([GROUP as u32, 1, 1]),
                push,
            };
            for (plain, column) in [by_hand, compiled].iter().zip(column..) {
                let module = ShaderModule::new(vulkan, &plain.words)?;
                let options = PipelineOptions::default();
                let pipeline = Pipeline::new(vulkan, &module, &plain.constants, options, None)?;
                let mut recorder = Recorder::reusable(vulkan)?;
                recorder.begin()?;
                for _ in 0..launches {
                    recorder.dispatch(&pipeline, &plain.push, [(count / GROUP) as u32, 1, 1]);
                    recorder.barrier(true);
                }
                recorder.end()?;
                let seconds = time(7, || {
                    value += 1;
                    vulkan.submit(queue, &[&recorder], &timeline, value)?;
                    while !timeline.wait(value, Duration::from_secs(2))? {}
                    Ok(())
                })?;
                figures.put(column, name, count, rounds, seconds / launches as f64);
            }
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let arguments = Arguments::parse(&[])?;
    let subjects = subjects(&arguments.names)?;
    let mut columns: Vec<String> = subjects.iter().map(|it| it.name.clone()).collect();
    columns.push("plain Vulkan".to_owned());
    columns.push("Pumice's code in plain Vulkan".to_owned());
    let mut figures = Figures::default();
    let turns = Load::of(subjects.iter().any(Subject::is_gpu)).turns;
    for _ in 0..turns {
        for (column, subject) in subjects.iter().enumerate() {
            if let Err(error) = opencl(subject, column, &mut figures) {
                println!("{}: {error}", subject.name);
            }
        }
        plain_vulkan(subjects.len(), &mut figures)?;
    }
    let report = Report {
        tables: figures.tables(&columns).into(),
        ..Report::default()
    };
    report.show("groups", arguments.out.as_deref())
}
