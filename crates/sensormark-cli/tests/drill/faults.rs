//! What befalls the program, its processes, its disk, its network and its clock.

use crate::running::{Process, Running, processes_of};
use crate::step::{Fault, Victim};
use crate::stores::signal;
use crate::support::Place;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// How long a step looks for the process that it is about.
const SEARCH: Duration = Duration::from_secs(20);

/// What happens to a process or all of them; says whether there was one.
pub fn strike(fault: Fault, running: &mut Running, place: &Place) -> Result<bool, String> {
    match fault {
        Fault::Signal(name, victim) => on(victim, running, place, |id| {
            signal(name, &[id]);
            Ok(())
        }),
        Fault::Twice(milliseconds) => on(Victim::Coordinator, running, place, |id| {
            signal("INT", &[id]);
            std::thread::sleep(Duration::from_millis(milliseconds));
            signal("INT", &[id]);
            Ok(())
        }),
        Fault::Pause(milliseconds, victim) => on(victim, running, place, |id| {
            signal("STOP", &[id]);
            std::thread::sleep(Duration::from_millis(milliseconds));
            signal("CONT", &[id]);
            Ok(())
        }),
        Fault::Hang => on(Victim::Server, running, place, |_| {
            let servers = processes_of(place).into_iter().filter(Process::is_server);
            signal("STOP", &servers.map(|one| one.id).collect::<Vec<_>>());
            Ok(())
        }),
        Fault::Descriptors(count, victim) => {
            on(victim, running, place, |id| limit(id, &format!("--nofile={count}:")))
        }
        Fault::Memory(kib, victim) => on(victim, running, place, |id| {
            let more = memory_bytes(id).map(|bytes| bytes + (kib << 10));
            more.map_or(Ok(()), |bytes| limit(id, &format!("--as={bytes}:")))
        }),
        Fault::FullDisk(_) | Fault::Silence | Fault::Clock(_) => Err("is not done to a process".to_owned()),
    }
}

/// Does something to a process of this kind, as soon as there is one. False when the program ended before.
fn on(
    victim: Victim,
    running: &mut Running,
    place: &Place,
    act: impl Fn(u32) -> Result<(), String>,
) -> Result<bool, String> {
    let deadline = Instant::now() + SEARCH;
    while running.is_running() && Instant::now() < deadline {
        let found = match victim {
            Victim::Coordinator => Some(running.id()),
            Victim::Role => processes_of(place).into_iter().find(Process::is_role).map(|one| one.id),
            Victim::Server => processes_of(place).into_iter().find(Process::is_server).map(|one| one.id),
        };
        if let Some(id) = found {
            return act(id).map(|()| true);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(false)
}

/// Sets a limit of a process. One that ended meanwhile needs none.
fn limit(id: u32, what: &str) -> Result<(), String> {
    let output = Command::new("prlimit").args(["--pid", &id.to_string(), what]).output();
    output.map(drop).map_err(|error| format!("run prlimit: {error}"))
}

/// The memory that a process has mapped.
fn memory_bytes(id: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib << 10)
}

/// A file system in memory, unmounted when it is dropped.
pub struct Disk(PathBuf);

impl Disk {
    /// Mounts one with room for all, as `disk` in a place.
    ///
    /// # Errors
    /// Why it cannot be mounted: it takes root.
    pub fn mount(place: &Place) -> Result<Self, String> {
        let disk = Self(place.path().join("disk"));
        std::fs::create_dir(&disk.0).map_err(|error| error.to_string())?;
        mount(&["-t", "tmpfs", "-o", "size=1g,mode=755", "tmpfs"], &disk.0)?;
        std::fs::create_dir(disk.0.join("data")).map_err(|error| error.to_string())?;
        Ok(disk)
    }

    /// Takes away what is left, but for so many KiB.
    ///
    /// # Errors
    /// When the kernel refuses it again and again.
    pub fn shrink(&self, left_kib: u64) -> Result<(), String> {
        let mut shrunk = Ok(());
        for _ in 0..50 {
            let size = self.used_kib()? + left_kib + 4;
            shrunk = mount(&["-o", &format!("remount,size={size}k")], &self.0);
            if shrunk.is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        shrunk
    }

    /// Gives room again, so that what is there can be read by a program that also writes.
    ///
    /// # Errors
    /// When the kernel refuses it.
    pub fn grow(&self) -> Result<(), String> {
        mount(&["-o", "remount,size=1g"], &self.0)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    fn used_kib(&self) -> Result<u64, String> {
        let output = Command::new("df").args(["-k", "--output=used"]).arg(&self.0).output();
        let text = output.map_err(|error| error.to_string())?.stdout;
        let text = String::from_utf8_lossy(&text).into_owned();
        let last = text.lines().last().and_then(|line| line.trim().parse().ok());
        last.ok_or_else(|| format!("df says {text:?}"))
    }
}

fn mount(arguments: &[&str], folder: &Path) -> Result<(), String> {
    let output = Command::new("mount").args(arguments).arg(folder).output();
    let output = output.map_err(|error| format!("run mount: {error}"))?;
    let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    output.status.success().then_some(()).ok_or(words)
}

impl Drop for Disk {
    fn drop(&mut self) {
        Command::new("umount").arg("-l").arg(&self.0).output().ok();
    }
}

/// A wall clock that steps: a library that the program loads before the system's, and the file with the step.
pub struct Clock {
    library: PathBuf,
    step: PathBuf,
}

impl Clock {
    /// Compiles the library into a place.
    ///
    /// # Errors
    /// When there is no C compiler.
    pub fn new(place: &Place) -> Result<Self, String> {
        const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/drill/clock.c");
        let clock = Self { library: place.path().join("clock.so"), step: place.path().join("clock") };
        let output = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&clock.library, Path::new(SOURCE)])
            .output()
            .map_err(|error| format!("run cc: {error}"))?;
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        output.status.success().then_some(()).ok_or(words)?;
        clock.set(0)?;
        Ok(clock)
    }

    /// Steps it by so many seconds against the kernel's.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn set(&self, seconds: i64) -> Result<(), String> {
        use std::io::Write;
        let file = std::fs::OpenOptions::new().create(true).truncate(false).write(true).open(&self.step);
        let written = file.and_then(|mut file| file.write_all(&seconds.to_ne_bytes()));
        written.map_err(|error| error.to_string())
    }

    /// What a program needs to have it.
    pub fn variables(&self) -> Vec<(String, String)> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        vec![
            ("LD_PRELOAD".to_owned(), text(&self.library)),
            ("SENSORMARK_DRILL_CLOCK".to_owned(), text(&self.step)),
        ]
    }
}
