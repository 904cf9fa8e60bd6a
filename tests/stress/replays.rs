//! Command buffers that several threads update and enqueue.
//!
//! Each thread has one of its own, on a queue of its own: every execution is preceded by an update of the value, the
//! buffer, the number of work-items and now and then the local size, which takes another recording. Two more, of two
//! queues, belong to all: one is updated and enqueued in turn, one enqueued at any time. The sums that all this leaves are
//! known to the host.

use super::setup::{COUNT, CommandBuffer, IN_ORDER, OUT_OF_ORDER, Setup, argument, config};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use opencl_sys::{
    CL_COMMAND_BUFFER_MUTABLE_KHR, cl_event, cl_mutable_command_khr, cl_mutable_dispatch_config_khr,
};
use opencl3::command_queue::CommandQueue;
use opencl3::event::Event;
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, ClMem};
use opencl3::program::Program;

const THREADS: u32 = 4;
/// Executions that a thread does not wait for.
const IN_FLIGHT: usize = 8;

/// What the threads work with.
pub struct Replays<'a> {
    setup: &'a Setup,
    own: Vec<Mutex<Own<'a>>>,
    together: Mutex<Together<'a>>,
    fixed: Fixed<'a>,
    /// What the command buffers of all are enqueued on.
    queues: [CommandQueue; 2],
}

/// A command buffer that may be updated, with its only launch.
struct Mutable<'a> {
    buffer: CommandBuffer<'a>,
    command: cl_mutable_command_khr,
}

// SAFETY: handles may be used on any thread; this is behind a mutex.
unsafe impl Send for Mutable<'_> {}

/// What one thread has.
struct Own<'a> {
    queue: CommandQueue,
    mutable: Mutable<'a>,
    targets: [Buffer<u32>; 2],
    expected: [Vec<u32>; 2],
    /// Of the last executions, the latest at the end.
    events: VecDeque<Event>,
}

/// What all update in turn.
struct Together<'a> {
    mutable: Mutable<'a>,
    sum: Buffer<u32>,
    expected: u32,
}

/// What all enqueue at any time.
struct Fixed<'a> {
    buffer: CommandBuffer<'a>,
    count: Buffer<u32>,
    executions: AtomicU32,
}

// SAFETY: it is enqueued only, which is thread-safe.
unsafe impl Sync for Fixed<'_> {}

impl<'a> Replays<'a> {
    pub fn new(setup: &'a Setup, program: &Program) -> Self {
        let queue = |flags| {
            CommandQueue::create_default_with_properties(&setup.context, flags, 0).expect("a queue")
        };
        let queues = [(); 2].map(|()| queue(IN_ORDER));
        let of_all: Vec<&CommandQueue> = queues.iter().collect();
        let zeroes = || {
            let mut buffer = setup.buffer();
            setup.write(&mut buffer, 0);
            buffer
        };
        let kernel = |target: &Buffer<u32>| {
            let kernel = Kernel::create(program, "add").expect("a kernel");
            // SAFETY: values of the right types.
            unsafe {
                kernel.set_arg(0, &target.get()).expect("an argument");
                kernel.set_arg(1, &1_u32).expect("an argument");
            }
            kernel
        };
        let mutable = |queues: &[&CommandQueue], kernel: &Kernel| {
            let buffer = setup.command_buffer_of(queues, CL_COMMAND_BUFFER_MUTABLE_KHR);
            buffer.on(queues[0]);
            let command = buffer.launch_mutable(kernel, &[]);
            assert_eq!(buffer.finalize(), 0);
            Mutable { buffer, command }
        };
        let own = |thread: u32| {
            let queue = queue(u64::from(thread % 2) * OUT_OF_ORDER);
            let targets = [(); 2].map(|()| zeroes());
            Mutex::new(Own {
                mutable: mutable(&[&queue], &kernel(&targets[0])),
                queue,
                targets,
                expected: [(); 2].map(|()| vec![0; COUNT]),
                events: VecDeque::new(),
            })
        };
        let sum = zeroes();
        let count = zeroes();
        let one = kernel(&count);
        let buffer = setup.command_buffer_of(&of_all, 0);
        let first = buffer.on(&queues[1]).launch(&one, &[]);
        buffer.on(&queues[0]).launch(&one, &[first]);
        assert_eq!(buffer.finalize(), 0);
        Self {
            setup,
            own: (0..THREADS).map(own).collect(),
            together: Mutex::new(Together {
                mutable: mutable(&of_all, &kernel(&sum)),
                sum,
                expected: 0,
            }),
            fixed: Fixed {
                buffer,
                count,
                executions: AtomicU32::new(0),
            },
            queues,
        }
    }

