//! The probe against real processes of known behaviour: what it reads must be what they did, within 5 %. CPU is
//! compared with CPU, never with wall time, so that the tests hold on a busy machine. It is not a test of speed.

mod load;
mod wire;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Duration;

use load::Load;
use sensormark_result::probe::{
    DisturbanceLimits, HostSampler, ProcessTree, Recorder, Scan, Scope, TreeSample, WireScope,
    device_of_folder, disk_usage,
};

const MEGABYTE: u64 = 1_000_000;

fn attach(load: &Load, scope: Scope, wire: Option<WireScope>) -> ProcessTree {
    ProcessTree::attach("server", load.pid(), scope, wire).expect("attach")
}

fn sample(tree: &mut ProcessTree) -> TreeSample {
    tree.sample(&mut Scan::now().expect("scan"), true)
}

#[track_caller]
fn assert_near(what: &str, found: u64, expected: u64) {
    let error = (found as f64 - expected as f64) * 100.0 / expected as f64;
    println!("{what}: {found} of {expected}, {error:+.3} %");
    assert!(error.abs() <= 5.0, "{what}: {found}, not {expected} ({error:+.2} %)");
}

/// A folder on the disk that the build is on; not `/tmp`, which is often memory.
fn disk_folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("folder")
}

#[test]
fn half_a_core_is_counted_to_the_percent() {
    let mut load = Load::start("burn", "1500");
    let tree = attach(&load, Scope::Descendants, None);
    let host = HostSampler::new(None).expect("host");
    let limits = DisturbanceLimits::default();
    let recorder = Recorder::start(host, vec![tree], Duration::from_millis(100), limits).expect("recorder");
    recorder.begin_phase("run").expect("begin");
    load.go();
    let used = load.done();
    recorder.end_phase(true).expect("end");
    let recording = recorder.stop().expect("stop");
    load.end();
    let totals = recording.phase_totals(recording.phase("run").expect("phase")).expect("totals");
    let server = &totals.roles["server"];
    assert_near("burnt CPU", server.cpu_ns, used);
    assert_near("burnt CPU in ticks", server.cpu_user_ns + server.cpu_system_ns, used);
    assert!(server.context_switches >= 100 && server.cpu_percent_of_core < 100.0);
    let cost = &recording.cost;
    println!("cost of a sample: {} µs CPU", cost.cpu_ns / cost.samples / 1000);
    assert!(cost.samples >= 10 && cost.cpu_ns / cost.samples < 100_000_000);
}

#[test]
fn anonymous_memory_is_counted_and_its_peak_kept() {
    let bytes = 200 * MEGABYTE;
    let mut load = Load::start("hold", &bytes.to_string());
    let mut tree = attach(&load, Scope::Descendants, None);
    let before = sample(&mut tree);
    load.go();
    load.done();
    let after = sample(&mut tree);
    load.end();
    assert_near("anonymous memory", after.anonymous_bytes - before.anonymous_bytes, bytes);
    assert_near("resident memory", after.resident_bytes - before.resident_bytes, bytes);
    let proportional = after.proportional_bytes.expect("set") - before.proportional_bytes.expect("set");
    assert_near("proportional set", proportional, bytes);
    let gone = sample(&mut tree);
    assert_eq!((gone.processes, gone.resident_bytes), (0, 0));
    assert_eq!(gone.peak_resident_bytes, after.peak_resident_bytes);
    assert!(gone.cpu_ns >= after.cpu_ns, "what it used does not end with it");
}

#[test]
fn written_pages_flushes_and_blocks_are_counted() {
    let folder = disk_folder();
    let device = device_of_folder(folder.path()).expect("device");
    assert_ne!(device.filesystem, "tmpfs", "the build folder has to be on a disk for this test");
    let bytes = 50 * MEGABYTE;
    let path = folder.path().join("data");
    let mut load = Load::start("write", &format!("{} {bytes}", path.display()));
    let mut tree = attach(&load, Scope::Descendants, None);
    let mut alone = attach(&load, Scope::Process, None);
    let host = HostSampler::new(Some(folder.path())).expect("host");
    let host_sample = || host.sample(&Scan::now().expect("scan").table).expect("sample");
    let (before, host_before) = (sample(&mut tree), host_sample());
    load.go();
    load.done();
    let (after, host_after) = (sample(&mut tree), host_sample());
    let own = sample(&mut alone).storage_written_bytes.expect("permitted");
    load.end();
    assert_near("written pages by thread", own, bytes);
    let written = |of: &TreeSample| of.storage_written_bytes.expect("permitted for own processes");
    assert_near("written pages", written(&after) - written(&before), bytes);
    let kept = sample(&mut tree);
    assert_near("written pages after the end", written(&kept) - written(&before), bytes);
    let used = disk_usage(folder.path(), |path| path.ends_with("data")).expect("usage");
    assert_near("allocated blocks", used.apart_bytes, bytes);
    if let (Some(before), Some(after)) = (host_before.disk, host_after.disk) {
        let on_disk = after.written_bytes - before.written_bytes;
        println!(
            "{on_disk} bytes on {:?}, flushes {:?} to {:?}",
            device.device, before.flushes, after.flushes
        );
        assert!(on_disk >= bytes, "the disk wrote {on_disk}");
    }
}

