//! The file of a recording, as rows of UTF-8: itself, or a copy without a name of what is packed, in another encoding or in another form.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek},
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    sync::Arc,
};

use encoding_rs::Encoding;
use encoding_rs_io::DecodeReaderBytesBuilder;

use super::{
    error::{RecordingError, unclear},
    json,
    options::RecordingOptions,
};

/// How much of a file shows its form, in bytes.
const HEAD: u64 = 1 << 10;

/// Where a recording is read from.
#[derive(Debug, Clone)]
pub struct Source {
    /// What the user named.
    pub given: PathBuf,
    /// What is read.
    pub path: PathBuf,
    /// The copy, which goes with this.
    copy: Option<Arc<File>>,
    /// What was done to it.
    pub notes: Vec<String>,
    /// Lines of the copy before what is line 1 of the file.
    pub lines_before: u64,
}

impl Source {
    pub fn open(given: &Path, options: &RecordingOptions) -> Result<Self, RecordingError> {
        let mut source = Self {
            given: given.to_owned(),
            path: given.to_owned(),
            copy: None,
            notes: Vec::new(),
            lines_before: 0,
        };
        let file = source.reader()?;
        match source.head()?[..] {
            [0x1f, 0x8b, ..] => {
                source.copied("unpacked with gzip", flate2::read::MultiGzDecoder::new(file))?
            }
            [0x28, 0xb5, 0x2f, 0xfd, ..] => {
                let unpacked = ruzstd::decoding::StreamingDecoder::new(file)
                    .map_err(|error| source.failed(io::Error::other(error)))?;
                source.copied("unpacked with zstd", unpacked)?;
            }
            _ => {}
        }
        source.decode(options)?;
        let head = source.head()?;
        match head.trim_ascii_start() {
            [b'P', b'A', b'R', b'1', ..] => source.parquet()?,
            [b'{', ..] => {
                source.copied("JSON lines", json::to_csv(&source)?)?;
                source.lines_before = 1;
            }
            [b'[', b'{' | b'\n' | b'\r', ..] => {
                return unclear(format!(
                    "{0} is one JSON array, and a recording has an object a line; write it so with: jq -c '.[]' {0}",
                    given.display()
                ));
            }
            _ => {}
        }
        Ok(source)
    }

    /// Decodes what is not UTF-8.
    fn decode(&mut self, options: &RecordingOptions) -> Result<(), RecordingError> {
        let known = |name: &str| {
            Encoding::for_label(name.as_bytes()).map_or_else(
                || unclear(format!("--encoding {name}: there is no such encoding; usual ones are utf-8, windows-1252, latin1, utf-16le, shift_jis, gb18030")),
                Ok,
            )
        };
        let encoding = options.encoding.as_deref().map(known).transpose()?;
        let has_wide_mark = matches!(self.head()?[..], [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
        if has_wide_mark || encoding.is_some_and(|encoding| encoding != encoding_rs::UTF_8) {
            let decoded = DecodeReaderBytesBuilder::new().encoding(encoding).build(self.reader()?);
            let name = encoding.map_or("UTF-16", Encoding::name);
            self.copied(&format!("decoded from {name}"), decoded)?;
        }
        Ok(())
    }

    #[cfg(feature = "parquet")]
    fn parquet(&mut self) -> Result<(), RecordingError> {
        let copy = super::parquet::to_csv(self)?;
        self.lines_before = 1;
        self.copied("Parquet", copy)
    }

    #[cfg(not(feature = "parquet"))]
    fn parquet(&mut self) -> Result<(), RecordingError> {
        unclear(format!(
            "{} is Parquet, which this sensormark was built without; build it with the feature parquet, or export the file as CSV",
            self.given.display()
        ))
    }

    /// Reads this from now on.
    fn copied(&mut self, note: &str, mut from: impl Read) -> Result<(), RecordingError> {
        let mut copy = tempfile::tempfile().map_err(|error| self.failed(error))?;
        io::copy(&mut from, &mut copy).and_then(|_| copy.rewind()).map_err(|error| self.failed(error))?;
        self.path = format!("/proc/self/fd/{}", copy.as_raw_fd()).into();
        self.copy = Some(Arc::new(copy));
        self.notes.push(format!("the file is {note}"));
        Ok(())
    }

    /// All of it, from the start.
    pub fn reader(&self) -> Result<BufReader<File>, RecordingError> {
        let file = File::open(&self.path).map_err(|error| self.failed(error))?;
        Ok(BufReader::with_capacity(1 << 17, file))
    }

    fn head(&self) -> Result<Vec<u8>, RecordingError> {
        let mut head = Vec::new();
        self.reader()?.take(HEAD).read_to_end(&mut head).map_err(|error| self.failed(error))?;
        Ok(head)
    }

    /// An error of the system.
    pub fn failed(&self, source: io::Error) -> RecordingError {
        RecordingError::Open { path: self.given.clone(), source }
    }
}
