//! The thread that calls the application back.
//!
//! Callbacks never run on a thread that is inside one of our functions: the application may hold a lock of
//! its own there which the callback wants too. The thread starts with the first callback.

use super::process::AtWork;
use crossbeam_channel::{Sender, unbounded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

type Job = Box<dyn FnOnce() + Send>;

/// Runs `job` soon, after all jobs sent before it.
pub fn send(job: Job) {
    static SENDER: OnceLock<Option<Sender<Job>>> = OnceLock::new();
    let sender = SENDER.get_or_init(|| {
        let (sender, receiver) = unbounded::<Job>();
        let spawned = std::thread::Builder::new()
            .name("pumice-notify".to_owned())
            .spawn(move || {
                for job in receiver {
                    // Once the process ends the application's data may be gone, and this does not return.
                    let _at_work = AtWork::begin();
                    if catch_unwind(AssertUnwindSafe(job)).is_err() {
                        log::error!("a panic in a callback");
                    }
                }
            });
        match spawned {
            Ok(_) => Some(sender),
            Err(error) => {
                log::error!("no thread for callbacks: {error}; they run where events complete");
                None
            }
        }
    });
    match sender {
        Some(sender) => {
            if let Err(unsent) = sender.send(job) {
                (unsent.into_inner())();
            }
        }
        None => job(),
    }
}