fn send_over(address: &str) {
    let bytes = 100 * MEGABYTE;
    let listener = TcpListener::bind(address).expect("bind");
    let local = listener.local_addr().expect("address");
    let reader = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("accept");
        let mut left = bytes;
        let mut buffer = vec![0; 1_000_000];
        while left > 0 {
            left -= stream.read(&mut buffer).expect("read") as u64;
        }
        stream.write_all(&[1]).expect("answer");
        // Keep it open until the sender has closed.
        let _ = stream.read(&mut buffer);
    });
    let mut load = Load::start("send", &format!("{local} {bytes}"));
    let mut sender = attach(&load, Scope::Descendants, Some(WireScope::Sockets));
    let own = i32::try_from(std::process::id()).expect("pid");
    let scope = Some(WireScope::ServerPort(local.port()));
    let mut server = ProcessTree::attach("server", own, Scope::Process, scope).expect("attach");
    load.go();
    load.done();
    let sent = sample(&mut sender).wire.expect("wire");
    let received = sample(&mut server).wire.expect("wire");
    load.end();
    reader.join().expect("reader");
    assert_near("sent payload", sent.sent_payload_bytes, bytes);
    assert_near("received payload", received.received_payload_bytes, bytes);
    assert_near("sent on the wire", sent.sent_wire_bytes, bytes);
    assert!(sent.sent_wire_bytes > sent.sent_payload_bytes, "headers are added");
    assert_eq!((sent.open_connections, received.open_connections), (1, 1));
    let closed = sample(&mut sender).wire.expect("wire");
    assert_eq!(closed.sent_payload_bytes, sent.sent_payload_bytes);
    assert_eq!((closed.open_connections, closed.connections), (0, 1));
}

#[test]
fn bytes_over_loopback_are_counted_by_connection() {
    send_over("127.0.0.1:0");
}

#[test]
fn bytes_over_loopback_are_counted_in_version_six() {
    if TcpListener::bind("[::1]:0").is_err() {
        println!("ignored: this machine has no IPv6 loopback");
        return;
    }
    send_over("[::1]:0");
}

/// Samples often while children come and go, and returns what they say they used and the last sample.
fn follow_children(mut load: Load) -> (u64, TreeSample) {
    let mut tree = attach(&load, Scope::Descendants, None);
    load.go();
    let waiting = std::thread::spawn(move || (load.done(), load));
    let mut last = 0;
    while !waiting.is_finished() {
        std::thread::sleep(Duration::from_millis(40));
        let now = sample(&mut tree);
        assert!(now.cpu_ns >= last, "CPU time fell");
        last = now.cpu_ns;
    }
    let (used, load) = waiting.join().expect("generator");
    let after = sample(&mut tree);
    load.end();
    (used, after)
}

#[test]
fn children_that_end_are_neither_lost_nor_doubled() {
    let (used, after) = follow_children(Load::start("parent", "5 300"));
    // Starting a child costs CPU that its own count, begun later, does not hold: about 2 ms each.
    assert_near("parent and its children", after.cpu_ns, used);
    assert_near("in ticks", after.cpu_user_ns + after.cpu_system_ns, used);
}

#[test]
fn a_process_alone_is_without_its_children() {
    let mut load = Load::start("parent", "2 200");
    let mut tree = attach(&load, Scope::Process, None);
    load.go();
    let used = load.done();
    let after = sample(&mut tree);
    load.end();
    assert!(used > 400_000_000, "the children burnt {used}");
    assert!(after.cpu_ns < 100_000_000, "{} ns", after.cpu_ns);
    assert!(after.cpu_user_ns + after.cpu_system_ns < 100_000_000);
    assert_eq!(after.processes, 1);
}

#[test]
fn children_that_nobody_waits_for_are_not_lost() {
    // Not the shell's `trap`: dash leaves SIGCHLD as it is whatever is asked of it.
    let script = r#"exec env --ignore-signal=CHLD "$0" "$@""#;
    let (used, after) = follow_children(Load::start_by_shell(script, "parent", "5 300"));
    assert_near("parent and its unwaited children", after.cpu_ns, used);
}

#[test]
fn a_server_that_leaves_its_parent_is_found_by_its_group() {
    // The shell starts the generator and ends: init adopts it.
    let script = r#"echo @ready; read word; exec 3<&0; "$0" "$@" <&3 & exit 0"#;
    let mut load = Load::start_by_shell(script, "burn", "1000");
    let mut tree = attach(&load, Scope::Group(load.pid()), None);
    // Once for the shell, once for the generator.
    load.go();
    load.go();
    let used = load.done();
    let after = sample(&mut tree);
    load.end();
    assert_near("an adopted server", after.cpu_ns, used);
}

#[test]
fn shared_memory_is_counted_once() {
    let bytes = 100 * MEGABYTE;
    let memory = PathBuf::from("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory).expect("folder") } else { disk_folder() };
    let path = folder.path().join("shared");
    std::fs::File::create(&path).and_then(|file| file.set_len(bytes)).expect("file");
    let mut load = Load::start("maps", &format!("{} 8", path.display()));
    let mut tree = attach(&load, Scope::Descendants, None);
    let before = sample(&mut tree);
    load.go();
    assert_eq!(load.done(), 8 * bytes, "all have touched all of it");
    let after = sample(&mut tree);
    load.end();
    assert_eq!(after.processes, 9);
    assert_near("shared memory", after.shared_bytes - before.shared_bytes, bytes);
    assert_near("resident memory", after.resident_bytes - before.resident_bytes, bytes);
    let proportional = after.proportional_bytes.expect("set") - before.proportional_bytes.expect("set");
    assert_near("proportional set", proportional, bytes);
}
