//! Parquet as rows.
