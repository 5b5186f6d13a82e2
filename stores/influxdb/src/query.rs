//! Asking: each question becomes one statement of InfluxQL (or of Flux, where the layout says so), and its answer is read.
//!
//! Answers come as `MessagePack`: numbers are exact, absent values differ from empty text, and no digits are parsed.

mod aggregate;
mod flux;
mod message;
pub(crate) mod range;
mod readings;
mod search;
mod statement;

pub(crate) use self::message::sentence;
use self::message::{Rows, read_results};
use self::statement::Statement;
use crate::connection::{Link, Message};
use crate::schema::{PhysicalSchema, field_key};
use bytes::Bytes;
use range::kept;
use sensormark_store::client_side::IN_THE_CLIENT;
use sensormark_store::{Answer, Ask, Batch, Derived, Query, Selection, StoreError, Value};

/// What asks a session's questions.
pub(crate) struct Reader<'a> {
    pub(crate) link: &'a mut Link,
    pub(crate) physical: &'a PhysicalSchema,
    pub(crate) database: &'a str,
}

impl Reader<'_> {
    /// Whether nothing is asked about: no series of the table, or no time.
    fn is_void(&self, query: &Query) -> bool {
        let count = self.physical.schema.tables[query.table].series.len();
        let none = match &query.series {
            Selection::One(series) => *series >= count,
            Selection::Set(set) => set.iter().all(|series| *series >= count),
            Selection::Tagged { .. } | Selection::All => count == 0,
        };
        let range = kept(query.range);
        none || (range.end_ns <= range.start_ns && !matches!(query.ask, Ask::Point { .. }))
    }

    /// Answers a question.
    pub(crate) async fn query(&mut self, query: &Query) -> Result<Answer, StoreError> {
        let void = self.is_void(query);
        match &query.ask {
            Ask::Point { .. }
            | Ask::Range { .. }
            | Ask::LastReading { .. }
            | Ask::Derived(Derived::RowsByValue { .. })
                if void =>
            {
                Ok(Answer::Readings(self.empty(query.table)))
            }
            Ask::Derived(_) if void => Ok(Answer::Groups(Vec::new())),
            Ask::Point { fields } => self.point(query, *fields).await,
            Ask::First(_) | Ask::Last(_) | Ask::Minimum { .. } if void => Ok(Answer::Moment(None)),
            Ask::SeriesMatching(_) if void => Ok(Answer::Series(Vec::new())),
            Ask::Range { fields, .. } => self.range(query, *fields).await.map(Answer::Readings),
            Ask::LastReading { fields } => self.last_readings(query, *fields).await,
            Ask::First(predicate) => self.search(query, *predicate, false).await,
            Ask::Last(predicate) => self.search(query, *predicate, true).await,
            Ask::Minimum { field } => self.minimum(query, *field).await,
            Ask::SeriesMatching(predicate) => self.matching(query, *predicate).await,
            Ask::Derived(Derived::RowsByValue { fields, .. }) => {
                self.range(query, *fields).await.map(Answer::Readings)
            }
            Ask::Derived(Derived::OutOfRange { field, window, above, below }) => {
                self.out_of_range(query, (*field, *window), [*above, *below]).await
            }
            Ask::Derived(_) => Err(StoreError::unsupported("ask", IN_THE_CLIENT)),
            Ask::Aggregate { from_sums: true, .. } => Err(StoreError::unsupported(
                "aggregate from sums",
                "InfluxDB's points have no sums beside them; aggregate the readings",
            )),
            Ask::Aggregate { aggregates, grouping, .. } => {
                self.groups(query, aggregates, *grouping, void).await
            }
        }
    }

    /// No readings of this table.
    fn empty(&self, table: usize) -> Batch {
        Batch::new(table, &self.physical.schema.tables[table])
    }

    /// Asks a statement of InfluxQL; the answer's rows borrow the connection's memory.
    pub(crate) async fn rows(
        &mut self,
        operation: &str,
        statement: &str,
    ) -> Result<Vec<Rows<'_>>, StoreError> {
        self.link.kept.note_influxql(statement);
        let message = Message {
            accept: "application/x-msgpack",
            ..Message::post(
                operation,
                "/query",
                "application/x-www-form-urlencoded",
                form(self.database, statement, false),
            )
        };
        self.link.demand(message).await?;
        let results = read_results(operation, self.link.body())?;
        results.ok_or_else(|| crate::error::garbled(operation, "the answer ends too early"))
    }

    /// Whether the entity of a series is there.
    pub(crate) async fn has_entity(&mut self, table: usize, series: u32) -> Result<bool, StoreError> {
        let description = &self.physical.schema.tables[table];
        let Some(entity) = &description.entity else {
            return Ok(false);
        };
        let mut statement = Statement::new();
        statement.select(&[&field_key(&entity.last_time_column)], &entity.name);
        statement.of_series(&self.physical.tables[table], &Selection::One(series));
        let rows = self.rows("look for an entity", statement.text()).await?;
        Ok(!rows.is_empty())
    }

    /// Reads back every entity of a table.
    pub(crate) async fn scan_entities(
        &mut self,
        table: usize,
        sink: &mut dyn FnMut(u32, i64, &[Value]),
    ) -> Result<(), StoreError> {
        const OPERATION: &str = "read entities back";
        let description = &self.physical.schema.tables[table];
        let Some(entity) = &description.entity else {
            return Err(StoreError::unsupported(OPERATION, "the table has no entity"));
        };
        let physical = self.physical;
        let measurement = &physical.tables[table];
        let last = field_key(&entity.last_time_column);
        let columns: Vec<String> = entity.columns.iter().map(|column| field_key(&column.name)).collect();
        let mut names = vec![last.as_str()];
        names.extend(columns.iter().map(String::as_str));
        let mut statement = Statement::new();
        statement.select(&names, &entity.name);
        statement.group_by_keys(measurement);
        let mut entities = Vec::new();
        for rows in self.rows(OPERATION, statement.text()).await? {
            let series = rows.series(measurement, None)?;
            let mut cells = rows.cells();
            for _ in 0..rows.count {
                let (_, values) = cells.row(names.len())?;
                let Some(Value::I64(last_ns)) = values.first() else {
                    return Err(crate::error::garbled(OPERATION, "an entity has no last time"));
                };
                entities.push((series, *last_ns, values[1..].to_vec()));
            }
        }
        entities.sort_by_key(|entity| entity.0);
        for (series, last_ns, values) in entities {
            sink(series, last_ns, &values);
        }
        Ok(())
    }
}

/// The form that carries a statement.
pub(crate) fn form(database: &str, statement: &str, in_parts: bool) -> Bytes {
    let mut body = String::with_capacity(statement.len() * 5 / 4 + 64);
    if !database.is_empty() {
        body.push_str("db=");
        body.push_str(database);
        body.push('&');
    }
    body.push_str("epoch=ns&");
    if in_parts {
        body.push_str("chunked=true&chunk_size=10000&");
    }
    body.push_str("q=");
    body.push_str(&crate::paths::encoded(statement));
    Bytes::from(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_travel_encoded() {
        let body = form("d", "a=\"ü\" + 1", false);
        assert_eq!(&body[..], b"db=d&epoch=ns&q=a%3D%22%C3%BC%22+%2B+1");
    }
}
