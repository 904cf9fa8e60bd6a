//! Launches of kernels in a command buffer: what an update writes, what is kept alive, and what printing takes.

use super::instance::Instance;
use super::mutable::{MutableCommand, NewLaunch};
use super::update::{Change, Changes, Replacement};
use super::{CommandBuffer, NewCommand, Origin};
use crate::runtime::allocation::Allocation;
use crate::runtime::event::Event;
use crate::runtime::event::waits::Waits;
use crate::runtime::launch::argument::ArgumentValue;
use crate::runtime::launch::kernel::Kernel;
use crate::runtime::launch::nd_range::NdRange;
use crate::runtime::memory::Memory;
use crate::runtime::program::Program;
use crate::runtime::queue::Queue;
use crate::runtime::{Error, test_queue};
use opencl_sys::{
    CL_COMMAND_BUFFER_MUTABLE_KHR, CL_COMPLETE, CL_MEM_READ_WRITE, cl_mutable_dispatch_fields_khr,
};
use std::sync::{Arc, Weak};
use std::time::Duration;

const SOURCE: &str = r#"
kernel void add(global uint *out, uint value) { out[get_global_id(0)] += value; }
kernel void gather(global uint *out, local uint *room, uint value) {
    room[get_local_id(0)] = value;
    out[get_global_id(0)] = room[get_local_id(0)];
}
kernel void say(global uint *out, uint value) { printf("%u\n", value); out[0] = value; }
"#;
const COUNT: u64 = 256;
const ALL_FIELDS: cl_mutable_dispatch_fields_khr = cl_mutable_dispatch_fields_khr::MAX;

struct Setup {
    queue: Arc<Queue>,
    program: Arc<Program>,
}

impl Setup {
    fn new() -> Option<Self> {
        let queue = test_queue::new(0)?;
        let program = test_queue::program(&queue, SOURCE)?;
        Some(Self { queue, program })
    }

    fn memory(&self) -> Arc<Memory> {
        let (context, bytes) = (self.queue.context(), COUNT as usize * 4);
        // SAFETY: no host pointer.
        unsafe { Memory::buffer(context, CL_MEM_READ_WRITE, bytes, None, Vec::new()) }.unwrap()
    }

    /// `add` or `say`.
    fn kernel(&self, name: &str, target: &Arc<Memory>, value: u32) -> Arc<Kernel> {
        let kernel = Kernel::new(&self.program, name).unwrap();
        kernel.set_argument(0, memory(target));
        kernel.set_argument(1, number(value));
        kernel
    }

    fn buffer(&self) -> Arc<CommandBuffer> {
        let queues = vec![Arc::clone(&self.queue)];
        CommandBuffer::new(queues, None, CL_COMMAND_BUFFER_MUTABLE_KHR)
    }

    fn record(&self, buffer: &Arc<CommandBuffer>, kernel: &Arc<Kernel>) -> Arc<MutableCommand> {
        self.record_range(buffer, kernel, range(COUNT, Some(32)))
    }

    fn record_range(
        &self,
        buffer: &Arc<CommandBuffer>,
        kernel: &Arc<Kernel>,
        range: NdRange,
    ) -> Arc<MutableCommand> {
        let launch = NewLaunch {
            queue: Arc::clone(&self.queue),
            kernel: Arc::clone(kernel),
            properties: None,
            fields: ALL_FIELDS,
            range,
        };
        let (command, first) = launch.prepare(buffer).unwrap();
        let origin = Origin::Mutable(Arc::clone(&command));
        buffer.add(NewCommand::new(first, origin)).unwrap();
        command
    }

    /// An execution that does not begin before the event is set.
    fn enqueue_held(&self, buffer: &Arc<CommandBuffer>) -> (Arc<Event>, Arc<Event>) {
        let gate = Event::of_user(self.queue.context());
        let held = buffer
            .enqueue(&[], &mut Waits::on(&[Arc::clone(&gate)]), true)
            .unwrap();
        (gate, held.unwrap())
    }
}

fn memory(memory: &Arc<Memory>) -> ArgumentValue {
    ArgumentValue::Memory(Some(Arc::downgrade(memory)))
}

fn number(value: u32) -> ArgumentValue {
    ArgumentValue::Bytes(value.to_le_bytes().into_iter().collect())
}

