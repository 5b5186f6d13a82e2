//! Whether anybody but this machine could come in.
//!
//! gsserver binds to every interface. So sensormark starts one only in a network namespace where loopback is the only way in, that is, where no interface but
//! loopback has an address. Addresses are those of this process's namespace, as the kernel lists them.

use sensormark_store::{ErrorKind, StoreError};
use std::fs;

/// The variable by which the user allows a server that listens on every interface.
const ALLOWED: &str = "SENSORMARK_GRIDDB_LISTEN_EVERYWHERE";

/// Fails where others could come in and the user does not allow it; else a note for the reader, where they could.
pub(super) fn check() -> Result<Option<String>, StoreError> {
    let four = fs::read_to_string("/proc/self/net/fib_trie").map(|table| version_four(&table));
    let why = match four {
        // A kernel without IPv6 has no such file.
        Ok(four) => {
            match four + version_six(&fs::read_to_string("/proc/self/net/if_inet6").unwrap_or_default()) {
                0 => return Ok(None),
                others => format!("this machine has {others} more than loopback"),
            }
        }
        Err(_) => "this machine's addresses cannot be read".to_owned(),
    };
    if std::env::var(ALLOWED).is_ok_and(|value| value == "yes") {
        return Ok(Some(format!(
            "gsserver listens on every interface of this machine, with a generated password ({ALLOWED}=yes)"
        )));
    }
    let text = format!(
        "gsserver listens on every interface whatever its configuration says, and {why}. Run sensormark in a network namespace of its own \
         (ip netns add NAME; ip netns exec NAME ip link set lo up; ip netns exec NAME sensormark …), or allow it with {ALLOWED}=yes"
    );
    Err(StoreError::new(ErrorKind::Configuration, "start a GridDB server", text))
}

/// Local addresses but loopback in the kernel's table of routes: each stands in the line before the one that calls it local.
fn version_four(table: &str) -> usize {
    let lines = table.lines().zip(table.lines().skip(1));
    let is_other = |(address, of): &(&str, &str)| of.contains("host LOCAL") && !address.contains("|-- 127.");
    lines.filter(is_other).count()
}

/// Addresses of interfaces other than lo.
fn version_six(table: &str) -> usize {
    table.lines().filter(|line| !line.trim_end().ends_with(" lo")).count()
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
        assert_eq!(version_four(ALONE), 0);
        assert_eq!(version_four(""), 0);
        let six = "00000000000000000000000000000001 01 80 10 80       lo\n";
        assert_eq!(version_six(six), 0);
    }

    #[test]
    fn any_other_address_is_a_way_in() {
        let table = format!("{ALONE}  +-- 10.0.0.0/24 2 0 2\n     |-- 10.0.0.5\n        /32 host LOCAL\n");
        assert_eq!(version_four(&table), 1);
        let six = "fe80000000000000000000fffe000001 02 40 20 80     eth0\n";
        assert_eq!(version_six(six), 1);
    }
}
