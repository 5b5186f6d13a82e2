//! The end of a server's log, which messages show. Every known secret is taken out.

use sensormark_store::Secret;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// How much of a log's end is looked at, in bytes.
const TAIL_BYTES: u64 = 64 * 1024;

/// The last lines of what the server printed. If it printed fewer lines, the end of its newest log file comes first. Log files are those that the server keeps
/// itself below its folder (`log`, `*.log`, `*.err`, also one folder down).
pub(super) fn tail(printed: &Path, server_root: &Path, lines: usize, secrets: &[Secret]) -> String {
    let mut text = last_lines(printed, lines);
    let missing = lines.saturating_sub(text.len());
    if missing > 0
        && let Some(own) = newest_log(server_root)
    {
        let mut both = last_lines(&own, missing);
        both.append(&mut text);
        text = both;
    }
    remove_secrets(text.join("\n"), secrets)
}

fn last_lines(path: &Path, lines: usize) -> Vec<String> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let all: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    all[all.len().saturating_sub(lines)..].iter().map(|line| (*line).to_owned()).collect()
}

fn newest_log(folder: &Path) -> Option<PathBuf> {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect()
    };
    let mut files = entries(folder);
    let below: Vec<PathBuf> = files
        .iter()
        .filter(|path| path.symlink_metadata().is_ok_and(|about| about.is_dir()))
        .flat_map(|path| entries(path))
        .collect();
    files.extend(below);
    files
        .into_iter()
        .filter(|path| {
            let is_file = path.symlink_metadata().is_ok_and(|about| about.is_file());
            let named = path.file_name().is_some_and(|name| name == "log")
                || path.extension().is_some_and(|end| end == "log" || end == "err");
            is_file && named
        })
        .max_by_key(|path| path.metadata().and_then(|about| about.modified()).ok())
}

/// Puts "…" in the place of every secret. Very short ones are left: they would garble the text without hiding anything.
fn remove_secrets(mut text: String, secrets: &[Secret]) -> String {
    for secret in secrets {
        let secret = secret.expose().trim();
        if secret.len() >= 4 {
            text = text.replace(secret, "…");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_has_the_last_lines_and_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        let printed = folder.path().join("server.log");
        let own = folder.path().join("own");
        std::fs::create_dir(&own).unwrap();
        std::fs::write(&printed, "one\ntwo hunter2hunter2\n\nthree\n").unwrap();
        let secrets = [Secret::new("hunter2hunter2")];
        assert_eq!(tail(&printed, &own, 2, &secrets), "two …\nthree");
        std::fs::write(own.join("error.log"), "before\nlast\n").unwrap();
        assert_eq!(tail(&printed, &own, 4, &secrets), "last\none\ntwo …\nthree");
        assert_eq!(tail(&own.join("no such file"), &own, 1, &secrets), "last");
    }
}
