//! What kind of CSV a file is, and a reader for its rows. How it is found out is in `sniff`.

use super::*;

/// What kind of CSV it is.
pub struct Dialect {
    /// Where the rows are.
    pub source: Source,
    /// Bytes before the table.
    pub skip: u64,
    /// What begins a line that is a comment.
    pub comment: Option<u8>,
    /// The character between cells.
    pub delimiter: u8,
    /// Whether the first row names the columns.
    pub has_header: bool,
    /// Rows of units below the header.
    pub units_rows: usize,
    /// Names of the columns as the file has them, one a column; empty where a column has none.
    pub names: Vec<String>,
    /// What was done to the file, and what was found around the table.
    pub notes: Vec<String>,
    /// Columns of the group key, where InfluxDB names them.
    pub group_key: Vec<String>,
}

impl Dialect {
    /// Whether a row is the header again, as where files were put together.
    pub fn is_header(&self, row: &ByteRecord) -> bool {
        self.has_header && row.iter().map(<[u8]>::trim_ascii).eq(self.names.iter().map(String::as_bytes))
    }
}

/// A reader that takes rows as they come, of any width, the first one too.
pub fn builder(delimiter: u8, comment: Option<u8>) -> csv::ReaderBuilder {
    let mut builder = csv::ReaderBuilder::new();
    builder.delimiter(delimiter).comment(comment).has_headers(false).flexible(true);
    builder
}

/// A record without empty cells, where blanks are between cells: they may be several in a row.
pub fn squeezed(record: ByteRecord, delimiter: u8) -> ByteRecord {
    if delimiter != b' ' {
        return record;
    }
    let mut cells: ByteRecord = record.iter().filter(|cell| !cell.is_empty()).collect();
    cells.set_position(record.position().cloned());
    cells
}
