//! Showing statements: each is noted where it is sent, with the values that travel with it. Cassandra has no plans to show.
//!
//! Nothing is noted until it is asked for.

use scylla::frame::response::result::{ColumnType, NativeType};
use scylla::serialize::row::{RowSerializationContext, SerializeRow};
use scylla::serialize::writers::RowWriter;
use scylla::statement::batch::{Batch, BatchStatement};
use scylla::statement::prepared::PreparedStatement;
use sensormark_store::Statement;
use std::cell::RefCell;

/// Why there is no plan.
const NO_PLAN: &str = "Cassandra has no EXPLAIN: it reads the partition that WHERE names, and in it the rows between the bounds of the clustering key";

/// What was sent since statements are kept.
#[derive(Default)]
pub(crate) struct Kept(RefCell<Option<Vec<Statement>>>);

impl Kept {
    /// Keeps what is sent from now on.
    pub(crate) fn start(&self) {
        self.0.borrow_mut().get_or_insert_default();
    }

    /// Notes a prepared statement that is sent with these values.
    #[inline]
    pub(crate) fn note(&self, statement: &PreparedStatement, values: &impl SerializeRow) {
        if let Some(sent) = self.0.borrow_mut().as_mut() {
            sent.push(shown(statement, values));
        }
    }

    /// Notes statements that are sent as one.
    #[inline]
    pub(crate) fn note_batch<T: SerializeRow>(&self, batch: &Batch, values: &[T]) {
        let mut kept = self.0.borrow_mut();
        let Some(sent) = kept.as_mut() else { return };
        let kind = format!("in one {:?} batch of {} statements", batch.get_type(), batch.statements.len());
        for (statement, values) in batch.statements.iter().zip(values) {
            if let BatchStatement::PreparedStatement(prepared) = statement {
                sent.push(shown(prepared, values).with_note(&kind));
            }
        }
    }

    /// What was sent since the last call.
    pub(crate) fn take(&self, with_plans: bool) -> Vec<Statement> {
        let taken = self.0.borrow_mut().as_mut().map(std::mem::take);
        let told = |statement: Statement| {
            if with_plans && statement.text.starts_with("SELECT") {
                statement.with_note(NO_PLAN)
            } else {
                statement
            }
        };
        taken.unwrap_or_default().into_iter().map(told).collect()
    }
}

fn shown(statement: &PreparedStatement, values: &impl SerializeRow) -> Statement {
    let specs = statement.get_variable_col_specs();
    let context = RowSerializationContext::from_specs(specs.as_slice());
    let mut bytes = Vec::new();
    let written = values.serialize(&context, &mut RowWriter::new(&mut bytes));
    let kinds = specs.as_slice().iter().map(|spec| spec.typ());
    let shown = Statement::new(statement.get_statement());
    match written {
        Ok(()) => shown.with_values(read(&bytes, kinds)),
        Err(error) => shown.with_note(format!("its values are not shown: {error}")),
    }
}

/// Values as they travel: a length and the bytes of each.
fn read<'a>(mut bytes: &[u8], kinds: impl Iterator<Item = &'a ColumnType<'a>>) -> Vec<String> {
    let mut values = Vec::new();
    for kind in kinds {
        let Some((length, rest)) = bytes.split_first_chunk() else {
            break;
        };
        bytes = rest;
        let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
            values.push("null or unset".to_owned());
            continue;
        };
        let Some((value, rest)) = bytes.split_at_checked(length) else {
            break;
        };
        bytes = rest;
        values.push(text(value, kind));
    }
    values
}

fn text(value: &[u8], kind: &ColumnType<'_>) -> String {
    let shown = match kind {
        ColumnType::Native(NativeType::Int) => {
            value.first_chunk().map(|bytes| i32::from_be_bytes(*bytes).to_string())
        }
        ColumnType::Native(NativeType::BigInt | NativeType::Timestamp | NativeType::Time) => {
            value.first_chunk().map(|bytes| i64::from_be_bytes(*bytes).to_string())
        }
        ColumnType::Native(NativeType::Double) => {
            value.first_chunk().map(|bytes| f64::from_be_bytes(*bytes).to_string())
        }
        ColumnType::Native(NativeType::Boolean) => Some((value == [1]).to_string()),
        ColumnType::Native(NativeType::Text | NativeType::Ascii) => {
            std::str::from_utf8(value).ok().map(|text| format!("{text:?}"))
        }
        _ => None,
    };
    shown.unwrap_or_else(|| format!("{} bytes", value.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_travel() {
        let bytes = [0, 0, 0, 4, 0, 0, 0, 7, 255, 255, 255, 255, 0, 0, 0, 1, b'a'];
        let kinds = [NativeType::Int, NativeType::Double, NativeType::Text].map(ColumnType::Native);
        assert_eq!(read(&bytes, kinds.iter()), ["7", "null or unset", "\"a\""]);
    }
}
