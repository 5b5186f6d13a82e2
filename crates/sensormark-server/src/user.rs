//! The unprivileged user that servers run as when sensormark itself runs as root.
//!
//! It looks users up and checks what they may reach; the change of user itself is made by `setpriv` (see `spawn`).

use super::files::file_error;
use sensormark_store::error::{ErrorKind, StoreError};
use sensormark_store::server::ServerFolder;
use std::path::Path;

/// A user of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct User {
    /// The name in the user database.
    pub name: String,
    /// The user's number.
    pub uid: u32,
    /// The number of the user's first group.
    pub gid: u32,
}

/// Whether sensormark runs as root.
pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

impl User {
    /// The user of this name.
    ///
    /// # Errors
    /// When there is none, or when it is root.
    pub(super) fn find(name: &str) -> Result<Self, StoreError> {
        let failure = |context: String| {
            StoreError::new(ErrorKind::Configuration, "choose an unprivileged user for the server", context)
        };
        let table = std::fs::read_to_string("/etc/passwd").map_err(|error| {
            failure("cannot read /etc/passwd; run sensormark as an ordinary user".into()).with_source(error)
        })?;
        let user = table.lines().find_map(|line| {
            let mut columns = line.split(':');
            let found = columns.next()? == name;
            let uid = columns.nth(1)?.parse().ok()?;
            let gid = columns.next()?.parse().ok()?;
            found.then(|| Self { name: name.to_owned(), uid, gid })
        });
        match user {
            Some(user) if user.uid == 0 => {
                Err(failure(format!("{name} has root's rights; choose an unprivileged user")))
            }
            Some(user) => Ok(user),
            None => Err(failure(format!(
                "this machine has no user {name}; make it, or run sensormark as an ordinary user"
            ))),
        }
    }

    /// Gives a folder and everything below it to this user (links are not followed).
    ///
    /// # Errors
    /// The first entry that could not be given.
    pub(super) fn take_over(&self, path: &Path) -> std::io::Result<()> {
        std::os::unix::fs::lchown(path, Some(self.uid), Some(self.gid))?;
        if path.symlink_metadata()?.is_dir() {
            for entry in std::fs::read_dir(path)? {
                self.take_over(&entry?.path())?;
            }
        }
        Ok(())
    }

    /// Gives this user all files of a server.
    ///
    /// # Errors
    /// When that is not allowed.
    pub(super) fn take_over_all(&self, folder: &ServerFolder) -> Result<(), StoreError> {
        let parts = [&folder.root, &folder.data];
        for part in parts.into_iter().chain(&folder.logs) {
            self.take_over(part)
                .map_err(|error| file_error("give the files to the server's user", part, error))?;
        }
        Ok(())
    }

    /// Checks, as this user, that a folder can be written.
    ///
    /// # Errors
    /// When it cannot.
    pub(super) fn check_access(&self, folder: &Path) -> Result<(), StoreError> {
        self.check(folder, "-w")
    }

    /// Checks, as this user, that a folder can be entered.
    ///
    /// # Errors
    /// When it cannot.
    pub(super) fn check_entry(&self, folder: &Path) -> Result<(), StoreError> {
        self.check(folder, "-x")
    }

    fn check(&self, folder: &Path, test: &str) -> Result<(), StoreError> {
        let status = std::process::Command::new("setpriv")
            .args(["--reuid", &self.uid.to_string()])
            .args(["--regid", &self.gid.to_string()])
            .args(["--clear-groups", "--", "test", test])
            .arg(folder)
            .status();
        let context = match status {
            Ok(status) if status.success() => return Ok(()),
            Ok(_) => format!(
                "the user {} cannot reach {}. The server runs as that user, because sensormark runs as root. Choose a \
                 folder below one that everybody may enter (permission x for others on each folder above it)",
                self.name,
                folder.display()
            ),
            Err(error) => format!("cannot run setpriv: {error}; install the package util-linux"),
        };
        Err(StoreError::new(ErrorKind::Configuration, "prepare the server's folder", context))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_and_strangers_are_refused() {
        assert!(User::find("root").is_err());
        assert!(User::find("no-such-user-here").is_err());
        let nobody = User::find("nobody").unwrap();
        assert_ne!(nobody.uid, 0);
    }
}
