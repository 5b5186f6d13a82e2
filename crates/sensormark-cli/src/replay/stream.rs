//! A recording that can be read once, from a pipe or standard input. It is copied to a file without a name, so each of a run's processes can read
//! it, and nothing is left behind however the run ends.

use crate::failure::Failure;
use sensormark_data::recording::is_read_once;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// The copy of a stream. It goes when this is dropped.
pub struct Stream {
    file: File,
    /// What the user called it.
    given: PathBuf,
}

impl Stream {
    /// The copy of what the user named; none where that is a file, or nothing.
    pub fn copy(given: &Path) -> Result<Option<Self>, Failure> {
        let is_standard_input = given == Path::new("-");
        if !is_standard_input && !is_read_once(given) {
            return Ok(None);
        }
        let shown = given.display();
        let failed =
            |error: io::Error| Failure::input_output(format!("cannot copy the recording {shown}: {error}"));
        let mut source: Box<dyn Read> = if is_standard_input {
            Box::new(io::stdin())
        } else {
            Box::new(File::open(given).map_err(failed)?)
        };
        let is_terminal = if is_standard_input { io::stdin().is_terminal() } else { is_device(given) };
        if is_terminal {
            return Err(Failure::usage(format!(
                "{shown} is a terminal or a device; name a file, or pipe the recording in: sensormark replay - < recording.csv"
            )));
        }
        let mut file = tempfile::tempfile().map_err(failed)?;
        io::copy(&mut source, &mut file).map_err(failed)?;
        Ok(Some(Self { file, given: given.to_owned() }))
    }

    /// Where processes of this machine find it.
    pub fn path(&self) -> PathBuf {
        let (process, file) = (std::process::id(), self.file.as_raw_fd());
        PathBuf::from(format!("/proc/{process}/fd/{file}"))
    }

    /// What the recording is called.
    pub const NAME: &str = "stdin";

    /// A message about it, in the user's words.
    pub fn in_words(&self, message: &str) -> String {
        let path = self.path().display().to_string();
        message.replace(&path, &self.given.display().to_string())
    }
}

/// Whether it is a device: it may have no end.
fn is_device(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let kind = std::fs::metadata(path).map(|metadata| metadata.file_type());
    kind.is_ok_and(|kind| kind.is_char_device() || kind.is_block_device())
}
