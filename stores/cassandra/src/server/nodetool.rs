//! nodetool, run against a server's management port on loopback. What is asked of it is the caller's.

use super::find::{find_java, installation};
use super::java::openings;
use sensormark_store::{ErrorKind, StoreError};
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Runs nodetool against a server of our own, and gives what it prints.
pub(crate) async fn nodetool(port: u16, command: &[&str], patience: Duration) -> Result<String, StoreError> {
    let jars = installation()?.path;
    let operation = format!("run nodetool {}", command.join(" "));
    let failed = |context: String| StoreError::new(ErrorKind::Rejected, operation.as_str(), context);
    let mut child = std::process::Command::new(find_java()?)
        .args(openings())
        .args(["-Xmx64M", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"])
        .arg("-cp")
        .arg(format!("{}/*", jars.display()))
        .arg("org.apache.cassandra.tools.NodeTool")
        .args(["-h", "127.0.0.1", "-p", &port.to_string()])
        .args(command)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(format!("Java does not start: {error}")))?;
    let mut output = child.stdout.take();
    let reading = tokio::task::spawn_blocking(move || {
        let mut text = String::new();
        let read = output.as_mut().map(|output| output.read_to_string(&mut text));
        read.transpose().map(|_| text)
    });
    let start = Instant::now();
    let status = loop {
        let waited = child.try_wait();
        match waited.map_err(|error| failed(error.to_string()))? {
            Some(status) => break status,
            None if start.elapsed() > patience => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(crate::error::timeout(&operation, patience.as_millis(), true));
            }
            None => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    let text = reading.await.map_err(|error| failed(error.to_string()))?;
    let text = text.map_err(|error| failed(error.to_string()))?;
    if status.success() {
        return Ok(text);
    }
    Err(failed(format!("it ends with {status}: {}", text.trim())))
}
