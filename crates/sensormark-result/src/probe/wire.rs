//! Bytes on the wire of a process tree's TCP connections, or of those of a server's port, from the sockets' own counters. Each connection keeps its last known
//! count once it is closed, so it has to be sampled before that. What a connection carried after its last sample is not in the sum. UDP is not here: the kernel
//! does not count it by socket, so who sends it counts it.
//!
//! Where the kernel has no `sock_diag`, there is no figure, and a note says why. The loopback interface's bytes of the host sample then stand in. They count
//! every program's traffic, each byte once.
//!
//! Only one end of a connection is counted in one tree. A connection between two trees appears in both, once as sent
//! and once as received.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::sock_diag::TcpConnection;

/// Which connections belong to a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireScope {
    /// Those whose sockets the tree's processes hold (`/proc/PID/fd`; needs the right to trace them).
    Sockets,
    /// Those with this local port, whoever holds them: for a server that runs as another user, or was not started here.
    ServerPort(u16),
}

impl WireScope {
    /// The connections of a server with these ports; none without a port. Of several ports, those that its processes hold.
    pub const fn of_server(ports: &[u16]) -> Option<Self> {
        match ports {
            [] => None,
            [port] => Some(Self::ServerPort(*port)),
            _ => Some(Self::Sockets),
        }
    }
}

/// Bytes on the wire since the tree was attached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireSample {
    /// Payload sent (retransmissions included).
    pub sent_payload_bytes: u64,
    /// Payload received.
    pub received_payload_bytes: u64,
    /// Segments sent, pure acknowledgements included.
    pub sent_segments: u64,
    /// Segments received, pure acknowledgements included.
    pub received_segments: u64,
    /// Sent on the wire: payload + segments × headers, where headers are IP 20 (version 6: 40) + TCP 20 + 12 where
    /// timestamps are on. Ethernet is not in it; datagrams follow the same rule (`sensormark_store::wire`).
    pub sent_wire_bytes: u64,
    /// Received on the wire, by the same formula.
    pub received_wire_bytes: u64,
    /// Segments that were sent more than once.
    #[serde(default)]
    pub retransmitted_segments: u64,
    /// Mean of the open connections' smoothed round-trip times, as the kernel keeps them; absent while there are none.
    #[serde(default)]
    pub round_trip_ns: Option<u64>,
    /// Connections that were open at this sample.
    pub open_connections: u64,
    /// Connections seen since the tree was attached, closed ones included.
    pub connections: u64,
}

/// Follows connections from sample to sample.
#[derive(Debug)]
pub(crate) struct WireCounter {
    scope: WireScope,
    /// Connections of the whole machine, so that each is looked up once.
    known: HashMap<u64, Known>,
    /// What those of the tree carried that are closed for good.
    closed: WireSample,
    attached: bool,
}

/// After so many listings without it, a connection is closed for good: one alone may miss an open one.
const MISSES: u32 = 60;

#[derive(Debug)]
struct Known {
    is_ours: bool,
    /// How many listings in a row were without it.
    misses: u32,
    last: TcpConnection,
    /// What it had carried before the tree was attached.
    before: Option<TcpConnection>,
}

impl WireCounter {
    pub fn new(scope: WireScope) -> Self {
        Self { scope, known: HashMap::new(), closed: WireSample::default(), attached: false }
    }

    /// Takes a listing in. `pids` are the tree's live processes.
    pub fn sample(&mut self, listing: &[TcpConnection], pids: &[i32]) -> WireSample {
        self.learn_owners(listing, pids);
        for known in self.known.values_mut() {
            known.misses += 1;
        }
        for connection in listing {
            if let Some(known) = self.known.get_mut(&connection.cookie) {
                known.misses = 0;
                known.last = *connection;
            }
        }
        self.attached = true;
        self.forget();
        self.sum()
    }

    /// Lets go of what is closed: of others at once, and of the tree's own when it is sure.
    fn forget(&mut self) {
        let closed = &mut self.closed;
        self.known.retain(|_, known| {
            let is_over = known.misses > if known.is_ours { MISSES } else { 0 };
            if is_over && known.is_ours {
                known.add_to(closed);
            }
            !is_over
        });
    }

    fn learn_owners(&mut self, listing: &[TcpConnection], pids: &[i32]) {
        let new: Vec<_> =
            listing.iter().filter(|connection| !self.known.contains_key(&connection.cookie)).collect();
        if new.is_empty() {
            return;
        }
        let inodes = match self.scope {
            WireScope::Sockets => socket_inodes(pids),
            WireScope::ServerPort(_) => HashSet::new(),
        };
        for connection in new {
            let is_ours = match self.scope {
                // Nobody holds it yet: it may be ours when it is accepted.
                WireScope::Sockets if connection.inode == 0 => continue,
                WireScope::Sockets => inodes.contains(&connection.inode),
                WireScope::ServerPort(port) => connection.local_port == port,
            };
            let known = Known {
                is_ours,
                misses: 0,
                last: *connection,
                before: (!self.attached).then_some(*connection),
            };
            self.known.insert(connection.cookie, known);
        }
    }

