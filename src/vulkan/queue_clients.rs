//! Which `VkQueue` a client gets.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most `VkQueue`s taken: what runs at once beyond this gains nothing.
pub(super) const MAX_QUEUES: u32 = 8;

/// How urgent the work of a queue is (cl_khr_priority_hints).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    High,
    Medium,
    Low,
}

/// The last `VkQueue`s of a device that has more are for these, from the last one backward.
pub(super) const UNUSUAL: [Priority; 2] = [Priority::High, Priority::Low];

/// How many clients each `VkQueue` of a device has.
///
/// What is submitted to one runs one after the other, so each client gets one of its own as long as there are any.
/// Those of the unusual priorities are the last to be given to clients of the usual one: they do better there than behind
/// each other.
pub(super) struct QueueClients(Mutex<Vec<u32>>);

impl QueueClients {
    pub fn new(queues: usize) -> Self {
        Self(Mutex::new(vec![0; queues.max(1)]))
    }

    /// The number of the `VkQueue` for a new client, until it [leaves](Self::leave).
    pub fn join(&self, priority: Priority) -> usize {
        let mut clients = self.lock();
        let usual = usual(clients.len());
        let unusual = UNUSUAL.iter().position(|unusual| *unusual == priority);
        let chosen = match unusual {
            Some(place) if usual < clients.len() => clients.len() - 1 - place,
            _ => least(&clients, 0..clients.len()),
        };
        if let Some(count) = clients.get_mut(chosen) {
            *count += 1;
        }
        chosen
    }

    /// A client of that `VkQueue` has gone.
    pub fn leave(&self, queue: usize) {
        if let Some(count) = self.lock().get_mut(queue) {
            *count = count.saturating_sub(1);
        }
    }

    /// The `VkQueue` for something short, the last one to be given to a client.
    pub fn spare(&self) -> usize {
        let clients = self.lock();
        least(&clients, (0..usual(clients.len())).rev())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many of so many `VkQueue`s are of the usual priority.
fn usual(queues: usize) -> usize {
    if queues > UNUSUAL.len() {
        queues - UNUSUAL.len()
    } else {
        queues
    }
}

/// The first of those that have the fewest clients.
fn least(clients: &[u32], queues: impl Iterator<Item = usize>) -> usize {
    queues
        .min_by_key(|&queue| clients.get(queue).copied())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(clients: &QueueClients, count: usize) -> Vec<usize> {
        (0..count).map(|_| clients.join(Priority::Medium)).collect()
    }

    #[test]
    fn each_client_gets_its_own_as_long_as_there_are_any() {
        let clients = QueueClients::new(8);
        let mut all = join(&clients, 8);
        // Those of unusual priorities come last.
        assert_eq!(all[..6], [0, 1, 2, 3, 4, 5]);
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4, 5, 6, 7]);
        // Then they share, whoever has left first.
        clients.leave(3);
        assert_eq!(join(&clients, 2), [3, 0]);
    }

    #[test]
    fn unusual_priorities_have_their_own() {
        let clients = QueueClients::new(8);
        let priorities = [Priority::High, Priority::Low, Priority::High];
        assert_eq!(priorities.map(|it| clients.join(it)), [7, 6, 7]);
        assert_eq!(join(&clients, 7), [0, 1, 2, 3, 4, 5, 0]);
        // Where there are few, nothing is reserved.
        let few = QueueClients::new(2);
        assert_eq!(priorities.map(|it| few.join(it)), [0, 1, 0]);
        assert_eq!(QueueClients::new(1).join(Priority::Low), 0);
    }

    #[test]
    fn what_is_short_goes_where_no_client_is_soon() {
        let clients = QueueClients::new(8);
        assert_eq!(clients.spare(), 5);
        join(&clients, 5);
        assert_eq!(clients.spare(), 5);
        join(&clients, 1);
        assert!(clients.spare() < 6);
        assert_eq!(QueueClients::new(1).spare(), 0);
    }
}
