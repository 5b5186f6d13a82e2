//! Cold reads. Before a phase that only reads, the server is ended in good order. What it keeps is written to the disk and dropped from the kernel's page
//! cache, and the server is started again. An embedded database has no server, and nobody has it open between two phases.
//!
//! Pages are dropped file by file (`posix_fadvise`), which needs no privilege and leaves the host's other programs their own. What a disk or
//! a hypervisor keeps in memory of its own is out of reach. Which phases begin cold is decided by their coordinators.

use super::benchmark_case::BenchmarkCase;
use super::context::{CaseRunner, RunContext, RunEvent};
use super::deployment::Deployment;
use super::failure::TrialFailure;
use rustix::fs::{Advice, fadvise, syncfs};
use sensormark_result::measurement::record::{Cache, TrialRecord};
use sensormark_result::probe::{Recorder, device_of_folder};
use sensormark_store::{ErrorKind, StoreError};
use std::fs::File;
use std::path::Path;

/// Whether a run can be what is asked for, its databases lying in this folder: hot it always can.
///
/// # Errors
/// Why not, and what to try, in words.
pub fn check(
    cache: Cache,
    runner: &dyn CaseRunner,
    cases: &[BenchmarkCase],
    data: &Path,
) -> Result<(), String> {
    if cache == Cache::Hot {
        return Ok(());
    }
    let existing = cases.iter().find(|case| case.choice.url.is_some());
    if let Some(case) = existing {
        let title = case.choice.title();
        return Err(format!(
            "--cache cold: {title} is given by URL, and sensormark cannot restart a server that it did not start; leave out the URL, or the option"
        ));
    }
    if !cases.iter().any(|case| runner.only_reads(case)) {
        return Err("--cache cold: nothing in this workload only reads, so nothing would begin cold; leave it out, or take the writers out of what is measured".to_owned());
    }
    let filesystem = device_of_folder(data).map_or_else(|_| String::new(), |device| device.filesystem);
    if ["tmpfs", "ramfs"].contains(&filesystem.as_str()) {
        return Err(format!(
            "--cache cold: {} is on {filesystem}, whose files are nowhere but in memory; name a folder on a disk with --data",
            data.display()
        ));
    }
    Ok(())
}

/// Makes a database cold whose clients are gone; a recorder that watches it goes on with its new processes.
///
/// # Errors
/// When the server does not end or start, or its files cannot be reached.
pub fn start(
    context: &RunContext<'_>,
    deployment: &Deployment,
    recorder: Option<&Recorder>,
) -> Result<(), TrialFailure> {
    context.observer.event(RunEvent::Phase { name: "start cold".to_owned() });
    match deployment.elsewhere() {
        Some(server) => server.start_cold()?,
        None => start_here(deployment)?,
    }
    if let Some((recorder, root)) = recorder.zip(deployment.root()) {
        recorder.follow("server", root)?;
    }
    Ok(())
}

/// Ends a server of this host in good order, drops its files from the page cache, and starts it again.
///
/// # Errors
/// When the server does not end or start, or its files cannot be reached.
pub(super) fn start_here(deployment: &Deployment) -> Result<(), StoreError> {
    deployment.halt()?;
    for folder in deployment.folders() {
        forget(&folder).map_err(|error| {
            let path = folder.display();
            let text = format!("cannot drop {path} from the page cache: {error}");
            StoreError::new(ErrorKind::Rejected, "start cold", text).with_source(error)
        })?;
    }
    if deployment.is_ours() {
        deployment.restart()?;
    }
    Ok(())
}

/// Has the filesystem of a folder written to its disk, and drops all files below the folder from the page cache. Nobody may have them open.
fn forget(folder: &Path) -> std::io::Result<()> {
    syncfs(File::open(folder)?)?;
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(path) = waiting.pop() {
        let kind = path.symlink_metadata()?.file_type();
        if kind.is_dir() {
            for entry in std::fs::read_dir(&path)? {
                waiting.push(entry?.path());
            }
        } else if kind.is_file() {
            fadvise(File::open(&path)?, 0, None, Advice::DontNeed)?;
        }
    }
    Ok(())
}

/// Warns of measured phases of a cold trial for which nothing was fetched from a disk, so that they were hardly cold.
pub fn warn(record: &mut TrialRecord) {
    let implementation = &record.implementation;
    if implementation.cache != Cache::Cold {
        return;
    }
    let embedded = implementation.embedded;
    let is_its = |role: &str| role != "coordinator" && (role == "server") != embedded;
    let is_cold = |name: &str| {
        let mut loads = record.loads.iter().filter(|load| load.phase == name);
        loads.clone().count() > 0 && loads.all(|load| !load.writes)
    };
    let unread = record.phases.iter().filter(|phase| {
        let totals = phase.totals.iter().flat_map(|totals| &totals.roles);
        let mut its = totals.filter(|(role, _)| is_its(role));
        is_cold(&phase.name) && its.any(|(_, used)| used.storage_read_bytes == Some(0))
    });
    let warnings: Vec<String> = unread
        .map(|phase| format!("{}: it began cold, and nothing was fetched from the disk for it: what it read was in memory by then", phase.name))
        .collect();
    record.warnings.extend(warnings);
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::{Errno, ReadWriteFlags, preadv2};
    use std::io::IoSliceMut;
    use std::time::Duration;

    /// Whether the file's first byte can be read without its disk.
    fn is_in_memory(file: &Path) -> bool {
        let (file, mut byte) = (File::open(file).expect("ours"), [0]);
        let mut buffers = [IoSliceMut::new(&mut byte)];
        let read = preadv2(&file, &mut buffers, 0, ReadWriteFlags::NOWAIT);
        assert!(matches!(read, Ok(1) | Err(Errno::AGAIN)), "{read:?}");
        read.is_ok()
    }

    #[test]
    fn files_are_dropped_from_the_page_cache_and_stay_as_they_were() {
        // Beside this program, which is on a disk; the system's folder for temporary files may be in memory.
        let program = std::env::current_exe().expect("this program");
        let here = program.parent().expect("it is in a folder");
        let folder = tempfile::tempdir_in(here).expect("a folder");
        let file = folder.path().join("below").join("data");
        std::fs::create_dir(folder.path().join("below")).expect("ours");
        std::fs::write(&file, vec![7; 1 << 20]).expect("ours");
        std::os::unix::fs::symlink("/not/there", folder.path().join("link")).expect("ours");
        assert!(is_in_memory(&file));
        // A page that the kernel works at stays; a busy machine's are free a moment later.
        let forgotten = (0..20).any(|_| {
            forget(folder.path()).expect("it is ours");
            let gone = !is_in_memory(&file);
            std::thread::sleep(Duration::from_millis(if gone { 0 } else { 100 }));
            gone
        });
        assert!(forgotten);
        assert_eq!(std::fs::read(&file).expect("ours"), vec![7; 1 << 20]);
    }
}
