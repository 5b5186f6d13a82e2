//! Bytes on the wire against the interface's own counters, in a network namespace in which nobody else talks.

use super::sample;
use sensormark_result::probe::{ProcessTree, Scope, WireScope};
use sensormark_store::wire::DatagramPath;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::Command;

/// Set where this program runs in a namespace of its own.
const INSIDE: &str = "SENSORMARK_TEST_NAMESPACE";
/// Ways to a namespace: with and without a right to it.
static WAYS: [&[&str]; 2] = [&["--net"], &["--user", "--map-root-user", "--net"]];

/// Runs a test of this program again in a network namespace of its own, unless it is in there already: then it says so.
fn is_inside(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let program = std::env::current_exe().expect("this program");
    let up = |way: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(way).args(["sh", "-c", "ip link set lo up && exec \"$0\" \"$@\""]);
        command
    };
    let allowed = |way: &&&[&str]| up(way).arg("true").output().is_ok_and(|end| end.status.success());
    let Some(way) = WAYS.iter().find(allowed) else {
        println!("ignored: no network namespace can be made here (unshare --net, ip)");
        return false;
    };
    let ended = up(way).arg(program).args([test, "--exact", "--nocapture"]).env(INSIDE, "1").status();
    assert!(ended.expect("unshare starts").success(), "it failed inside the namespace");
    false
}

/// Bytes that the loopback interface has received.
fn interface_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/net/dev").expect("interfaces");
    let line = text.lines().find_map(|line| line.trim().strip_prefix("lo:"));
    let bytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    bytes.expect("the loopback's bytes")
}

fn set_mtu(bytes: u64) {
    let mtu = bytes.to_string();
    let set = Command::new("ip").args(["link", "set", "lo", "mtu", &mtu]).status();
    assert!(set.expect("ip starts").success());
}

#[test]
fn datagrams_take_what_the_interface_counts() {
    if !is_inside("wire::datagrams_take_what_the_interface_counts") {
        return;
    }
    for mtu in [65_536, 1_500] {
        set_mtu(mtu);
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(receiver) = UdpSocket::bind(address) else {
                println!("ignored: no {address} here");
                continue;
            };
            let sender = UdpSocket::bind(address).expect("bind");
            let peer = receiver.local_addr().expect("address");
            sender.connect(peer).expect("connect");
            let path = DatagramPath::of(&sender, peer.ip());
            let (before, mut expected, mut payloads) = (interface_bytes(), 0, 0);
            let mut buffer = vec![0; 70_000];
            for payload in [1, 75, 1_000, 8_192, 65_000].repeat(20) {
                assert_eq!(sender.send(&buffer[..payload]).expect("send"), payload);
                assert_eq!(receiver.recv(&mut buffer).expect("receive"), payload);
                expected += path.bytes(payload as u64);
                payloads += payload as u64;
            }
            let counted = interface_bytes() - before;
            println!("{address}, MTU {mtu}: {counted} bytes, {expected} by our rule, {payloads} of payload");
            assert_eq!(expected, counted);
        }
    }
}

#[test]
fn connections_take_what_the_interface_counts() {
    if !is_inside("wire::connections_take_what_the_interface_counts") {
        return;
    }
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let Ok(listener) = TcpListener::bind(address) else {
            println!("ignored: no {address} here");
            continue;
        };
        let local = listener.local_addr().expect("address");
        let own = i32::try_from(std::process::id()).expect("pid");
        let scope = Some(WireScope::ServerPort(local.port()));
        let mut tree = ProcessTree::attach("server", own, Scope::Process, scope).expect("attach");
        let before = interface_bytes();
        let mut client = TcpStream::connect(local).expect("connect");
        let (mut server, _) = listener.accept().expect("accept");
        let mut message = [0; 100];
        for _ in 0..2_000 {
            client.write_all(&message).expect("ask");
            server.read_exact(&mut message).expect("hear");
            server.write_all(&message).expect("answer");
            client.read_exact(&mut message).expect("listen");
        }
        let wire = sample(&mut tree).wire.expect("wire");
        let counted = interface_bytes() - before;
        let ours = wire.sent_wire_bytes + wire.received_wire_bytes;
        let off = (ours as f64 / counted as f64 - 1.0) * 100.0;
        println!("{address}: {counted} bytes, {ours} by our rule, {off:+.2} %");
        assert!(off.abs() <= 1.0, "{ours} bytes, the interface has {counted} ({off:+.2} %)");
    }
}
