//! Embedded databases: files in a folder that a URL names, and what the file system says of them.
//!
//! How a file is opened, and how the owner's mark is read out of it, is each store's matter.

use sensormark_store::{Endpoint, ErrorKind, Secret, Size, StoreError};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Reads a URL: a folder, with or without the store's name before it. `title` is the database's name as people write it, `example` a URL.
///
/// # Errors
/// [`ErrorKind::Configuration`] when it is empty, names a file, or is the usual notation for a database in memory.
pub fn endpoint(name: &str, title: &str, example: &str, url: &str) -> Result<Endpoint, StoreError> {
    let operation = format!("read the URL of {title}");
    let wrong = |context: String| StoreError::new(ErrorKind::Configuration, operation.as_str(), context);
    let text = without_name(name, url);
    let text = text.strip_prefix("//").unwrap_or(text);
    if text.is_empty() || text.contains('\0') {
        return Err(wrong(format!("name a folder, like {example}")));
    }
    if text.contains("://") {
        return Err(wrong(format!("that is the URL of another database; name a folder, like {example}")));
    }
    if text.contains(":memory:") {
        return Err(wrong(format!("databases in memory are not measured; name a folder, like {example}")));
    }
    let folder = std::path::absolute(text)
        .map_err(|cause| wrong(format!("{text} is no path: {cause}")).with_source(cause))?;
    let metadata = fs::metadata(&folder);
    if metadata.as_ref().is_ok_and(|found| !found.is_dir()) {
        return Err(wrong(format!(
            "{text} is not a folder; sensormark keeps its own files in a folder, like {example}"
        )));
    }
    let managed = metadata.is_err();
    let state = if managed { "new" } else { "existing" };
    Ok(Endpoint {
        url: Secret::new(folder.to_string_lossy()),
        label: format!("{name} ({state} folder)"),
        managed,
        ports: Vec::new(),
    })
}

fn without_name<'a>(name: &str, url: &'a str) -> &'a str {
    let behind = url.strip_prefix(name);
    let behind = behind.and_then(|behind| behind.strip_prefix(':'));
    behind.unwrap_or(url)
}

/// Fails where a database's file is not there.
///
/// # Errors
/// [`ErrorKind::NotFound`].
pub fn check_made(file: &Path, operation: &str) -> Result<(), StoreError> {
    if file.exists() {
        return Ok(());
    }
    let name = file.file_name().unwrap_or_default().display();
    let text = format!("{name} is not in the folder; create the database first");
    Err(StoreError::new(ErrorKind::NotFound, operation, text))
}

/// Fails where the folder that an endpoint of this store names is gone. One that sensormark makes itself is made when it is used.
///
/// # Errors
/// [`ErrorKind::NotFound`].
pub fn check_there(name: &str, endpoint: &Endpoint) -> Result<(), StoreError> {
    if endpoint.managed || path(name, endpoint).is_dir() {
        return Ok(());
    }
    Err(StoreError::new(
        ErrorKind::NotFound,
        "look at the folder",
        "the folder is no longer there; name another one",
    ))
}

/// The folder that an endpoint of this store names.
pub fn path(name: &str, endpoint: &Endpoint) -> PathBuf {
    PathBuf::from(without_name(name, endpoint.url.expose()))
}

/// The names of the files with this ending in a folder, without it and sorted; none where there is no folder.
///
/// # Errors
/// What the file system says.
pub fn names(folder: &Path, ending: &str) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        names.extend(name.strip_suffix(ending).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// Bytes of the blocks that a file occupies; 0 where there is none.
///
/// # Errors
/// What the file system says.
pub fn blocks(path: &Path) -> io::Result<u64> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.blocks() * 512),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(cause) => Err(cause),
    }
}

