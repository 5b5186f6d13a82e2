//! The memory of a PostgreSQL whose sessions have all read the same shared buffers: the probe counts each page once, and the sum over processes many times.
//!
//! What is true is taken from another source than the probe's: the numbers of the physical pages that the server's processes map, each number once. Only of
//! files, which other programs map too (libraries, a second server), the kernel's word is taken for what is the server's share.

use crate::Outcome;
use crate::support::Place;
use sensormark_result::probe::{ProcessTree, Scan, Scope};
use sensormark_server::{ManagedServer, Supervisor};
use sensormark_store::ServerOptions;
use std::collections::HashSet;
use std::fs::{File, read_to_string};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, Stdio};

/// Sessions that read the table.
const SESSIONS: usize = 8;
/// Has no session start processes beside it, and makes a table of about 150 MB that lies in the shared buffers.
const TABLE: &str = "ALTER SYSTEM SET max_parallel_workers_per_gather = 0;
ALTER SYSTEM SET autovacuum = off;
SELECT pg_reload_conf();
CREATE TABLE much (words text);
INSERT INTO much SELECT repeat('x', 1000) FROM generate_series(1, 130000);";
const READ: &str = "SELECT sum(length(words)) FROM much;\n";

/// A session that has read the whole table, and is open until it is dropped.
struct Session(Child);

impl Session {
    fn open(server: &ManagedServer) -> Self {
        let mut psql = psql(server);
        let mut child = psql.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("psql is there");
        let input = child.stdin.as_mut().expect("it is piped");
        input.write_all(READ.as_bytes()).expect("psql listens");
        let mut answer = String::new();
        let output = child.stdout.as_mut().expect("it is piped");
        let read = BufReader::new(output).read_line(&mut answer);
        assert_eq!((read.is_ok(), answer.trim()), (true, "130000000"));
        Self(child)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        drop(self.0.wait());
    }
}

fn psql(server: &ManagedServer) -> Command {
    let mut psql = Command::new("psql");
    psql.args(["-AtqX", "-v", "ON_ERROR_STOP=1", "-d"]).arg(server.endpoint().url.expose());
    psql
}

/// A figure in kB of one of a process's files in `/proc`, by its name there.
fn kilobytes(file: &str, name: &str) -> u64 {
    let text = read_to_string(file).expect("the process is there");
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = lines.find(|(found, _)| *found == name).expect("a figure");
    let number = value.trim().trim_end_matches(" kB");
    number.parse().expect("a number")
}

/// Adds the numbers of the physical pages, but for files', that a process maps; none is added where the kernel tells them to nobody but root.
fn add_pages(pid: u32, page: u64, pages: &mut HashSet<u64>) {
    const PRESENT: u64 = 1 << 63;
    const OF_FILE_OR_SHARED: u64 = 1 << 61;
    /// Shared memory, as the kernel names it among files.
    const SHARED: [&str; 3] = ["/dev/zero", "/dev/shm/", "/SYSV"];
    const NUMBER: u64 = (1 << 55) - 1;
    let maps = read_to_string(format!("/proc/{pid}/maps")).expect("the process is there");
    let table = File::open(format!("/proc/{pid}/pagemap")).expect("the process is there");
    for line in maps.lines() {
        let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
        let (start, end) = range.expect("a range of addresses");
        let address = |text| u64::from_str_radix(text, 16).expect("an address");
        let (first, after) = (address(start) / page, address(end) / page);
        let mut entries = vec![0; usize::try_from((after - first) * 8).expect("it fits")];
        // The kernel's own pages beyond the process's addresses cannot be asked about.
        if table.read_exact_at(&mut entries, first.saturating_mul(8)).is_err() {
            continue;
        }
        let entries = entries.chunks_exact(8).map(|entry| {
            let entry: [u8; 8] = entry.try_into().expect("eight bytes");
            u64::from_ne_bytes(entry)
        });
        let is_shared = SHARED.iter().any(|name| line.contains(name));
        let present =
            entries.filter(|entry| entry & PRESENT != 0 && (is_shared || entry & OF_FILE_OR_SHARED == 0));
        pages.extend(present.map(|entry| entry & NUMBER).filter(|&number| number != 0));
    }
}

/// By how much a figure is off, in percent.
fn off(what: &str, found: u64, truth: u64) -> f64 {
    let percent = (found as f64 / truth as f64 - 1.0) * 100.0;
    println!("{what}: {found} of {truth} bytes, {percent:+.2} %");
    percent
}

pub fn shared_buffers_of_many_sessions_are_counted_once() -> Outcome {
    let place = Place::new();
    let supervisor = Supervisor::new(Some(place.path().join("state"))).expect("a state folder");
    let options = ServerOptions { memory_bytes: 256 << 20, ..ServerOptions::default() };
    let server = supervisor.start(&sensormark_stores::postgresql(), &options, None);
    let server = server.expect("PostgreSQL starts");
    let mut making = psql(&server);
    making.args(TABLE.lines().flat_map(|line| ["-c", line]));
    assert!(making.status().expect("psql is there").success());
    let sessions: Vec<Session> = (0..SESSIONS).map(|_| Session::open(&server)).collect();

    let root = i32::try_from(server.process_id()).expect("an id");
    let tree = ProcessTree::attach("server", root, Scope::Session(root), None);
    let mut tree = tree.expect("it runs");
    let sample = tree.sample(&mut Scan::now().expect("/proc can be read"), true);
    let page = kilobytes("/proc/self/smaps", "KernelPageSize") * 1024;
    let (mut pages, mut files, mut summed) = (HashSet::new(), 0, 0);
    for process in server.processes() {
        let pid = process.pid;
        add_pages(pid, page, &mut pages);
        files += kilobytes(&format!("/proc/{pid}/smaps_rollup"), "Pss_File") * 1024;
        summed += kilobytes(&format!("/proc/{pid}/status"), "VmRSS") * 1024;
    }
    assert_eq!(sample.processes, server.processes().len() as u64);
    drop(sessions);
    if pages.is_empty() {
        return Some("the numbers of physical pages are told to root alone");
    }
    let truth = pages.len() as u64 * page + files;
    let proportional = sample.proportional_bytes.expect("it was asked for");
    assert!(off("proportional", proportional, truth).abs() < 5.0);
    assert!(off("resident", sample.resident_bytes, truth).abs() < 15.0);
    assert!(off("summed over processes", summed, truth) > 50.0);
    None
}
