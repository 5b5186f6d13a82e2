//! Parquet as rows, as arrow's crates write its columns.

use std::{fs::File, io::Seek};

use arrow_csv::WriterBuilder;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;

use super::{
    error::{RecordingError, unclear},
    source::Source,
};

/// A copy as CSV, a row a row. Where it is not Parquet throughout, or has columns of lists, that is said.
pub fn to_csv(source: &Source) -> Result<File, RecordingError> {
    let copy = tempfile::tempfile().map_err(|error| source.failed(error))?;
    let mut copy = write(&source.path, copy).or_else(|error| {
        let given = source.given.display();
        unclear(format!("{given} cannot be read as Parquet: {error}; export it as CSV"))
    })?;
    copy.rewind().map_err(|error| source.failed(error))?;
    Ok(copy)
}

fn write(path: &std::path::Path, copy: File) -> Result<File, ParquetError> {
    let rows = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?.build()?;
    let mut writer = WriterBuilder::new().with_header(true).build(copy);
    for batch in rows {
        writer.write(&batch?)?;
    }
    Ok(writer.into_inner())
}
