//! Files and folders of a server of our own: one way to write what nobody else may read.
//!
//! A file is written beside its place, readable for its owner alone, and then takes it by a rename. So nobody sees half of it, and what
//! was there before is never written through. The supervisor gives all of them to the user that the server runs as.

use rustix::io::Errno;
use sensormark_store::server::ServerFolder;
use sensormark_store::{ErrorKind, StoreError};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The operation in errors of this module.
const OPERATION: &str = "write the server's files";

/// The error of a file operation, with its kind and a next step.
pub(crate) fn file_error(operation: &str, path: &Path, error: io::Error) -> StoreError {
    let (kind, advice) = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            (ErrorKind::DiskFull, "free space there, or choose a folder on another disk")
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            (ErrorKind::Configuration, "choose a folder that you may write (state folder: SENSORMARK_STATE)")
        }
        _ if matches!(Errno::from_io_error(&error), Some(Errno::MFILE | Errno::NFILE)) => {
            (ErrorKind::Overload, "raise the limit of open files (ulimit -n)")
        }
        _ => (ErrorKind::Configuration, "choose another folder (state folder: SENSORMARK_STATE)"),
    };
    StoreError::new(kind, operation, format!("{}: {error}; {advice}", path.display())).with_source(error)
}

/// Makes or empties a file that only its owner can read.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    // The mode again: the file may have been there.
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Puts a file that only its owner can read in its place, as a whole; on disk before it returns.
pub(crate) fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(".draft");
    let mut file = create_private(Path::new(&draft))?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(draft, path)
}

/// Writes a file in the server's folder that only its owner may read; its path.
///
/// # Errors
/// [`ErrorKind::Configuration`] or [`ErrorKind::DiskFull`] when it cannot be written.
pub fn write_private(folder: &ServerFolder, name: &str, text: &str) -> Result<PathBuf, StoreError> {
    let path = folder.join(name);
    replace_private(&path, text.as_bytes()).map_err(|error| cannot_write(name, error))?;
    Ok(path)
}

/// A path as text, as a configuration file or a command line needs it.
///
/// # Errors
/// [`ErrorKind::Configuration`] when it is not UTF-8.
pub fn path_text(path: &Path) -> Result<String, StoreError> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        StoreError::new(ErrorKind::Configuration, OPERATION, "the folder's name is not UTF-8; choose another")
    })
}

fn cannot_write(name: &str, error: io::Error) -> StoreError {
    let kind = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::DiskFull,
        _ => ErrorKind::Configuration,
    };
    let text = format!("cannot write {name}: {error}; check the folder's rights and the disk's space");
    StoreError::new(kind, OPERATION, text).with_source(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::Secret;

    #[test]
    fn a_file_is_private_and_replaced_not_written_through() {
        let root = tempfile::tempdir().unwrap();
        let folder = ServerFolder {
            root: root.path().to_owned(),
            data: root.path().join("data"),
            logs: None,
            address: std::net::Ipv4Addr::LOCALHOST,
            ports: [1, 2, 3, 4, 5],
            password: Secret::new("hunter2"),
            user: None,
        };
        let elsewhere = root.path().join("elsewhere");
        fs::write(&elsewhere, "untouched").unwrap();
        std::os::unix::fs::symlink(&elsewhere, folder.join("secret")).unwrap();
        let path = write_private(&folder, "secret", "hunter2").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "hunter2");
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "untouched");
        let about = fs::symlink_metadata(&path).unwrap();
        assert!(about.is_file() && about.permissions().mode() & 0o777 == 0o600);
        let left = fs::read_dir(root.path()).unwrap().count();
        assert_eq!(left, 2, "no draft is left");
        assert!(write_private(&folder, "nowhere/secret", "").is_err());
    }
}
