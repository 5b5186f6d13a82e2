//! Free ports: chosen, held until the server is about to start, and checked after a failed start.
//!
//! Ports come from outside the range that the kernel hands to outgoing connections. So no client's connection takes one while the server is down (between a
//! kill and a restart).

use super::random;
use sensormark_store::error::{ErrorKind, StoreError};
use sensormark_store::server::ServerFolder;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

/// Random candidates that are tried for one port.
const CANDIDATES: usize = 200;

/// How long a process may take from its birth until it lets go of what it inherited.
const HELD_BY_CHILDREN: Duration = Duration::from_secs(2);

/// Ports of TCP and UDP that nobody else can take while this value lives.
#[derive(Debug)]
pub(super) struct ReservedPorts {
    numbers: [u16; ServerFolder::PORTS],
    held: Vec<Vec<Sockets>>,
}

impl ReservedPorts {
    /// Reserves as many ports as a server gets, the same on each of these addresses. The first is the server's own.
    ///
    /// # Errors
    /// [`ErrorKind::Unavailable`] when no free port can be found.
    pub(super) fn reserve(addresses: &[Ipv4Addr]) -> Result<Self, StoreError> {
        let range = usable_range();
        let mut reserved = Self { numbers: [0; ServerFolder::PORTS], held: Vec::new() };
        reserved.held.resize_with(addresses.len(), Vec::new);
        for number in &mut reserved.numbers {
            let (port, sockets) = find(&range, addresses)?;
            *number = port;
            for (held, sockets) in reserved.held.iter_mut().zip(sockets) {
                held.push(sockets);
            }
        }
        Ok(reserved)
    }

    /// The ports.
    pub(super) const fn numbers(&self) -> [u16; ServerFolder::PORTS] {
        self.numbers
    }

    /// Lets go of those beside the server's own address.
    pub(super) fn release_others(&mut self) {
        self.held.truncate(1);
    }

    /// Lets go of them: the server is about to bind them.
    pub(super) fn release(self) {
        drop(self.held);
    }
}

/// The larger part of the unprivileged ports that is not handed to outgoing connections.
fn usable_range() -> RangeInclusive<u16> {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut limits = text.split_whitespace().filter_map(|word| word.parse().ok());
    let low: u16 = limits.next().unwrap_or(32_768);
    let high: u16 = limits.next().unwrap_or(60_999);
    let below = 10_240..=low.saturating_sub(1);
    let above = high.saturating_add(1)..=65_535;
    if below.len().max(above.len()) < 1_000 {
        10_240..=65_535
    } else if below.len() >= above.len() {
        below
    } else {
        above
    }
}

/// The sockets that hold a port on an address.
type Sockets = (TcpListener, UdpSocket);

fn find(range: &RangeInclusive<u16>, addresses: &[Ipv4Addr]) -> Result<(u16, Vec<Sockets>), StoreError> {
    let size = u32::from(*range.end()) - u32::from(*range.start()) + 1;
    for _ in 0..CANDIDATES {
        let offset = u32::from_ne_bytes(random::bytes()?) % size;
        let Ok(port) = u16::try_from(u32::from(*range.start()) + offset) else {
            continue;
        };
        let sockets: Result<Vec<_>, _> = addresses.iter().map(|at| bind(*at, port)).collect();
        if let Ok(sockets) = sockets {
            return Ok((port, sockets));
        }
    }
    Err(StoreError::new(
        ErrorKind::Unavailable,
        "reserve ports",
        format!(
            "none of {CANDIDATES} ports tried between {} and {} is free; see which programs listen there (ss -ltn)",
            range.start(),
            range.end()
        ),
    )
    .with_doubt(false))
}

fn bind(address: Ipv4Addr, port: u16) -> std::io::Result<Sockets> {
    Ok((TcpListener::bind((address, port))?, UdpSocket::bind((address, port))?))
}

/// Those of the ports that somebody else holds for a while. Another thread of this program may just be starting a process. That process holds copies of sockets
/// that were already closed here, until it has become the program that it is to be. On a busy machine this takes longer than microseconds.
pub(super) fn taken_lastingly(address: Ipv4Addr, ports: &[u16]) -> Vec<u16> {
    let deadline = Instant::now() + HELD_BY_CHILDREN;
    loop {
        let taken = taken(address, ports);
        if taken.is_empty() || Instant::now() > deadline {
            return taken;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Those of the ports that somebody else holds.
pub(super) fn taken(address: Ipv4Addr, ports: &[u16]) -> Vec<u16> {
    ports.iter().copied().filter(|port| bind(address, *port).is_err()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_port_that_is_let_go_of_late_is_not_taken_lastingly() {
        let reserved = ReservedPorts::reserve(&[Ipv4Addr::LOCALHOST]).unwrap();
        let numbers = reserved.numbers();
        // As a child does that still has copies of the sockets.
        let copies: Vec<TcpListener> =
            reserved.held[0].iter().map(|(listener, _)| listener.try_clone().unwrap()).collect();
        reserved.release();
        assert_eq!(taken(Ipv4Addr::LOCALHOST, &numbers), numbers.to_vec());
        let child = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            drop(copies);
        });
        assert_eq!(taken_lastingly(Ipv4Addr::LOCALHOST, &numbers), Vec::<u16>::new());
        child.join().unwrap();
    }

    #[test]
    fn reserved_ports_differ_and_are_held_until_released() {
        let reserved = ReservedPorts::reserve(&[Ipv4Addr::LOCALHOST]).unwrap();
        let numbers = reserved.numbers();
        assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), numbers.len());
        assert_eq!(taken(Ipv4Addr::LOCALHOST, &numbers), numbers.to_vec());
        reserved.release();
        assert_eq!(taken(Ipv4Addr::LOCALHOST, &numbers), Vec::<u16>::new());
    }

    #[test]
    fn the_same_ports_are_held_beside_the_servers_own_address_until_they_are_let_go() {
        let [own, other] = [Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::LOCALHOST];
        let mut reserved = ReservedPorts::reserve(&[own, other]).unwrap();
        let numbers = reserved.numbers();
        assert_eq!(taken(other, &numbers), numbers.to_vec());
        reserved.release_others();
        assert_eq!(taken(other, &numbers), Vec::<u16>::new());
        assert_eq!(taken(own, &numbers), numbers.to_vec());
    }
}
