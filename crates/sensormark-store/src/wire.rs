//! What data take on the wire: one rule for TCP and UDP.
//!
//! Payload, plus the headers of transport and IP for each packet. Ethernet is not counted: the loopback interface, over which
//! client and server on one machine talk, carries none, and its own counters count the same bytes as this rule.
//! TCP's packets are counted by the kernel; those of datagrams are worked out here, because the kernel does not count them by socket.

use std::net::IpAddr;
use std::os::fd::AsFd;

/// UDP's header, in bytes (RFC 768).
const UDP_HEADER: u64 = 8;
/// The extension header of a fragment of version 6, in bytes (RFC 8200, section 4.5).
const FRAGMENT_HEADER_V6: u64 = 8;
/// Fragments but the last hold multiples of this many bytes (RFC 791, RFC 8200).
const FRAGMENT_UNIT: u64 = 8;

/// The IP header of one packet to or from this address, in bytes, without options: 20, or 40 in version 6.
#[must_use]
pub const fn ip_header(address: IpAddr) -> u64 {
    if is_version_four(address) { 20 } else { 40 }
}

const fn is_version_four(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(_) => true,
        IpAddr::V6(address) => address.to_ipv4_mapped().is_some(),
    }
}

/// The way that datagrams take to one peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatagramPath {
    version_four: bool,
    ip_header: u64,
    /// The longest packet, in bytes; none where the kernel does not say.
    mtu: Option<u64>,
}

impl DatagramPath {
    /// The way from a connected socket to its peer; the kernel says how long a packet may be on it.
    pub fn of(socket: impl AsFd, peer: IpAddr) -> Self {
        let mtu = match peer {
            IpAddr::V4(_) => rustix::net::sockopt::ip_mtu(socket),
            IpAddr::V6(_) => rustix::net::sockopt::ipv6_mtu(socket),
        };
        Self::new(peer, mtu.ok().map(u64::from))
    }

    /// The way to this peer over packets of at most `mtu` bytes.
    #[must_use]
    pub const fn new(peer: IpAddr, mtu: Option<u64>) -> Self {
        Self { version_four: is_version_four(peer), ip_header: ip_header(peer), mtu }
    }

    /// What a datagram of so many bytes of payload takes on the wire: payload + 8 (UDP) + 20 or 40 (IP). One that is longer than a
    /// packet may be is split, and each fragment has an IP header of its own.
    #[must_use]
    pub fn bytes(&self, payload: u64) -> u64 {
        let datagram = payload + UDP_HEADER;
        let whole = datagram + self.ip_header;
        let Some(mtu) = self.mtu.filter(|&mtu| whole > mtu) else {
            return whole;
        };
        let header = if self.version_four { self.ip_header } else { self.ip_header + FRAGMENT_HEADER_V6 };
        let room = mtu.saturating_sub(header) / FRAGMENT_UNIT * FRAGMENT_UNIT;
        let fragments = datagram.div_ceil(room.max(FRAGMENT_UNIT));
        datagram + fragments * header
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr, UdpSocket};

    const FOUR: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const SIX: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

    #[test]
    fn a_datagram_has_headers_of_its_own_and_so_has_each_fragment() {
        for (peer, mtu, payload, bytes) in [
            (FOUR, Some(1_500), 100, 128),
            (SIX, Some(1_500), 100, 148),
            (FOUR, Some(1_500), 1_472, 1_500),
            // 1,480 bytes and 1 byte of the datagram.
            (FOUR, Some(1_500), 1_473, 1_473 + 8 + 2 * 20),
            // 8,200 bytes in pieces of 1,480: six.
            (FOUR, Some(1_500), 8_192, 8_192 + 8 + 6 * 20),
            // In pieces of 1,448: six.
            (SIX, Some(1_500), 8_192, 8_192 + 8 + 6 * 48),
            (FOUR, None, 8_192, 8_220),
        ] {
            let path = DatagramPath::new(peer, mtu);
            assert_eq!(path.bytes(payload), bytes, "{payload} to {peer} by {mtu:?}");
        }
    }

    #[test]
    fn the_loopback_carries_the_longest_datagram_whole() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(peer.local_addr().unwrap()).unwrap();
        let path = DatagramPath::of(&socket, FOUR);
        // The interface says 65,536; a packet of IP is no longer than this.
        assert_eq!(path.mtu, Some(65_535));
        assert_eq!(path.bytes(65_507), 65_535);
    }
}
