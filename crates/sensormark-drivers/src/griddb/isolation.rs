//! Whether anybody but this machine could come in.
//!
//! gsserver binds to every interface. So sensormark starts one only in a network namespace where loopback is the only way in, that is, where no interface but
//! loopback has an address. Addresses are those of this process's namespace, as the kernel lists them.

use sensormark_store::{ErrorKind, StoreError};
use std::fs;
use std::net::Ipv4Addr;

/// The variable by which the user allows a server that listens on every interface.
const ALLOWED: &str = "SENSORMARK_GRIDDB_LISTEN_EVERYWHERE";

/// Fails where others could come in and the user does not allow it; else a note for the reader, where they could.
pub(super) fn check() -> Result<Option<String>, StoreError> {
    let addresses = addresses();
    if matches!(&addresses, Some(others) if others.is_empty()) {
        return Ok(None);
    }
    if std::env::var(ALLOWED).is_ok_and(|value| value == "yes") {
        return Ok(Some(format!(
            "gsserver listens on every interface of this machine, with a generated password ({ALLOWED}=yes)"
        )));
    }
    let why = match addresses {
        Some(others) => format!("this machine has {} more than loopback", others.len()),
        None => "this machine's addresses cannot be read".to_owned(),
    };
    Err(StoreError::new(
        ErrorKind::Configuration,
        "start a GridDB server",
        format!(
            "gsserver listens on every interface whatever its configuration says, and {why}. Run sensormark in a network namespace of its own \
             (ip netns add NAME; ip netns exec NAME ip link set lo up; ip netns exec NAME sensormark …), or allow it with {ALLOWED}=yes"
        ),
    ))
}

/// The addresses that are not of loopback; none where they cannot be read.
fn addresses() -> Option<Vec<String>> {
    let mut others = version_four(&fs::read_to_string("/proc/self/net/fib_trie").ok()?);
    // a kernel without IPv6 has no such file
    if let Ok(six) = fs::read_to_string("/proc/self/net/if_inet6") {
        others.extend(version_six(&six));
    }
    Some(others)
}

/// Local addresses in the kernel's table of routes: each stands in the line before the one that calls it local.
fn version_four(table: &str) -> Vec<String> {
    let mut others: Vec<String> = Vec::new();
    let mut latest: Option<Ipv4Addr> = None;
    for line in table.lines() {
        if let Some(address) = line.trim().strip_prefix("|-- ") {
            latest = address.parse().ok();
        } else if line.contains("host LOCAL")
            && let Some(address) = latest
            && !address.is_loopback()
        {
            others.push(address.to_string());
        }
    }
    others.sort();
    others.dedup();
    others
}

/// Addresses of interfaces other than lo.
fn version_six(table: &str) -> Vec<String> {
    let other = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let address = words.next()?.to_owned();
        (words.next_back()? != "lo").then_some(address)
    };
    table.lines().filter_map(other).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONE: &str = "Local:
  +-- 127.0.0.0/8 2 0 2
     +-- 127.0.0.0/31 1 0 0
        |-- 127.0.0.0
           /8 host LOCAL
        |-- 127.0.0.1
           /32 host LOCAL
     |-- 127.255.255.255
        /32 link BROADCAST
";

    #[test]
    fn loopback_alone_is_nobody_else() {
        assert!(version_four(ALONE).is_empty());
        assert!(version_four("").is_empty());
        let six = "00000000000000000000000000000001 01 80 10 80       lo\n";
        assert!(version_six(six).is_empty());
    }

    #[test]
    fn any_other_address_is_a_way_in() {
        let table = format!("{ALONE}  +-- 10.0.0.0/24 2 0 2\n     |-- 10.0.0.5\n        /32 host LOCAL\n");
        assert_eq!(version_four(&table), ["10.0.0.5"]);
        let six = "fe80000000000000000000fffe000001 02 40 20 80     eth0\n";
        assert_eq!(version_six(six).len(), 1);
    }
}
