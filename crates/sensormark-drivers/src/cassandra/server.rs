//! What is asked of a server beside CQL: nodetool, from the server's own jars over loopback, and the accounts of a server that sensormark started.

use super::error::{known, timeout};
use super::url::{Options, URL_EXAMPLE};
use super::{Link, each_text};
use crate::Fault;
use sensormark_kit::unexpected;
use sensormark_server::find::{Search, install_advice};
use sensormark_server::java::find_java;
use sensormark_store::{ErrorKind, Secret, StoreError};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The account that every new server has, with the same word as its password.
const FIRST: &str = "cassandra";
/// How long nodetool may take.
const PATIENCE: Duration = Duration::from_secs(300);
/// Modules of Java that nodetool looks into.
const OPENINGS: [&str; 2] = [
    "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
];

/// The folder of the server's jars.
fn jars() -> Result<PathBuf, StoreError> {
    let packages = ["/usr/share/cassandra", "/opt/cassandra/lib", "/usr/local/cassandra/lib"];
    let search = Search {
        name: "cassandra",
        title: "nodetool",
        wanted: "its jars",
        inside: &["lib", ""],
        on_path: false,
        packages: packages.map(PathBuf::from).to_vec(),
        advice: install_advice("cassandra", URL_EXAMPLE),
    };
    let is_jar = |name: &str| name.starts_with("cassandra-all-") || name.starts_with("apache-cassandra-");
    let has = |folder: &Path| {
        let mut entries = folder.read_dir().ok()?.flatten();
        entries.find(|entry| is_jar(&entry.file_name().to_string_lossy())).map(drop)
    };
    Ok(search.find(has)?.folder)
}

/// What nodetool prints for the server with this management port.
async fn ask(port: u16, words: &[&str]) -> Result<String, Fault> {
    let command = format!("nodetool {}", words.join(" "));
    let failed = |text: &str| known(ErrorKind::Rejected, format!("{command}: {text}"), false);
    let java = find_java("nodetool", "Java 17 or 11", |version| matches!(version, 11 | 17))?;
    let mut child = Command::new(java)
        .args(OPENINGS)
        .args(["-Xmx64M", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp"])
        .arg(format!("{}/*", jars()?.display()))
        .args(["org.apache.cassandra.tools.NodeTool", "-h", "127.0.0.1", "-p", &port.to_string()])
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(&error.to_string()))?;
    let output = child.stdout.take();
    let read = tokio::task::spawn_blocking(move || output.map(std::io::read_to_string).transpose());
    let Ok(Ok(Ok(text))) = tokio::time::timeout(PATIENCE, read).await else {
        // It may have ended by itself.
        drop(child.kill());
        drop(child.wait());
        return Err(timeout(PATIENCE, true));
    };
    let (status, text) = (child.wait(), text.unwrap_or_default());
    if status.is_ok_and(|status| status.success()) { Ok(text) } else { Err(failed(text.trim())) }
}

/// Whether a server is there; one that is alone is taken to be, so that its absence is an error. One of several that was lost has nothing to bring to rest.
fn is_there(options: &Options, port: u16) -> bool {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    options.hosts.len() < 2 || TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok()
}

/// What a text that begins with `nodetool` gives for each server whose management port is known. Of `info` it is the largest heap, and of `tablestats` the tables' space.
pub(super) async fn nodetool(options: &Options, text: &str) -> Result<Vec<String>, Fault> {
    let words: Vec<&str> = text.split_whitespace().skip(1).map(|word| word.trim_matches('\'')).collect();
    let there = options.jmx.iter().filter(|port| is_there(options, **port));
    let printed = futures_util::future::try_join_all(there.map(|port| ask(*port, &words))).await?;
    Ok(match words.first() {
        Some(&"info") => {
            let heap = printed
                .first()
                .map(|report| largest_heap(report).ok_or_else(|| unexpected("nodetool says no heap")));
            Vec::from_iter(
                heap.transpose()?.map(|heap| format!("largest heap in MiB (nodetool info)={heap}")),
            )
        }
        Some(&"tablestats") if !printed.is_empty() => {
            vec![printed.iter().map(|report| space_used(report)).sum::<u64>().to_string()]
        }
        _ => printed,
    })
}

/// The most that the heap may take, in MiB, in nodetool's report.
fn largest_heap(report: &str) -> Option<&str> {
    let line = report.lines().find(|line| line.trim_start().starts_with("Heap Memory (MB)"))?;
    Some(line.split_once(':')?.1.split_once('/')?.1.trim())
}

/// The sum of the tables' space in nodetool's report.
fn space_used(report: &str) -> u64 {
    let parts = report.split("\"space_used_total\"").skip(1);
    let number = |part: &str| part.split([':', ' ', '"', ',', '}']).find_map(|word| word.parse::<u64>().ok());
    parts.filter_map(number).sum()
}

/// Replaces the server's first account, whose password is known, by our own.
async fn set_up(options: &Options, patience: Duration) -> Result<(), Fault> {
    let Some((user, password)) = &options.user else { return Ok(()) };
    let first = Options { user: Some((FIRST.to_owned(), Secret::new(FIRST))), ..options.clone() };
    // the generated password is of letters and digits
    let text = format!(
        "CREATE ROLE IF NOT EXISTS {user} WITH PASSWORD = '{}' AND LOGIN = true AND SUPERUSER = true",
        password.expose()
    );
    Link::open(&first, patience).await?.run(text).await.map(drop)
}

/// Looks after the accounts of a server that sensormark started. On loopback its own takes the place of the first one. On an address that other hosts reach, it must be
/// there, and no others.
pub(super) async fn accounts(options: &Options, patience: Duration) -> Result<Link, Fault> {
    let is_on_loopback = options.is_on_loopback();
    let link = match Link::open(options, patience).await {
        Err(Fault::Refused { codes, .. }) if is_on_loopback && codes == ["AuthenticationError"] => {
            set_up(options, patience).await?;
            Link::open(options, patience).await?
        }
        opened => opened?,
    };
    let mut others = Vec::new();
    let listed = link.run("SELECT role FROM system_auth.roles").await?;
    each_text(listed, &mut |role| others.push(role))?;
    others.retain(|role| options.user.as_ref().is_some_and(|(user, _)| user != role));
    // A slow server may not have got to the end of the set-up before.
    if is_on_loopback && others.iter().any(|role| role == FIRST) {
        link.run(format!("DROP ROLE IF EXISTS {FIRST}")).await?;
    }
    if is_on_loopback || others.is_empty() {
        return Ok(link);
    }
    let text = format!(
        "other hosts can reach the server, and it has accounts that sensormark did not make: {}; see who uses its host, and start again",
        others.join(", ")
    );
    Err(known(ErrorKind::Configuration, text, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heap_is_read_from_the_report() {
        let report = "Load                   : 1 KiB\nHeap Memory (MB)       : 149.77 / 512.00\nOff Heap Memory (MB)   : 0.01\n";
        assert_eq!(largest_heap(report), Some("512.00"));
        assert_eq!(largest_heap("Off Heap Memory (MB) : 0.01"), None);
    }

    #[test]
    fn space_is_added_up() {
        let report = r#"{"k":{"tables":{"a":{"space_used_total":"120","x":1},"b":{"space_used_total": 5}}}}"#;
        assert_eq!(space_used(report), 125);
    }
}