    /// The rounds of these numbers, each by one of the threads.
    pub fn rounds(&self, numbers: Range<u32>) {
        std::thread::scope(|scope| {
            for (thread, own) in (0..THREADS).zip(&self.own) {
                let numbers = numbers.clone().filter(move |it| it % THREADS == thread);
                scope.spawn(move || {
                    let mut own = lock(own);
                    for number in numbers {
                        self.round(&mut own, number / THREADS);
                    }
                    own.check(self.setup);
                });
            }
        });
        for queue in &self.queues {
            queue.finish().expect("the end");
        }
        let together = lock(&self.together);
        assert_eq!(
            self.setup.read(&together.sum),
            vec![together.expected; COUNT]
        );
        let executions = self.fixed.executions.load(Ordering::SeqCst);
        assert_eq!(
            self.setup.read(&self.fixed.count),
            vec![2 * executions; COUNT]
        );
    }

    fn round(&self, own: &mut Own<'a>, number: u32) {
        own.round(number);
        if number.is_multiple_of(8) {
            lock(&self.together).round(number);
        }
        if number % 8 == 4 {
            self.fixed.buffer.enqueue_unseen();
            self.fixed.executions.fetch_add(1, Ordering::SeqCst);
        }
        if number % 64 == 63 {
            self.queues[0].finish().expect("the end");
            own.check(self.setup);
        }
    }
}

impl Own<'_> {
    fn round(&mut self, number: u32) {
        let value = number.wrapping_mul(0x9e37_79b9);
        let at = number as usize % 2;
        let local = 1_usize << (number / 64 % 4);
        let size = 8 * (1 + number as usize % (COUNT / 8));
        let target = self.targets[at].get();
        let arguments = [argument(0, &target), argument(1, &value)];
        self.mutable.update(&cl_mutable_dispatch_config_khr {
            num_args: 2,
            arg_list: arguments.as_ptr(),
            global_work_size: &size,
            local_work_size: &local,
            ..config(self.mutable.command)
        });
        // What the queue does not order.
        let waits: Vec<cl_event> = self.events.back().map(Event::get).into_iter().collect();
        let event = self.mutable.buffer.enqueue_on(&mut [], &waits);
        self.events.push_back(event.expect("an execution"));
        if self.events.len() > IN_FLIGHT
            && let Some(oldest) = self.events.pop_front()
        {
            oldest.wait().expect("the end");
        }
        for sum in &mut self.expected[at][..size] {
            *sum = sum.wrapping_add(value);
        }
    }

    fn check(&self, setup: &Setup) {
        self.queue.finish().expect("the end");
        for (target, expected) in self.targets.iter().zip(&self.expected) {
            assert_eq!(setup.read(target), *expected);
        }
    }
}

impl Together<'_> {
    fn round(&mut self, number: u32) {
        let arguments = [argument(1, &number)];
        self.mutable.update(&cl_mutable_dispatch_config_khr {
            num_args: 1,
            arg_list: arguments.as_ptr(),
            ..config(self.mutable.command)
        });
        self.mutable.buffer.enqueue_unseen();
        self.expected = self.expected.wrapping_add(number);
    }
}

impl Mutable<'_> {
    fn update(&self, config: &cl_mutable_dispatch_config_khr) {
        assert_eq!(self.buffer.update(std::slice::from_ref(config)), 0);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
