//! A file that shows every kind of key, and putting a file where the user wants it.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// A commented workload file that runs as it is.
pub const TEMPLATE: &str = include_str!("template.toml");

/// Writes a file of this text: beside its place, then put there, so that nobody finds half of it. One that is there stays as it is.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] when there is one; else what the system says.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut draft = tempfile::Builder::new()
        .prefix(".sensormark-init-")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .tempfile_in(folder)?;
    draft.write_all(text.as_bytes())?;
    draft.as_file().sync_all()?;
    draft.persist_noclobber(path).map_err(|error| error.error)?;
    // The name is on disk too when the folder is; a folder that cannot be flushed is no reason to fail.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::own::file::parse;

    #[test]
    fn the_file_to_start_from_is_right() {
        let read = parse(TEMPLATE, "own.toml", Path::new("."), &[], &|_| Ok(()));
        let parameters = read.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(parameters.limits.len(), 5);
        assert_eq!(parameters.phases[1].queries.len(), 3);
    }

    #[test]
    fn a_file_that_is_there_stays() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("own.toml");
        write(&path, TEMPLATE).expect("a new file");
        std::fs::write(&path, "mine").expect("ours");
        let refused = write(&path, TEMPLATE).expect_err("it is there");
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "mine");
        assert_eq!(std::fs::read_dir(folder.path()).expect("ours").count(), 1);
    }
}
