//! A folder whose files can lose their power, from both sides: the process that uses it, and the one that serves it.

use crate::mounts::{DEVICE, device};
use crate::shown::Shown;
use crate::unflushed::{Lost, Unflushed};
use fuser::{Config, Session, SessionACL};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use parking_lot::Mutex;
use rustix::process::{Resource, Rlimit, getgid, getrlimit, getuid, setrlimit, umask};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// Where the files are, within the folder that is given.
const ROOT: &str = "kept";
/// Where they are shown.
const PLACE: &str = "files";
/// Who serves answers within this, or is taken as dead.
const PATIENCE: Duration = Duration::from_secs(60);
/// Threads that serve.
const THREADS: usize = 4;

/// A folder whose files lose on command what was not flushed.
#[derive(Debug)]
pub struct PowerFolder {
    place: PathBuf,
    serves: Child,
    line: Mutex<BufReader<UnixStream>>,
}

impl PowerFolder {
    /// Makes it within this folder, which whoever writes has to reach. `command` becomes the process that [`serve`]s.
    ///
    /// # Errors
    /// When it cannot be mounted: this process has no mounts of its own ([`crate::own_mounts`]).
    pub fn make(folder: &Path, command: &mut Command) -> io::Result<Self> {
        for name in [ROOT, PLACE] {
            let made = folder.join(name);
            std::fs::create_dir(&made)?;
            std::fs::set_permissions(&made, PermissionsExt::from_mode(0o777))?;
        }
        let place = folder.join(PLACE);
        let (file, (ours, theirs)) = (device()?, UnixStream::pair()?);
        ours.set_read_timeout(Some(PATIENCE))?;
        let options = format!(
            "fd={},rootmode=40777,user_id={},group_id={},allow_other,default_permissions",
            file.as_raw_fd(),
            getuid().as_raw(),
            getgid().as_raw()
        );
        let flags = MsFlags::MS_NODEV | MsFlags::MS_NOSUID;
        mount(Some(DEVICE), &place, Some("fuse"), flags, Some(options.as_str()))?;
        // The device is its standard input and the line its standard output, so that no other child of ours inherits them.
        let started = command.stdin(file).stdout(OwnedFd::from(theirs)).spawn();
        // What held the device here goes, so that the end of who serves ends all waiting for it.
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let serves = started.inspect_err(|_| unmount(&place))?;
        Ok(Self { place, serves, line: Mutex::new(BufReader::new(ours)) })
    }

    /// The folder to write to.
    pub fn path(&self) -> &Path {
        &self.place
    }

    /// Takes everything that is there as flushed, what was written through memory included.
    ///
    /// # Errors
    /// When who serves it has ended.
    pub fn keep(&self) -> io::Result<()> {
        rustix::fs::syncfs(File::open(&self.place)?)?;
        self.ask("keep").map(drop)
    }

    /// Makes every file what it was at its last flush. Whoever writes must have ended.
    ///
    /// # Errors
    /// When who serves it has ended, or a file cannot be brought back.
    pub fn cut(&self) -> io::Result<Lost> {
        self.ask("cut")
    }

    /// Asks the process that serves to take everything as flushed ("keep"), or to bring back what was flushed ("cut").
    fn ask(&self, what: &str) -> io::Result<Lost> {
        let (mut line, mut answer) = (self.line.lock(), String::new());
        writeln!(line.get_mut(), "{what}")?;
        line.read_line(&mut answer)?;
        let answer: Result<Lost, String> = serde_json::from_str(&answer).map_err(|error| {
            io::Error::other(format!("the file system that can lose power has ended: {error}"))
        })?;
        answer.map_err(io::Error::other)
    }
}

impl Drop for PowerFolder {
    fn drop(&mut self) {
        unmount(&self.place);
        // It ends with its line; one that does not is ended.
        let _ = self.line.get_mut().get_ref().shutdown(Shutdown::Both);
        let _ = self.serves.kill();
        let _ = self.serves.wait();
    }
}

/// Takes the file system away at once; who still has a file of it keeps that.
fn unmount(place: &Path) {
    let _ = umount2(place, MntFlags::MNT_DETACH);
}

/// Serves the files of a folder that [`PowerFolder::make`] was given, until that process ends.
///
/// # Errors
/// When this process was started otherwise, or the kernel ends the file system.
pub fn serve(folder: &Path) -> io::Result<()> {
    let device = io::stdin().as_fd().try_clone_to_owned()?;
    let line = UnixStream::from(io::stdout().as_fd().try_clone_to_owned()?);
    umask(rustix::fs::Mode::empty());
    let most = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most })?;
    let unflushed = Arc::new(Unflushed::default());
    let shown = Shown::new(&folder.join(ROOT), Arc::clone(&unflushed))?;
    let mut config = Config::default();
    config.n_threads = Some(THREADS);
    let _served = Session::from_fd(shown, device, SessionACL::All, config)?.spawn()?;
    for asked in BufReader::new(&line).lines() {
        let answer = match &*asked? {
            "cut" => unflushed.cut().map_err(|error| error.to_string()),
            _ => Ok(unflushed.keep()),
        };
        writeln!(&line, "{}", serde_json::to_string(&answer)?)?;
    }
    Ok(())
}
