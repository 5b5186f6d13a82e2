//! The statements for the first and last reading that passes, the smallest value, and the series that have a passing reading.

use super::Form;
use super::relation::{Builder, Relation};
use super::slot::Slot;
use crate::cell::Cell;
use crate::column_type::ColumnType;
use crate::dialect::Walk;
use crate::table::{PhysicalTable, joined};
use sensormark_store::{Comparison, Encoding, FieldSet, Predicate, StoreError, Table};
use std::cmp::Ordering;

impl Builder<'_> {
    pub(super) fn passes(&mut self, predicate: Predicate, value: &str) -> String {
        let threshold = self.slot(Slot::Threshold, ColumnType::F64);
        let sign = match predicate.comparison {
            Comparison::Above => '>',
            Comparison::Below => '<',
        };
        let kind = self.description.fields[predicate.field].kind;
        let value = self.physical.dialect.comparable(value, kind);
        format!("{value} {sign} {threshold}")
    }

    /// The key columns as the last terms of an order, where the question is about several series: of equals the lowest series comes first.
    fn tie_break(&self) -> Result<Ties, StoreError> {
        let keys = self.leading_keys();
        if keys.is_empty() || in_series_order(self.table, self.description) {
            let kinds = self.table.key_columns().map(|column| column.kind);
            let key = |(key, kind): (&String, _)| self.physical.dialect.key_order(key, kind);
            let order = keys.iter().zip(kinds).map(key);
            return Ok(Ties::InOrder(order.map(|key| format!(", {key}")).collect()));
        }
        if self.physical.dialect.fetches_row_by_row() {
            return Ok(Ties::ReadOn(keys));
        }
        Err(StoreError::unsupported(
            "search",
            "inline tags have no order of series: ask about one series, or keep tags in a table of their own",
        ))
    }

    /// Time and value of the first reading in this order.
    fn first_of(
        &self,
        relation: &Relation,
        value: &str,
        order: &str,
        direction: &str,
        field: usize,
    ) -> Result<(String, Form), StoreError> {
        let kind = self.description.fields[field].kind;
        let repeats = relation.repeats.iter();
        let repeats: String = repeats.map(|term| format!(", {term}{direction}")).collect();
        let time = self.physical.dialect.answered_time(&relation.time);
        let (from, filter) = (&relation.from, relation.filter());
        Ok(match self.tie_break()? {
            Ties::InOrder(ties) => (
                format!("SELECT {time}, {value} FROM {from}{filter} ORDER BY {order}{ties}{repeats} LIMIT 1"),
                Form::Moment(kind),
            ),
            Ties::ReadOn(keys) => (
                format!(
                    "SELECT {time}, {value}, {} FROM {from}{filter} ORDER BY {order}{repeats}",
                    keys.join(", ")
                ),
                Form::Ties(kind),
            ),
        })
    }

    pub(super) fn search(
        &mut self,
        predicate: Predicate,
        direction: &str,
    ) -> Result<(String, Form), StoreError> {
        if let Some((span_ns, encoding)) = self.physical.span()
            && self.physical.dialect.walk(self.physical.layout.index) == Walk::Lateral
        {
            let kind = self.description.fields[predicate.field].kind;
            let text = self.record_search(predicate, direction, span_ns, encoding)?;
            return Ok((text, Form::Moment(kind)));
        }
        let mut relation = self.relation(FieldSet::one(predicate.field));
        let value = relation.field(predicate.field).to_owned();
        let passes = self.passes(predicate, &value);
        relation.conditions.push(passes);
        let mut order = self.coarse_order(direction);
        order.extend(relation.order.iter().map(|term| format!("{term}{direction}")));
        let order = order.join(", ");
        self.first_of(&relation, &value, &order, direction, predicate.field)
    }

    /// Records are opened one after the other, in the order of their spans, until one holds a reading that passes.
    fn record_search(
        &mut self,
        predicate: Predicate,
        direction: &str,
        span_ns: i64,
        encoding: Encoding,
    ) -> Result<String, StoreError> {
        let expansion = self.expansion(FieldSet::one(predicate.field), span_ns, encoding);
        let span = format!("r.{}", self.table.time);
        let length = self.physical.dialect.whole(span_ns);
        let time = format!("{span} * {length} + {}", expansion.offset);
        let value = &expansion.fields[0].1;
        let passes = self.passes(predicate, value);
        let [after, before] = self.time_limits(&time);
        let mut conditions: Vec<String> = self.selected().into_iter().collect();
        conditions.push(self.spans());
        let Ties::InOrder(ties) = self.tie_break()? else {
            return Err(StoreError::unsupported("search", "ties in records are not read on"));
        };
        Ok(format!(
            "SELECT o.t, o.f FROM {table} r CROSS JOIN LATERAL (SELECT {time} AS t, {value} AS f FROM {from} \
             WHERE {after} AND {before} AND {passes} ORDER BY 1{direction} LIMIT 1) o \
             WHERE {filter} ORDER BY {span}{direction}, o.t{direction}{ties} LIMIT 1",
            table = self.table.name,
            from = expansion.from,
            filter = conditions.join(" AND "),
        ))
    }

    pub(super) fn minimum(&mut self, field: usize) -> Result<(String, Form), StoreError> {
        let mut relation = self.relation(FieldSet::one(field));
        let value = relation.field(field).to_owned();
        if self.description.fields[field].nullable {
            relation.conditions.push(format!("{value} IS NOT NULL"));
        }
        let order = format!("{value}, {}", relation.order.join(", "));
        self.first_of(&relation, &value, &order, "", field)
    }

    /// Series by series, so that the index finds the range within each and the first reading that passes is enough; or all at once.
    pub(super) fn matching(&mut self, predicate: Predicate) -> Result<(String, Form), StoreError> {
        let walk = self.physical.dialect.walk(self.physical.layout.index);
        let is_grouped = matches!(walk, Walk::Grouped | Walk::LatestOn);
        let mut relation = if is_grouped {
            self.relation(FieldSet::one(predicate.field))
        } else {
            self.relation_of_all(FieldSet::one(predicate.field))
        };
        let value = relation.field(predicate.field).to_owned();
        let passes = self.passes(predicate, &value);
        relation.conditions.push(passes);
        if relation.keys.is_empty() {
            let text = format!("SELECT 0 FROM {}{} LIMIT 1", relation.from, relation.filter());
            return Ok((text, Form::Series));
        }
        if is_grouped {
            let text = format!(
                "SELECT DISTINCT {} FROM {}{}",
                relation.keys.join(", "),
                relation.from,
                relation.filter()
            );
            return Ok((text, Form::Series));
        }
        relation.conditions.extend(self.of_this_series());
        let keys = joined(self.table.key_columns().map(|column| format!("s.{}", column.name)));
        let text = format!(
            "SELECT {keys} FROM {series} WHERE EXISTS (SELECT 1 FROM {from}{filter})",
            series = self.chosen_series(),
            from = relation.from,
            filter = relation.filter(),
        );
        Ok((text, Form::Series))
    }
}

/// What tells which of several readings at one time is of the lowest series.
enum Ties {
    /// The last terms of the order.
    InOrder(String),
    /// These key columns: the client reads on until the time changes.
    ReadOn(Vec<String>),
}

/// Whether series in the order of their key columns are in the order of their numbers.
fn in_series_order(table: &PhysicalTable, description: &Table) -> bool {
    let compare = |one: u32, other: u32| {
        let keys = 0..table.keys.len();
        let each = keys.map(|key| {
            let cell = |series| table.key_cell(description, key, series);
            match (cell(one), cell(other)) {
                (Cell::Text(one), Cell::Text(other)) => one.cmp(other),
                (Cell::I64(one), Cell::I64(other)) => one.cmp(&other),
                _ => one.cmp(&other),
            }
        });
        each.fold(Ordering::Equal, Ordering::then)
    };
    (1..description.series.len()).all(|series| compare(series - 1, series) == Ordering::Less)
}
