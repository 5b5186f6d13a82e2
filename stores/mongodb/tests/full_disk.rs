//! What a full disk does: a server whose data is on a file system of its own, written to until nothing fits any more.
//!
//! To mount a file system takes the rights of root; without them the test is ignored, with the reason.

mod support;

use libtest_mimic::{Arguments, Trial};
use sensormark_server::ManagedServer;
use sensormark_statements::FileStore;
use sensormark_store::{Batch, ErrorKind, Family, FieldType, Store, StoreError, Value};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{block_on, field, plan, table};

/// What the file system holds; the server's journal alone takes 200 MB of it.
const MEGABYTES: u32 = 360;

fn main() {
    let arguments = Arguments::from_args();
    let store = Arc::new(sensormark_stores::mongodb());
    let missing = store.installation().err().map(|error| error.to_string());
    let small = missing.map_or_else(SmallDisk::mount, Err);
    if let Err(reason) = &small {
        eprintln!("ignored: {reason}");
    }
    let ignored = small.is_err();
    let test =
        Trial::test("a full disk ends the server or refuses writes, and the error says so", move || {
            filled(&store, &small?).map_err(Into::into)
        });
    libtest_mimic::run(&arguments, vec![test.with_ignored_flag(ignored)]).exit();
}

/// A file system in memory, unmounted when it is dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount() -> Result<Self, String> {
        let folder = std::env::temp_dir().join(format!("sensormark-full-{}", std::process::id()));
        std::fs::create_dir(&folder).map_err(|error| format!("make a folder: {error}"))?;
        let disk = Self(folder);
        let output = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={MEGABYTES}m,mode=755")])
            .args(["tmpfs".as_ref(), disk.0.as_os_str()])
            .output()
            .map_err(|error| format!("run mount: {error}"))?;
        if output.status.success() {
            return Ok(disk);
        }
        let words = String::from_utf8_lossy(&output.stderr);
        Err(format!("a small file system cannot be mounted: {words}"))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        Command::new("umount").arg(&self.0).output().ok();
        std::fs::remove_dir(&self.0).ok();
    }
}

/// Text that hardly gets smaller when it is compressed.
fn noise(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut text = String::with_capacity(64 << 10);
    while text.len() < 64 << 10 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.push_str(&format!("{state:016x}"));
    }
    text
}

/// MongoDB ends itself when its disk is full: the connection breaks, the write is in doubt, and the supervisor misses the server.
async fn ended(server: &ManagedServer, error: &StoreError) -> Result<(), String> {
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.is_in_doubt(), "{error}");
    assert!(error.to_string().contains("disk is full"), "{error}");
    let started = Instant::now();
    while server.check().is_ok() {
        if started.elapsed() > Duration::from_secs(60) {
            return Err(format!("the server goes on after: {error}"));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

fn filled(store: &FileStore, disk: &SmallDisk) -> Result<(), String> {
    let server = support::server(store, None, Some(&disk.0))?;
    let tables = vec![table("texts", "sensor", vec![1], vec![field("content", FieldType::Text)])];
    let layout = (Family::PerReading, "");
    let plan = plan(store, server.endpoint(), "full_disk", tables, layout);
    let text = |error: StoreError| error.to_string();
    block_on(async {
        store.administrator(&plan).await.map_err(text)?.create().await.map_err(text)?;
        let mut session = store.connect(&plan).await.map_err(text)?;
        let mut refused = None;
        for part in 0..100 {
            let mut batch = Batch::new(0, &plan.schema.tables[0]);
            for row in 0..100 {
                let number = part * 100 + row;
                batch.series.push(0);
                batch.times_ns.push(number);
                let content = Value::Text(noise(number.unsigned_abs()));
                batch.columns[0].push(content).expect("a text");
            }
            match session.write(&batch).await {
                Ok(_) => {}
                // A data file may meet the end before the journal does: that write is refused, and the server goes on for now.
                Err(error) if error.kind() == ErrorKind::DiskFull => refused = Some(error),
                Err(error) => return ended(&server, &error).await,
            }
        }
        refused.map_or_else(|| Err("640 MB went onto a disk of 360".to_owned()), |_| Ok(()))
    })
}
