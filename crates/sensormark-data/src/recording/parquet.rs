//! Parquet as rows, as arrow's crates write its columns.

use std::fs::File;

use arrow_csv::WriterBuilder;
use parquet::{arrow::arrow_reader::ParquetRecordBatchReaderBuilder, errors::ParquetError};

use super::{
    error::{Result, unclear},
    source::Source,
};

/// Writes it as CSV, a row a row. Where it is not Parquet throughout, or has columns of lists, that is said.
pub fn to_csv(source: &Source, copy: &mut File) -> Result<()> {
    let mut writer = WriterBuilder::new().with_header(true).build(copy);
    let mut written = || -> Result<(), ParquetError> {
        for batch in ParquetRecordBatchReaderBuilder::try_new(File::open(&source.path)?)?.build()? {
            writer.write(&batch?)?;
        }
        Ok(())
    };
    written()
        .or_else(|error| unclear(format!("{source} cannot be read as Parquet: {error}; export it as CSV")))
}