/// A database's file and what its database keeps beside it under longer names (logs, say), the file first; none where there is no folder.
///
/// # Errors
/// What the file system says.
pub fn files(file: &Path) -> io::Result<Vec<PathBuf>> {
    let own = file.file_name().unwrap_or_default().to_string_lossy();
    let mut files = Vec::new();
    let entries = match fs::read_dir(file.parent().unwrap_or(file)) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(files),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&*own) {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

/// Removes a database's file and what is beside it.
///
/// # Errors
/// What the file system says, but for what is gone already.
pub fn remove_files(file: &Path) -> io::Result<()> {
    for file in files(file)? {
        let removed = if file.is_dir() { fs::remove_dir_all(&file) } else { fs::remove_file(&file) };
        match removed {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
            _ => {}
        }
    }
    Ok(())
}

/// Drops the database with this file. The folder goes with its last database, where sensormark made it. `title` is the database's name as people write it.
///
/// # Errors
/// As [`file_error`].
pub fn drop_database(title: &str, endpoint: &Endpoint, file: &Path) -> Result<(), StoreError> {
    let failed = |cause| file_error(&format!("drop the {title} database"), cause);
    remove_files(file).map_err(failed)?;
    if endpoint.managed
        && let Some(folder) = file.parent()
    {
        // Fails, as it should, while other databases are in it.
        drop(fs::remove_dir(folder));
    }
    Ok(())
}

/// What a database's files occupy; the log is the one with this ending.
///
/// # Errors
/// What the file system says.
pub fn size(file: &Path, log_ending: &str) -> io::Result<Size> {
    let (mut total_bytes, mut log_bytes) = (0, 0);
    for file in files(file)? {
        let bytes = blocks(&file)?;
        total_bytes += bytes;
        if file.to_string_lossy().ends_with(log_ending) {
            log_bytes = bytes;
        }
    }
    Ok(Size { total_bytes, log_bytes: Some(log_bytes) })
}

/// A failure of the file system, in the contract's terms.
pub fn file_error(operation: &str, cause: io::Error) -> StoreError {
    let (kind, advice) = match cause.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            (ErrorKind::Configuration, "this user may not write there; choose another folder")
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            (ErrorKind::DiskFull, "free space on the disk that holds the folder")
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            (ErrorKind::Configuration, "a file is where the folder should be; choose another folder")
        }
        io::ErrorKind::NotFound => (ErrorKind::NotFound, "it is not there"),
        _ => (ErrorKind::Unavailable, "see the kernel's log"),
    };
    StoreError::new(kind, operation, format!("{cause}; {advice}")).with_source(cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = "somedb:/path/to/folder";

    fn read(url: &str) -> Result<Endpoint, StoreError> {
        endpoint("somedb", "SomeDB", EXAMPLE, url)
    }

    #[test]
    fn urls_name_folders() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        for url in [path.to_owned(), format!("somedb:{path}"), format!("somedb://{path}")] {
            let endpoint = read(&url).unwrap();
            assert_eq!(super::path("somedb", &endpoint), folder.path());
            assert!(!endpoint.managed && !endpoint.label.contains(path));
        }
        assert!(read(&format!("{path}/new")).unwrap().managed);
        let file = folder.path().join("file");
        fs::write(&file, "x").unwrap();
        for url in ["", "somedb:", ":memory:", file.to_str().unwrap()] {
            let error = read(url).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration, "{url}");
        }
        let other = read("postgresql://user:hunter2@localhost/").unwrap_err();
        assert_eq!(other.kind(), ErrorKind::Configuration);
        assert!(!other.to_string().contains("hunter2"), "{other}");
    }

    #[test]
    fn databases_are_the_files_with_the_ending() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.some", "a.some", "a.some.log", "other"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        assert_eq!(names(folder.path(), ".some").unwrap(), ["a", "b"]);
        assert!(names(&folder.path().join("none"), ".some").unwrap().is_empty());
        assert!(blocks(&folder.path().join("a.some")).unwrap() > 0);
        assert_eq!(blocks(&folder.path().join("none")).unwrap(), 0);
    }

    #[test]
    fn a_database_goes_with_what_is_beside_it_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.some", "a.some-wal", "b.some"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        fs::create_dir(folder.path().join("a.some.tmp")).unwrap();
        let file = folder.path().join("a.some");
        assert_eq!(files(&file).unwrap().first(), Some(&file));
        let size = size(&file, "-wal").unwrap();
        assert!(size.log_bytes.unwrap() > 0 && size.total_bytes > size.log_bytes.unwrap());
        let endpoint = Endpoint { managed: true, ..read(folder.path().to_str().unwrap()).unwrap() };
        drop_database("SomeDB", &endpoint, &file).unwrap();
        assert_eq!(names(folder.path(), "").unwrap(), ["b.some"]);
        drop_database("SomeDB", &endpoint, &folder.path().join("b.some")).unwrap();
        assert!(!folder.path().exists(), "the folder was sensormark's own");
    }
}
