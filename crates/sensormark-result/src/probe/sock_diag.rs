//! One listing of the host's TCP connections with the kernel's counters of each (`TCP_INFO`), over the `sock_diag`
//! netlink socket. It needs no privilege, and it covers the network namespace of the caller alone: connections of a
//! server inside a container are not in it. It knows nothing of processes.

use std::net::IpAddr;

use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::nlas::{Nla, TcpInfo};
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_SOCK_DIAG};

use super::error::ProbeError;
use sensormark_store::wire::ip_header;

/// Option bit of `TCP_INFO`: both sides send timestamps (12 bytes a segment).
const TIMESTAMPS: u8 = 1;

/// One TCP connection as one of its ends sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TcpConnection {
    /// The kernel's unique number of the socket: never used twice while the machine is up.
    pub cookie: u64,
    /// Its inode, or 0 when no process holds it (not accepted yet, or closed already).
    pub inode: u64,
    /// The local port.
    pub local_port: u16,
    /// Payload sent, retransmissions included.
    pub sent_bytes: u64,
    /// Payload received in order.
    pub received_bytes: u64,
    /// Segments sent, acknowledgements included.
    pub sent_segments: u64,
    /// Segments received, acknowledgements included.
    pub received_segments: u64,
    /// Segments sent more than once.
    pub retransmitted_segments: u64,
    /// The kernel's smoothed round-trip time; 0 before the first one was seen.
    pub round_trip_ns: u64,
    /// IP and TCP headers of one segment.
    pub header_bytes: u64,
}

/// All TCP connections that carry data, IPv4 and IPv6.
pub(crate) fn connections() -> Result<Vec<TcpConnection>, ProbeError> {
    let mut all = Vec::new();
    for family in [AF_INET, AF_INET6] {
        dump(family, &mut all).map_err(|what| ProbeError::Sockets { what })?;
    }
    Ok(all)
}

fn dump(family: u8, all: &mut Vec<TcpConnection>) -> Result<(), String> {
    let text = |error: std::io::Error| error.to_string();
    let mut socket = Socket::new(NETLINK_SOCK_DIAG).map_err(text)?;
    socket.bind_auto().map_err(text)?;
    socket.connect(&SocketAddr::new(0, 0)).map_err(text)?;
    socket.send(&request(family), 0).map_err(text)?;
    loop {
        let (bytes, _) = socket.recv_from_full().map_err(text)?;
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let message =
                NetlinkMessage::<SockDiagMessage>::deserialize(rest).map_err(|error| error.to_string())?;
            // Messages are padded to four bytes.
            let length = (message.header.length as usize).next_multiple_of(4);
            match message.payload {
                NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) => {
                    all.extend(connection(&response));
                }
                NetlinkPayload::Done(_) => return Ok(()),
                NetlinkPayload::Error(error) => return Err(format!("{error:?}")),
                _ => {}
            }
            rest = rest.get(length.max(4)..).unwrap_or_default();
        }
    }
}

fn request(family: u8) -> Vec<u8> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let socket_id = if family == AF_INET { SocketId::new_v4() } else { SocketId::new_v6() };
    // These have no counters: a listener carries nothing, the others have no socket of their own.
    let without = StateFlags::LISTEN | StateFlags::TIME_WAIT | StateFlags::SYN_RECV;
    let mut message = NetlinkMessage::new(
        header,
        SockDiagMessage::InetRequest(InetRequest {
            family,
            protocol: IPPROTO_TCP,
            extensions: ExtensionFlags::INFO,
            states: StateFlags::all().difference(without),
            socket_id,
        })
        .into(),
    );
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

fn connection(response: &InetResponse) -> Option<TcpConnection> {
    let info = response.nlas.iter().find_map(|nla| match nla {
        Nla::TcpInfo(info) => Some(info),
        _ => None,
    })?;
    let id = &response.header.socket_id;
    Some(TcpConnection {
        cookie: u64::from_ne_bytes(id.cookie),
        inode: u64::from(response.header.inode),
        local_port: id.source_port,
        sent_bytes: info.bytes_sent,
        received_bytes: info.bytes_received,
        sent_segments: u64::from(info.segs_out),
        received_segments: u64::from(info.segs_in),
        retransmitted_segments: u64::from(info.total_retrans),
        round_trip_ns: u64::from(info.rtt) * 1_000,
        header_bytes: header_bytes(id.source_address, info),
    })
}

/// IPv4 20 or IPv6 40 + TCP 20, + 12 where timestamps are on: what the loopback interface carries, which has no Ethernet.
/// The options of the first segments and selective acknowledgements are left out.
fn header_bytes(address: IpAddr, info: &TcpInfo) -> u64 {
    let timestamps = if info.options & TIMESTAMPS == 0 { 0 } else { 12 };
    ip_header(address) + 20 + timestamps
}