fn range(global: u64, local: Option<u64>) -> NdRange {
    NdRange {
        dimensions: 1,
        offset: [0; 3],
        global: [global, 1, 1],
        local: local.map(|local| [local, 1, 1]),
    }
}

/// Nothing yet.
fn change_of(command: &MutableCommand) -> Change {
    Change {
        arguments: Default::default(),
        indirect: None,
        range: command.range(),
    }
}

fn update(command: &Arc<MutableCommand>, change: impl FnOnce(&mut Change)) {
    let buffer = command.buffer().unwrap();
    let mut new = change_of(command);
    change(&mut new);
    let make = |changes: &mut Changes| {
        changes.make(Arc::clone(command), new);
        Ok(())
    };
    buffer.update(make).unwrap();
}

fn set(index: u32, value: ArgumentValue) -> impl Fn(&mut Change) {
    move |change| change.arguments.push((index, value.clone()))
}

/// The argument block of the launch as it is recorded next; `None` while arguments are missing.
fn block(command: &MutableCommand) -> Option<Vec<u8>> {
    let buffer = command.buffer().unwrap();
    let state = buffer.lock();
    let launch = state.nodes[command.node().unwrap()].launch()?;
    Some(launch.regions[0].arguments.to_vec())
}

fn current(buffer: &CommandBuffer) -> Arc<Instance> {
    Arc::clone(buffer.lock().versions.current().unwrap())
}

fn finish(event: &Event) {
    assert_eq!(event.wait(), CL_COMPLETE);
}

#[test]
fn an_update_is_a_write_where_the_pipeline_stays() {
    let Some(setup) = Setup::new() else { return };
    let memories = [setup.memory(), setup.memory()];
    let buffer = setup.buffer();
    let add = setup.record(&buffer, &setup.kernel("add", &memories[0], 1));
    let gather = Kernel::new(&setup.program, "gather").unwrap();
    gather.set_argument(0, memory(&memories[0]));
    gather.set_argument(1, ArgumentValue::LocalBytes(4 * COUNT));
    gather.set_argument(2, number(1));
    let gather = setup.record(&buffer, &gather);
    let another = setup.kernel("add", &memories[0], 1);
    let empty = setup.record_range(&buffer, &another, range(0, Some(32)));
    let free = setup.record_range(&buffer, &another, range(COUNT, None));
    buffer.finalize().unwrap();
    let first = current(&buffer);
    let is_write = |command, change: &dyn Fn(&mut Change)| {
        let before = current(&buffer);
        update(command, change);
        Arc::ptr_eq(&before, &current(&buffer))
    };
    assert!(is_write(&add, &set(1, number(2))));
    let other = memory(&memories[1]);
    assert!(is_write(&gather, &set(0, other.clone())));
    // Half as many, and further on.
    assert!(is_write(&add, &|change| {
        change.range.global[0] = COUNT / 2;
        change.range.offset[0] = 3;
    }));
    assert!(is_write(&add, &|change| change.range.global[0] = 0));
    assert!(is_write(&add, &|change| change.range.global[0] = COUNT));
    assert!(Arc::ptr_eq(&first, &current(&buffer)));
    // Another pipeline, or one more dispatch.
    assert!(!is_write(&gather, &|change| change.range = range(COUNT, Some(16))));
    assert!(!is_write(
        &gather,
        &set(1, ArgumentValue::LocalBytes(8 * COUNT))
    ));
    assert!(!is_write(&gather, &|change| change.range.global[0] = COUNT - 1));
    assert!(!is_write(&empty, &|change| change.range.global[0] = COUNT));
    // What is chosen for 256 work-items does not divide 7.
    assert!(is_write(&free, &|change| change.range.global[0] = 2 * COUNT));
    assert!(!is_write(&free, &|change| change.range.global[0] = 7));
}

