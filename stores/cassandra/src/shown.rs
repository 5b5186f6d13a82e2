//! The schema in the server's words.

use crate::connection::Link;
use crate::query::decode;
use sensormark_store::StoreError;

/// The keyspace with its tables, as the server describes it.
///
/// # Errors
/// When the server cannot be asked.
pub(crate) async fn schema(link: &Link, keyspace: &str) -> Result<Vec<String>, StoreError> {
    let text = format!("DESCRIBE KEYSPACE {keyspace}");
    let pages = [link.rows("show the schema", &text).await?];
    let mut texts = Vec::new();
    decode::each(&pages, |row| {
        // keyspace, kind, name, and the statement that makes it
        for _ in 0..3 {
            decode::next(row)?;
        }
        texts.push(decode::text(decode::next(row)?)?.to_owned());
        Ok(())
    })?;
    Ok(texts)
}
