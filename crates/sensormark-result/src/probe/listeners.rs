//! TCP sockets that listen, from `/proc/PID/net/tcp` and `tcp6`. Anybody may read it, of the network namespace of a process that he may look at.

use std::fs;
use std::io;

/// The state of a socket that listens.
const LISTEN: &str = "0A";

/// One socket that listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Listener {
    /// Its port.
    pub port: u16,
    /// The user whose process made it.
    pub user: u32,
    /// Its inode, by which the process is found that holds it.
    pub inode: u64,
}

/// All of this process's network namespace.
pub(super) fn all() -> io::Result<Vec<Listener>> {
    read("self")
}

/// All of the network namespace of this process.
pub(super) fn all_of(pid: i32) -> io::Result<Vec<Listener>> {
    read(&pid.to_string())
}

fn read(process: &str) -> io::Result<Vec<Listener>> {
    let mut text = fs::read_to_string(format!("/proc/{process}/net/tcp"))?;
    // A machine without version 6 has no such file.
    text.push_str(&fs::read_to_string(format!("/proc/{process}/net/tcp6")).unwrap_or_default());
    Ok(text.lines().filter_map(listener).collect())
}

/// One line: number, local address, remote address, state, queues, timer, retransmissions, user, timeout, inode.
fn listener(line: &str) -> Option<Listener> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if *words.get(3)? != LISTEN {
        return None;
    }
    let (_, port) = words.get(1)?.rsplit_once(':')?;
    Some(Listener {
        port: u16::from_str_radix(port, 16).ok()?,
        user: words.get(7)?.parse().ok()?,
        inode: words.get(9)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_versions_are_read() {
        let four = "   0: 0100007F:1538 00000000:0000 0A 00000000:00000000 00:00000000 00000000   107        0 35201 1 0000 100 0 0 10 0";
        let six = "   0: 00000000000000000000000001000000:1538 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000   107        0 35200 1";
        let read = |line| listener(line).expect("it listens");
        assert_eq!((read(four).port, read(four).user, read(four).inode), (5432, 107, 35201));
        assert_eq!((read(six).port, read(six).inode), (5432, 35200));
        let connected = four.replace(" 0A ", " 01 ");
        assert_eq!(listener(&connected), None);
    }
}