#[test]
fn an_update_that_fails_changes_nothing() {
    let Some(setup) = Setup::new() else { return };
    let target = setup.memory();
    let buffer = setup.buffer();
    let add = setup.record(&buffer, &setup.kernel("add", &target, 1));
    let without = Kernel::new(&setup.program, "add").unwrap();
    without.set_argument(0, memory(&target));
    let without = setup.record(&buffer, &without);
    buffer.finalize().unwrap();
    let launched =
        || [&add, &without].map(|it| (block(it), it.range(), it.launched().has_all_arguments()));
    let before = launched();
    let change = |command: &Arc<MutableCommand>, change: &dyn Fn(&mut Change)| {
        let mut new = change_of(command);
        change(&mut new);
        (Arc::clone(command), new)
    };
    let half = |change: &mut Change| change.range.global[0] = COUNT / 2;
    let too_large = |change: &mut Change| change.range.local = Some([1 << 20, 1, 1]);
    let twice = |change: &mut Change| {
        set(1, number(3))(change);
        set(1, number(4))(change);
    };
    for last_is_wrong in [false, true] {
        let failed = buffer.update(|changes| {
            let steps = [
                change(&add, &twice),
                change(&add, &half),
                change(&without, &twice),
            ];
            for (command, change) in steps {
                changes.make(command, change);
            }
            if last_is_wrong {
                // Of what is made only when all changes are known.
                let (command, change) = change(&without, &too_large);
                changes.make(command, change);
                Ok(())
            } else {
                Err(Error::invalid_value("found by who makes them"))
            }
        });
        assert!(failed.is_err());
        assert!(launched() == before);
        assert!(add.launched().argument(1).is_same(&number(1)));
    }
    // The later of two counts.
    update(&without, twice);
    update(&add, half);
    let after = launched();
    assert!(without.launched().argument(1).is_same(&number(4)));
    assert!(after[1].0.is_some() && after[1].2);
    assert_eq!(after[0].1, range(COUNT / 2, Some(32)));
}

#[test]
fn what_was_exchanged_twice_is_as_before() {
    let Some(setup) = Setup::new() else { return };
    let (target, other) = (setup.memory(), setup.memory());
    let buffer = setup.buffer();
    let add = setup.record(&buffer, &setup.kernel("add", &target, 1));
    buffer.finalize().unwrap();
    let exchange = |replacements: &mut [Replacement]| {
        for replacement in replacements {
            let node = replacement.node;
            replacement.exchange(&mut buffer.lock().nodes[node]);
        }
    };
    let before = block(&add);
    let mut changes = Changes::default();
    // One value twice at once, another buffer with a value, the value alone.
    let steps: [&[_]; 3] = [
        &[(1, number(2)), (1, number(3))],
        &[(0, memory(&other)), (1, number(4))],
        &[(1, number(5))],
    ];
    for arguments in steps {
        let mut change = change_of(&add);
        change.arguments.extend(arguments.iter().cloned());
        changes.make(Arc::clone(&add), change);
    }
    let mut replacements = Vec::new();
    changes.prepare(&mut replacements).unwrap();
    assert_eq!(replacements.len(), 3);
    exchange(&mut replacements);
    let after = block(&add);
    assert!(
        after
            .as_ref()
            .unwrap()
            .windows(4)
            .any(|bytes| bytes == [5, 0, 0, 0])
    );
    assert_ne!(after, before);
    replacements.reverse();
    exchange(&mut replacements);
    assert_eq!(block(&add), before);
}

#[test]
fn an_update_of_what_prints_is_a_recording() {
    let Some(setup) = Setup::new() else { return };
    let target = setup.memory();
    let buffer = setup.buffer();
    let say = setup.record(&buffer, &setup.kernel("say", &target, 1));
    buffer.finalize().unwrap();
    let first = current(&buffer);
    update(&say, set(1, number(2)));
    assert!(!Arc::ptr_eq(&first, &current(&buffer)));
}

#[test]
fn frames_in_flight_take_turns_with_their_recordings() {
    let Some(setup) = Setup::new() else { return };
    let target = setup.memory();
    let buffer = setup.buffer();
    let add = setup.record(&buffer, &setup.kernel("add", &target, 1));
    buffer.finalize().unwrap();
    let mut frames = Vec::new();
    for value in 0..3 {
        frames.push((current(&buffer), setup.enqueue_held(&buffer)));
        update(&add, set(1, number(value)));
    }
    let mut known: Vec<_> = frames
        .iter()
        .map(|(instance, _)| Arc::clone(instance))
        .collect();
    known.push(current(&buffer));
    for (_, (gate, held)) in frames {
        gate.set_user_status(CL_COMPLETE).unwrap();
        finish(&held);
    }
    for value in 0..20 {
        finish(
            &buffer
                .enqueue(&[], &mut Waits::default(), true)
                .unwrap()
                .unwrap(),
        );
        update(&add, set(1, number(value)));
        assert!(known.iter().any(|it| Arc::ptr_eq(it, &current(&buffer))));
    }
}

