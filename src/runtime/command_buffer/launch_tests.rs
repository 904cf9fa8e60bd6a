//! Launches of kernels in a command buffer: what an update writes, what is kept alive, and what printing takes.

use super::instance::Instance;
use super::mutable::{Launch, MutableCommand, NewLaunch, Update};
use super::values::NewValue;
use super::{CommandBuffer, NewCommand, Origin};
use crate::runtime::allocation::Allocation;
use crate::runtime::command::{Arguments, Command};
use crate::runtime::dispatch::NdRange;
use crate::runtime::event::Event;
use crate::runtime::kernel::{ArgumentValue, Kernel};
use crate::runtime::memory::Memory;
use crate::runtime::program::Program;
use crate::runtime::queue::{Queue, Waits};
use crate::runtime::test_queue;
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
        let first = first.map_or(Command::Nothing, Command::Dispatch);
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

fn update(command: &Arc<MutableCommand>, change: impl FnOnce(&mut Launch)) {
    let buffer = command.buffer().unwrap();
    let make = || {
        let mut launch = command.launch();
        launch.kernel = launch.kernel.duplicate();
        change(&mut launch);
        Ok(vec![Update::new(Arc::clone(command), launch)?])
    };
    buffer.update(make).unwrap();
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
    let is_write = |command, change: &dyn Fn(&mut Launch)| {
        let before = current(&buffer);
        update(command, change);
        Arc::ptr_eq(&before, &current(&buffer))
    };
    assert!(is_write(&add, &|launch| launch
        .kernel
        .set_argument(1, number(2))));
    let other = memory(&memories[1]);
    assert!(is_write(&gather, &|launch| launch
        .kernel
        .set_argument(0, other.clone())));
    // Half as many, and further on.
    assert!(is_write(&add, &|launch| {
        launch.range.global[0] = COUNT / 2;
        launch.range.offset[0] = 3;
    }));
    assert!(is_write(&add, &|launch| launch.range.global[0] = 0));
    assert!(is_write(&add, &|launch| launch.range.global[0] = COUNT));
    assert!(Arc::ptr_eq(&first, &current(&buffer)));
    // Another pipeline, or one more dispatch.
    assert!(!is_write(&gather, &|launch| launch.range = range(COUNT, Some(16))));
    assert!(!is_write(&gather, &|launch| {
        launch
            .kernel
            .set_argument(1, ArgumentValue::LocalBytes(8 * COUNT));
    }));
    assert!(!is_write(&gather, &|launch| launch.range.global[0] = COUNT - 1));
    assert!(!is_write(&empty, &|launch| launch.range.global[0] = COUNT));
    // What is chosen for 256 work-items does not divide 7.
    assert!(is_write(&free, &|launch| launch.range.global[0] = 2 * COUNT));
    assert!(!is_write(&free, &|launch| launch.range.global[0] = 7));
}

#[test]
fn values_alone_are_written_and_nothing_else_is_taken_for_them() {
    let Some(setup) = Setup::new() else { return };
    let target = setup.memory();
    let buffer = setup.buffer();
    let add = setup.record(&buffer, &setup.kernel("add", &target, 1));
    let say = setup.record(&buffer, &setup.kernel("say", &target, 1));
    buffer.finalize().unwrap();
    let first = current(&buffer);
    let value = |command: &Arc<MutableCommand>, index, bytes| NewValue {
        command: Arc::clone(command),
        index,
        bytes,
    };
    let bytes = |command: &Arc<MutableCommand>| {
        let state = buffer.lock();
        let dispatch = state.nodes[command.launch().node].dispatch().unwrap();
        match &dispatch.regions[0].arguments {
            Arguments::Block(block) | Arguments::PushConstants(block) => block.to_vec(),
        }
    };
    let before = [bytes(&add), bytes(&say)];
    let (two, three, address) = ([2, 0, 0, 0], [3, 0, 0, 0], [0; 8]);
    // What is no value has more to it.
    for other in [value(&add, 0, &address), value(&add, 9, &two)] {
        let values = [value(&say, 1, &two), other];
        assert!(!buffer.update_values(&values).unwrap());
        assert_eq!([bytes(&add), bytes(&say)], before);
        assert!(say.launch().kernel.argument(1).is_same(&number(1)));
    }
    assert!(
        buffer
            .update_values(&[value(&add, 1, &two), value(&add, 1, &three)])
            .unwrap()
    );
    assert!(Arc::ptr_eq(&first, &current(&buffer)));
    assert!(add.launch().kernel.argument(1).is_same(&number(3)));
    // As if it had been prepared with it.
    let written = bytes(&add);
    assert_ne!(written, before[0]);
    update(&add, |launch| launch.kernel.set_argument(1, number(3)));
    assert_eq!(bytes(&add), written);
    // What prints is recorded anew, with the value.
    let second = current(&buffer);
    assert!(buffer.update_values(&[value(&say, 1, &two)]).unwrap());
    assert!(!Arc::ptr_eq(&second, &current(&buffer)));
    assert_ne!(bytes(&say), before[1]);
}