    fn sum(&self) -> WireSample {
        let mut sum = self.closed;
        let (mut timed, mut round_trips_ns) = (0, 0);
        for known in self.known.values().filter(|known| known.is_ours) {
            known.add_to(&mut sum);
            let is_open = known.misses == 0;
            if is_open && known.last.round_trip_ns > 0 {
                timed += 1;
                round_trips_ns += known.last.round_trip_ns;
            }
            sum.open_connections += u64::from(is_open);
        }
        sum.round_trip_ns = (timed > 0).then(|| round_trips_ns / timed);
        sum
    }
}

impl Known {
    /// Adds what it carried since the tree was attached.
    fn add_to(&self, sum: &mut WireSample) {
        let last = &self.last;
        let since =
            |now: u64, before: fn(&TcpConnection) -> u64| now - self.before.as_ref().map_or(0, before);
        let sent = since(last.sent_bytes, |c| c.sent_bytes);
        let received = since(last.received_bytes, |c| c.received_bytes);
        let sent_segments = since(last.sent_segments, |c| c.sent_segments);
        let received_segments = since(last.received_segments, |c| c.received_segments);
        sum.sent_payload_bytes += sent;
        sum.received_payload_bytes += received;
        sum.sent_segments += sent_segments;
        sum.received_segments += received_segments;
        sum.sent_wire_bytes += sent + sent_segments * last.header_bytes;
        sum.received_wire_bytes += received + received_segments * last.header_bytes;
        sum.retransmitted_segments += since(last.retransmitted_segments, |c| c.retransmitted_segments);
        sum.connections += 1;
    }
}

/// The inodes of all sockets that these processes hold.
pub(super) fn socket_inodes(pids: &[i32]) -> HashSet<u64> {
    pids.iter()
        .filter_map(|pid| std::fs::read_dir(format!("/proc/{pid}/fd")).ok())
        .flat_map(|listing| listing.flatten())
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .filter_map(|target| {
            let inside = target.to_str()?.strip_prefix("socket:[")?;
            inside.strip_suffix(']')?.parse().ok()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(cookie: u64, sent_bytes: u64, sent_segments: u64) -> TcpConnection {
        TcpConnection {
            cookie,
            inode: cookie,
            local_port: 5432,
            sent_bytes,
            received_bytes: 0,
            sent_segments,
            received_segments: 0,
            retransmitted_segments: cookie,
            round_trip_ns: 1_000 * cookie,
            header_bytes: 52,
        }
    }

    #[test]
    fn a_closed_connection_keeps_its_last_count_and_earlier_bytes_do_not_count() {
        let mut counter = WireCounter::new(WireScope::ServerPort(5432));
        assert_eq!(counter.sample(&[connection(1, 100, 2)], &[]).sent_payload_bytes, 0);
        let grown = counter.sample(&[connection(1, 150, 3), connection(2, 1000, 10)], &[]);
        assert_eq!((grown.sent_payload_bytes, grown.sent_wire_bytes), (1050, 1050 + 11 * 52));
        // The second was sent on twice by itself; the first had its share before.
        assert_eq!((grown.retransmitted_segments, grown.round_trip_ns), (2, Some(1_500)));
        let closed = counter.sample(&[], &[]);
        assert_eq!(closed.round_trip_ns, None);
        assert_eq!((closed.sent_payload_bytes, closed.open_connections, closed.connections), (1050, 0, 2));
    }

    #[test]
    fn closed_connections_take_no_memory_and_keep_their_counts() {
        let mut counter = WireCounter::new(WireScope::ServerPort(5432));
        let elsewhere = |cookie| TcpConnection { local_port: 1, ..connection(cookie, 1, 1) };
        counter.sample(&[connection(1, 100, 2)], &[]);
        for cookie in (10..3_000).step_by(2) {
            counter.sample(&[connection(cookie, 50, 1), elsewhere(cookie + 1)], &[]);
        }
        let most = usize::try_from(MISSES).expect("small") + 2;
        assert!(counter.known.len() <= most, "{}", counter.known.len());
        let sum = counter.sample(&[], &[]);
        assert_eq!((sum.sent_payload_bytes, sum.connections), (1_495 * 50, 1_496));
    }

    #[test]
    fn a_listing_that_misses_an_open_connection_counts_nothing_twice() {
        let mut counter = WireCounter::new(WireScope::ServerPort(5432));
        counter.sample(&[], &[]);
        counter.sample(&[connection(1, 100, 2)], &[]);
        assert_eq!(counter.sample(&[], &[]).sent_payload_bytes, 100);
        let again = counter.sample(&[connection(1, 120, 3)], &[]);
        assert_eq!((again.sent_payload_bytes, again.connections), (120, 1));
    }

    #[test]
    fn another_port_is_not_counted() {
        let mut counter = WireCounter::new(WireScope::ServerPort(1));
        counter.sample(&[], &[]);
        assert_eq!(counter.sample(&[connection(1, 100, 2)], &[]), WireSample::default());
    }

    /// QuestDB is written to by one port and asked by another.
    #[test]
    fn a_server_with_several_ports_is_counted_by_its_sockets() {
        assert_eq!(WireScope::of_server(&[]), None);
        assert_eq!(WireScope::of_server(&[1]), Some(WireScope::ServerPort(1)));
        assert_eq!(WireScope::of_server(&[1, 2]), Some(WireScope::Sockets));
    }
}
