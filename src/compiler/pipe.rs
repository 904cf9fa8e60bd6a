//! Pipes (OpenCL C section 6.15.14) as memory: the layout that kernels and the runtime agree on.
//!
//! A pipe is a ring of packet slots behind a header of [`HEADER_BYTES`]. Packets are counted from the pipe's
//! creation on, modulo 2³²; packet `n` lies in slot `n` modulo the number of slots, a power of two, so that
//! the counters may wrap. Each side, writers and readers, has three counters ([`Counter`]):
//!
//! - *reserved*: packets that reservations were made for,
//! - *committed*: how many of them were committed, in whatever order,
//! - *visible*: how far the other side may go.
//!
//! Whoever commits and finds as many packets committed as are reserved knows that none is missing among them,
//! and moves *visible* there. So nobody ever waits for anybody, which not all devices would survive.
//! Everything is 32 bits wide: any device has atomics for it.
//!
//! A `reserve_id_t` holds the first packet in its low 32 bits and the number of packets in its high ones; 0
//! is no reservation.

/// Bytes before the first slot; also the alignment of the slots, that of the largest type.
pub const HEADER_BYTES: u32 = 256;

/// Byte offset of the number of packets that the pipe holds at most.
pub const MAX_PACKETS: u32 = 0;

/// Byte offset of the number of slots less 1.
pub const SLOT_MASK: u32 = 4;

/// Byte offset of the size of a packet.
pub const PACKET_BYTES: u32 = 8;

/// The counters of a side. Each side has a cache line of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    Reserved,
    Committed,
    Visible,
}

impl Counter {
    /// Byte offset in the pipe, of the writers' or of the readers' counter.
    pub fn offset_bytes(self, of_writers: bool) -> u32 {
        let side = if of_writers { 64 } else { 128 };
        side + match self {
            Self::Reserved => 0,
            Self::Committed => 4,
            Self::Visible => 8,
        }
    }
}

/// Slots of a pipe for `max_packets` packets.
pub fn slots(max_packets: u32) -> u64 {
    u64::from(max_packets).next_power_of_two()
}

/// Size of a pipe's memory, bytes.
pub fn size_bytes(packet_bytes: u32, max_packets: u32) -> u64 {
    u64::from(HEADER_BYTES) + slots(max_packets) * u64::from(packet_bytes)
}

/// The first bytes of an empty pipe's memory; the slots may hold anything.
pub fn header(packet_bytes: u32, max_packets: u32) -> [u8; HEADER_BYTES as usize] {
    let mut bytes = [0; HEADER_BYTES as usize];
    let mut put = |offset: u32, word: u32| {
        let at = offset as usize;
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
    };
    put(MAX_PACKETS, max_packets);
    put(SLOT_MASK, (slots(max_packets) - 1) as u32);
    put(PACKET_BYTES, packet_bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_a_power_of_two() {
        assert_eq!(slots(1), 1);
        assert_eq!(slots(5), 8);
        assert_eq!(slots(u32::MAX), 1 << 32);
        assert_eq!(size_bytes(12, 5), 256 + 96);
        let header = header(12, u32::MAX);
        assert_eq!(header[4..8], [0xff; 4]);
        assert_eq!(header[8], 12);
    }

    #[test]
    fn counters_do_not_overlap() {
        let mut all: Vec<u32> = [Counter::Reserved, Counter::Committed, Counter::Visible]
            .iter()
            .flat_map(|counter| [counter.offset_bytes(true), counter.offset_bytes(false)])
            .chain([MAX_PACKETS, SLOT_MASK, PACKET_BYTES])
            .collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] + 4 <= pair[1]));
        assert!(all.last().is_some_and(|last| last + 4 <= HEADER_BYTES));
    }
}