#[test]
fn a_replaced_argument_is_let_go() {
    let Some(setup) = Setup::new() else { return };
    let mut targets: Vec<_> = (0..4).map(|_| setup.memory()).collect();
    let allocations: Vec<Weak<Allocation>> = targets
        .iter()
        .map(|it| Arc::downgrade(&it.place(setup.queue.context_device()).unwrap().allocation))
        .collect();
    let buffer = setup.buffer();
    let add = setup.record(&buffer, &setup.kernel("add", &targets[0], 1));
    buffer.finalize().unwrap();
    // Three recordings are needed, each with arguments of its own.
    let mut frames = Vec::new();
    for target in &targets[1..] {
        frames.push(setup.enqueue_held(&buffer));
        let target = memory(target);
        update(&add, set(0, target));
    }
    // All of them are done, and nobody tells but the events.
    let last = targets.pop();
    targets.clear();
    assert!(allocations.iter().all(|it| it.strong_count() > 0), "in use");
    for (gate, held) in &frames {
        gate.set_user_status(CL_COMPLETE).unwrap();
        finish(held);
    }
    let held = |which: usize| allocations[which].strong_count() > 0;
    // Another thread may see their end.
    for _ in 0..2000 {
        if (0..3).any(held) {
            std::thread::sleep(Duration::from_millis(5))
        } else {
            break;
        }
    }
    assert_eq!(
        [held(0), held(1), held(2), held(3)],
        [false, false, false, true]
    );
    // Replaced while nothing executes.
    let new = setup.memory();
    update(&add, set(0, memory(&new)));
    drop(last);
    assert!(!held(3));
    finish(
        &buffer
            .enqueue(&[], &mut Waits::default(), true)
            .unwrap()
            .unwrap(),
    );
}

#[test]
fn a_released_argument_lives_as_long_as_the_command_uses_it() {
    let Some(setup) = Setup::new() else { return };
    for name in ["add", "say"] {
        let target = setup.memory();
        let allocation = Arc::downgrade(
            &target
                .place(setup.queue.context_device())
                .unwrap()
                .allocation,
        );
        let buffer = setup.buffer();
        let command = setup.record(&buffer, &setup.kernel(name, &target, 1));
        drop(target);
        buffer.finalize().unwrap();
        let (gate, held) = setup.enqueue_held(&buffer);
        // One more recording.
        let second = buffer
            .enqueue(&[], &mut Waits::default(), true)
            .unwrap()
            .unwrap();
        gate.set_user_status(CL_COMPLETE).unwrap();
        finish(&held);
        finish(&second);
        update(&command, set(1, number(2)));
        finish(
            &buffer
                .enqueue(&[], &mut Waits::default(), true)
                .unwrap()
                .unwrap(),
        );
        assert!(allocation.strong_count() > 0);
        let other = setup.memory();
        update(&command, set(0, memory(&other)));
        assert_eq!(allocation.strong_count(), 0, "{name}");
    }
}

#[test]
fn printing_in_recordings_takes_no_buffers_from_launches() {
    let Some(setup) = Setup::new() else { return };
    let printf = setup.queue.device().printf_buffers();
    let target = setup.memory();
    let say = setup.kernel("say", &target, 1);
    let buffer = setup.buffer();
    let before = printf.in_use();
    // More than a device lets launches have.
    for _ in 0..40 {
        setup.record(&buffer, &say);
    }
    assert_eq!(printf.in_use(), before);
    buffer.finalize().unwrap();
    assert_eq!(printf.in_use(), before);
    let first = current(&buffer);
    for _ in 0..3 {
        assert!(
            buffer
                .enqueue(&[], &mut Waits::default(), false)
                .unwrap()
                .is_none()
        );
        setup.queue.flush();
        // Done, but nobody has looked.
        setup.queue.wait_for_device();
        assert!(!first.is_idle());
    }
    assert!(Arc::ptr_eq(&first, &current(&buffer)));
    assert_eq!(printf.in_use(), before);
    setup.queue.finish().unwrap();
}
