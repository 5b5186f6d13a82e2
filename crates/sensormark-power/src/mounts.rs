//! Mounts of this process's own, which those that it starts inherit and nobody else sees.

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use rustix::process::{getegid, geteuid};
use std::fs::{File, OpenOptions};
use std::io;

/// What a file system in user space is served through.
pub(crate) const DEVICE: &str = "/dev/fuse";

/// Gives this process mounts of its own. An ordinary user stays who he is, and may mount.
///
/// # Errors
/// In words: the device cannot be opened, or the kernel allows this user no mounts of his own. Also where this process has several threads by now.
pub fn own_mounts() -> Result<(), String> {
    device().map_err(|error| {
        let help = match error.kind() {
            io::ErrorKind::PermissionDenied => "run it as root, or let all users open it: sudo chmod 666",
            _ => "load it: sudo modprobe fuse; it should then be",
        };
        format!("a power cut needs {DEVICE}, which cannot be opened ({error}); {help} {DEVICE}")
    })?;
    separate().map_err(|error| {
        format!("a power cut needs mounts of its own, which this user may not have ({error}); run it as root, or see the sysctl kernel.unprivileged_userns_clone")
    })
}

/// The device, opened for a new file system.
pub(crate) fn device() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(DEVICE)
}

fn separate() -> io::Result<()> {
    let (user, group) = (geteuid(), getegid());
    if user.is_root() {
        unshare(CloneFlags::CLONE_NEWNS)?;
    } else {
        unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)?;
        std::fs::write("/proc/self/setgroups", "deny")?;
        std::fs::write("/proc/self/uid_map", format!("{0} {0} 1", user.as_raw()))?;
        std::fs::write("/proc/self/gid_map", format!("{0} {0} 1", group.as_raw()))?;
    }
    let none = None::<&str>;
    Ok(mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)?)
}