#[test]
fn an_update_of_what_prints_is_a_recording() {
    let Some(setup) = Setup::new() else { return };
    let target = setup.memory();
    let buffer = setup.buffer();
    let say = setup.record(&buffer, &setup.kernel("say", &target, 1));
    buffer.finalize().unwrap();
    let first = current(&buffer);
    update(&say, |launch| launch.kernel.set_argument(1, number(2)));
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
        update(&add, |launch| launch.kernel.set_argument(1, number(value)));
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
        update(&add, |launch| launch.kernel.set_argument(1, number(value)));
        assert!(known.iter().any(|it| Arc::ptr_eq(it, &current(&buffer))));
    }
}

#[test]
fn a_replaced_argument_is_let_go() {
    let Some(setup) = Setup::new() else { return };
    let mut targets: Vec<_> = (0..4).map(|_| setup.memory()).collect();
    let allocations: Vec<Weak<Allocation>> = targets
        .iter()
        .map(|it| Arc::downgrade(&it.place(&setup.queue).unwrap().allocation))
        .collect();
    let buffer = setup.buffer();
    let add = setup.record(&buffer, &setup.kernel("add", &targets[0], 1));
    buffer.finalize().unwrap();
    // Three recordings are needed, each with arguments of its own.
    let mut frames = Vec::new();
    for target in &targets[1..] {
        frames.push(setup.enqueue_held(&buffer));
        let target = memory(target);
        update(&add, move |launch| launch.kernel.set_argument(0, target));
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
        match (0..3).any(held) {
            true => std::thread::sleep(Duration::from_millis(5)),
            false => break,
        }
    }
    assert_eq!(
        [held(0), held(1), held(2), held(3)],
        [false, false, false, true]
    );
    // Replaced while nothing executes.
    let new = setup.memory();
    update(&add, |launch| launch.kernel.set_argument(0, memory(&new)));
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
        let allocation = Arc::downgrade(&target.place(&setup.queue).unwrap().allocation);
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
        update(&command, |launch| launch.kernel.set_argument(1, number(2)));
        finish(
            &buffer
                .enqueue(&[], &mut Waits::default(), true)
                .unwrap()
                .unwrap(),
        );
        assert!(allocation.strong_count() > 0);
        let other = setup.memory();
        update(&command, |launch| {
            launch.kernel.set_argument(0, memory(&other))
        });
        assert_eq!(allocation.strong_count(), 0, "{name}");
    }
}

#[test]
fn printing_in_recordings_takes_no_buffers_from_launches() {
    let Some(setup) = Setup::new() else { return };
    let printf = setup.queue.device().printf();
    let target = setup.memory();
    let say = setup.kernel("say", &target, 1);
    let buffer = setup.buffer();
    let before = printf.buffers();
    // More than a device lets launches have.
    for _ in 0..40 {
        setup.record(&buffer, &say);
    }
    assert_eq!(printf.buffers(), before);
    buffer.finalize().unwrap();
    assert_eq!(printf.buffers(), before);
    let first = current(&buffer);
    let value = || setup.queue.lock().in_flight.back().map(|batch| batch.value);
    for _ in 0..3 {
        assert!(
            buffer
                .enqueue(&[], &mut Waits::default(), false)
                .unwrap()
                .is_none()
        );
        setup.queue.flush();
        // Done, but nobody has looked.
        setup.queue.wait_timeline(value().unwrap());
        assert!(!first.is_idle());
    }
    assert!(Arc::ptr_eq(&first, &current(&buffer)));
    assert_eq!(printf.buffers(), before);
    setup.queue.finish().unwrap();
}
