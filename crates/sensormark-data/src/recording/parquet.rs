//! Parquet as rows, as arrow's crates write its columns.

use super::*;
use ::parquet::{arrow::arrow_reader::ParquetRecordBatchReaderBuilder, errors::ParquetError};
use arrow_array::{
    RecordBatch,
    types::{ArrowPrimitiveType, Float64Type},
};
use arrow_cast::cast;
use arrow_csv::WriterBuilder;

/// Writes it as CSV, a row a row. Where it is not Parquet throughout, or has columns of lists, that is said.
pub fn to_csv(source: &Source, copy: &mut File) -> Result<()> {
    let mut writer = WriterBuilder::new().with_header(true).build(copy);
    let mut written = || -> Result<(), ParquetError> {
        for batch in ParquetRecordBatchReaderBuilder::try_new(File::open(&source.path)?)?.build()? {
            let batch = batch?;
            // As text, 32 bits of floating point would lose digits that they have.
            let columns = batch
                .columns()
                .iter()
                .map(|column| {
                    if column.data_type().is_floating() {
                        cast(column, &Float64Type::DATA_TYPE)
                    } else {
                        Ok(Arc::clone(column))
                    }
                })
                .collect::<Result<Vec<_>, _>>()?;
            writer.write(&RecordBatch::try_from_iter(
                batch.schema_ref().fields().iter().map(|field| field.name()).zip(columns),
            )?)?;
        }
        Ok(())
    };
    written().or_else(|error| unclear!("{source} cannot be read as Parquet: {error}; export it as CSV"))
}
