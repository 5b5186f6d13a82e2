//! Answering questions. A store of a database plans a statement here, sends it, and decodes its rows. What a database cannot do, its users do in the client:
//! `client_side` answers any question from the readings of a range. So a new store begins with the range alone, and then hands the rest to its database.

use sensormark_store::client_side::{self, readings_of};
use sensormark_store::{Answer, Ask, Batch, Query, StoreError, Table};

/// The answer over the readings of a table.
pub fn answer(stored: &Batch, table: &Table, query: &Query) -> Result<Answer, StoreError> {
    if matches!(query.ask, Ask::Range { .. }) {
        return Ok(Answer::Readings(range(stored, table, query)));
    }
    Ok(client_side::answer(query, table, answer(stored, table, &readings_of(query)?)?))
}

/// The readings of a range with the fields that are asked for, in the order of series and time.
fn range(stored: &Batch, table: &Table, query: &Query) -> Batch {
    let Ask::Range { fields, .. } = query.ask else {
        return Batch::new(query.table, table);
    };
    let is_asked = |row: usize| {
        query.range.contains(stored.times_ns[row])
            && query.series.holds(&table.series, stored.series[row])
            && fields.iter().any(|field| stored.columns[field].has(row))
    };
    stored.kept(is_asked).with_fields(fields).sorted()
}
