//! The file of a recording, as rows of UTF-8: itself, or a copy without a name of what is packed, in another encoding or in another form.

use super::*;
use encoding_rs::{Encoding, UTF_8};
use encoding_rs_io::DecodeReaderBytesBuilder;
use std::os::fd::AsRawFd;

impl Display for Source {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        self.given.display().fmt(formatter)
    }
}

impl Source {
    pub fn open(given: &Path, options: &RecordingOptions) -> Result<Self> {
        let file_name = || given.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut source = Self {
            name: options.name.clone().unwrap_or_else(file_name),
            given: given.to_owned(),
            path: given.to_owned(),
            copy: None,
            notes: Vec::new(),
            lines_before: 0,
        };
        if is_read_once(given) {
            return unclear!(
                "{source} can be read only once; copy it to a file, or pipe it into sensormark replay -"
            );
        }
        let file = source.reader()?;
        match source.head()?[..] {
            [0x1f, 0x8b, ..] => {
                source.unpack("unpacked with gzip", flate2::read::MultiGzDecoder::new(file))?
            }
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                source.unpack("unpacked with zstd", zstd::Decoder::new(file)?)?
            }
            _ => {}
        }
        source.decode(options)?;
        let head = source.head()?;
        let is = |marks: &[&[u8]]| begins(head.trim_ascii_start(), marks);
        if is(&[b"PAR1"]) {
            source.lines_before = 1;
            source.copied("Parquet", parquet)?;
        } else if is(&[b"BZh", b"\xfd7z", b"PK\x03\x04"]) {
            return unclear!(
                "{source} is packed, or a spreadsheet; export it as CSV, or unpack it into a pipe: bzcat, xzcat or unzip -p {source} | sensormark replay -"
            );
        } else if is(&[b"{"]) {
            source.lines_before = 1;
            source.copied("JSON lines", json::to_csv)?;
        } else if head
            .trim_ascii_start()
            .strip_prefix(b"[")
            .is_some_and(|rest| rest.trim_ascii_start().starts_with(b"{"))
        {
            return unclear!(
                "{source} is one JSON array, and a recording has an object a line; write it so with: jq -c '.[]' {source}"
            );
        }
        Ok(source)
    }

    /// Decodes what is not UTF-8.
    fn decode(&mut self, options: &RecordingOptions) -> Result<()> {
        let encoding = options.encoding.as_ref().and_then(|name| Encoding::for_label(name.as_bytes()));
        if let (None, Some(name)) = (encoding, &options.encoding) {
            return unclear!(
                "--encoding {name}: there is no such encoding; usual ones are windows-1252, latin1, utf-16le"
            );
        }
        if !begins(&self.head()?, &[b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"])
            && encoding.is_none_or(|encoding| encoding == UTF_8)
        {
            return Ok(());
        }
        let mut builder = DecodeReaderBytesBuilder::new();
        let decoded = builder.encoding(encoding).utf8_passthru(true).strip_bom(true).build(self.reader()?);
        self.unpack(
            &format!("decoded from {}", encoding.map_or("Unicode with a mark", Encoding::name)),
            decoded,
        )
    }

    fn unpack(&mut self, note: &str, mut from: impl Read) -> Result<()> {
        self.copied(note, |_, copy| Ok(io::copy(&mut from, copy).map(drop)?))
    }

    /// Reads what is written to a copy from now on.
    fn copied(&mut self, note: &str, write: impl FnOnce(&Self, &mut File) -> Result<()>) -> Result<()> {
        let mut copy = tempfile::tempfile()?;
        write(self, &mut copy)?;
        copy.rewind()?;
        self.path = format!("/proc/self/fd/{}", copy.as_raw_fd()).into();
        self.copy = Some(copy);
        self.notes.push(format!("the file is {note}"));
        Ok(())
    }

    /// All of it, from the start.
    pub fn reader(&self) -> Result<BufReader<File>> {
        Ok(BufReader::with_capacity(1 << 17, File::open(&self.path)?))
    }

    fn head(&self) -> Result<Vec<u8>> {
        let mut head = Vec::new();
        self.reader()?.take(1 << 10).read_to_end(&mut head)?;
        Ok(head)
    }
}

/// Whether the bytes begin with one of these marks.
fn begins(bytes: &[u8], marks: &[&[u8]]) -> bool {
    marks.iter().any(|mark| bytes.starts_with(mark))
}

#[cfg(feature = "parquet")]
use super::parquet::to_csv as parquet;

#[cfg(not(feature = "parquet"))]
fn parquet(source: &Source, _: &mut File) -> Result<()> {
    unclear!(
        "{} is Parquet, which this sensormark was built without; build it with the feature parquet, or export the file as CSV",
        source
    )
}
