//! The statements for points, ranges, and everything that is stored.

use super::relation::{Builder, Relation, filter};
use super::slot::Slot;
use super::{Form, RecordForm};
use crate::dialect::RecordRange;
use crate::table::{Content, joined};
use sensormark_store::{Ask, Encoding, FieldSet, FieldType, StoreError};

/// How a whole record with this encoding comes back.
const fn whole_record(encoding: Encoding) -> RecordForm {
    match encoding {
        Encoding::Arrays => RecordForm::Arrays,
        _ => RecordForm::Document,
    }
}

impl Builder<'_> {
    /// The statement's text and what its rows are. (Aggregates have a plan of their own.)
    pub(super) fn statement(&mut self) -> Result<(String, Form), StoreError> {
        match &self.query.ask {
            Ask::Point { fields } => Ok(self.point(*fields)),
            Ask::Range { fields, .. } => Ok(self.range(*fields)),
            Ask::First(predicate) => self.search(*predicate, ""),
            Ask::Last(predicate) => self.search(*predicate, " DESC"),
            Ask::Minimum { field } => self.minimum(*field),
            Ask::LastReading { fields } => Ok(self.latest(*fields)),
            Ask::SeriesMatching(predicate) => self.matching(*predicate),
            Ask::Derived(derived) => self.derived(derived),
            Ask::Aggregate { .. } => {
                Err(StoreError::unsupported("plan a question", "aggregates have a plan of their own"))
            }
        }
    }

    fn point(&mut self, fields: FieldSet) -> (String, Form) {
        if self.physical.span().is_some() {
            return self.range(fields);
        }
        let time = format!("r.{}", self.table.time);
        let kind = self.physical.time_type();
        let at = self.slot(Slot::Start, kind);
        let mut conditions: Vec<String> = self.selected().into_iter().collect();
        conditions.push(format!("{time} = {at}"));
        if self.physical.is_row_per_field() {
            return self.field_rows(fields, &format!("{} r", self.table.name), conditions);
        }
        let present = self.present_columns(fields);
        conditions.extend(present);
        let columns = self.columns(fields);
        let keys = self.leading_keys();
        let repeat = self.repeat();
        let repeat = repeat.map_or_else(String::new, |repeat| {
            let order = keys.iter().cloned().chain([repeat]);
            format!(" ORDER BY {}", joined(order))
        });
        let time = self.physical.dialect.answered_time(&time);
        let columns = joined(keys.into_iter().chain([time]).chain(columns));
        let filter = filter(&conditions);
        (format!("SELECT {columns} FROM {} r{filter}{repeat}", self.table.name), Form::Readings(fields))
    }

    fn columns(&self, fields: FieldSet) -> Vec<String> {
        fields.iter().map(|field| format!("r.{}", self.table.field_names[field])).collect()
    }

    fn present_columns(&self, fields: FieldSet) -> Option<String> {
        let is_sure = |field: usize| !self.description.fields[field].nullable;
        if fields.iter().any(is_sure) {
            return None;
        }
        let present: Vec<String> =
            self.columns(fields).into_iter().map(|column| format!("{column} IS NOT NULL")).collect();
        Some(format!("({})", present.join(" OR ")))
    }

    fn range(&mut self, fields: FieldSet) -> (String, Form) {
        if let Some((_, encoding)) = self.physical.span() {
            return self.record_range(fields, encoding);
        }
        if self.physical.is_row_per_field() {
            let mut conditions: Vec<String> = self.selected().into_iter().collect();
            let time = format!("r.{}", self.table.time);
            conditions.extend(self.time_limits(&time));
            return self.field_rows(fields, &format!("{} r", self.table.name), conditions);
        }
        self.expanded_range(fields)
    }

    /// Readings one a row, whatever the table's shape.
    fn expanded_range(&mut self, fields: FieldSet) -> (String, Form) {
        let relation = self.relation(fields);
        self.rows_of(relation, fields)
    }

    /// The readings of a relation that have any of these fields, with these.
    pub(super) fn rows_of(&self, mut relation: Relation, fields: FieldSet) -> (String, Form) {
        let present = self.any_present(&relation, fields);
        relation.conditions.extend(present);
        let keys = self.leading_keys();
        let values = fields.iter().map(|field| relation.field(field).to_owned());
        let columns = joined(
            keys.iter().cloned().chain([self.physical.dialect.answered_time(&relation.time)]).chain(values),
        );
        let order = joined(keys.into_iter().chain(relation.ordered("")));
        let filter = relation.filter();
        (format!("SELECT {columns} FROM {}{filter} ORDER BY {order}", relation.from), Form::Readings(fields))
    }

    /// Rows of one field each, those of a reading next to each other.
    pub(super) fn field_rows(
        &self,
        fields: FieldSet,
        from: &str,
        mut conditions: Vec<String>,
    ) -> (String, Form) {
        if fields != self.description.all_fields() || conditions.is_empty() {
            conditions.push(self.field_condition(fields));
        }
        let number = format!("r.{}", self.table.column(Content::FieldNumber));
        let mut order = self.leading_keys();
        order.push(format!("r.{}", self.table.time));
        order.push(self.repeat().unwrap_or(number));
        self.rows_of_fields(fields, from, &conditions, &order.join(", "))
    }

    /// What orders repeated rows of one series and time as they were written.
    pub(super) fn repeat(&self) -> Option<String> {
        let dialect = self.physical.dialect;
        dialect.repeat_order(self.table, "r")
    }

    fn rows_of_fields(
        &self,
        fields: FieldSet,
        from: &str,
        conditions: &[String],
        order: &str,
    ) -> (String, Form) {
        let number = format!("r.{}", self.table.column(Content::FieldNumber));
        let kinds = self.kinds_of(fields);
        let values = kinds.iter().map(|&kind| format!("r.{}", self.table.value_column(kind)));
        let time = self.physical.dialect.answered_time(&format!("r.{}", self.table.time));
        let columns = joined(self.leading_keys().into_iter().chain([time, number]).chain(values));
        (
            format!("SELECT {columns} FROM {from}{} ORDER BY {order}", filter(conditions)),
            Form::FieldRows(fields, kinds),
        )
    }

    /// The different types of these fields.
    fn kinds_of(&self, fields: FieldSet) -> Vec<FieldType> {
        let mut kinds = Vec::new();
        for field in fields.iter() {
            let kind = self.description.fields[field].kind;
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds
    }

    /// Whole records (or the parts of them that were asked for); the client keeps what is in the range.
    fn record_range(&mut self, fields: FieldSet, encoding: Encoding) -> (String, Form) {
        let dialect = self.physical.dialect;
        let all = fields == self.description.all_fields();
        let point = matches!(self.query.ask, Ask::Point { .. });
        let document = format!("r.{}", self.table.column(Content::Document));
        let (payload, form) = match dialect.record_range(encoding, all, point) {
            RecordRange::Opened => return self.expanded_range(fields),
            RecordRange::Arrays => {
                let offsets = format!("r.{}", self.table.column(Content::Offsets));
                let columns = self.columns(fields);
                ([offsets].into_iter().chain(columns).collect(), RecordForm::Arrays)
            }
            RecordRange::Whole => (vec![dialect.document(&document, encoding)], whole_record(encoding)),
        };
        let mut conditions: Vec<String> = self.selected().into_iter().collect();
        conditions.push(self.spans());
        let first: Vec<String> =
            self.leading_keys().into_iter().chain([format!("r.{}", self.table.time)]).collect();
        let order = joined(first.iter().cloned().chain(self.repeat()));
        let columns = joined(first.into_iter().chain(payload));
        (
            format!("SELECT {columns} FROM {} r{} ORDER BY {order}", self.table.name, filter(&conditions)),
            Form::Records(fields, form),
        )
    }

    /// The statement for everything in the table.
    pub(super) fn everything(&self) -> (String, Form) {
        let fields = self.description.all_fields();
        let from = format!("{} r", self.table.name);
        if self.physical.is_row_per_field() {
            return self.field_rows(fields, &from, Vec::new());
        }
        let dialect = self.physical.dialect;
        let read_back = |content: Content| {
            !matches!(content, Content::SeriesNumber | Content::Tag(_) | Content::Size | Content::Copy)
        };
        let columns = self.table.columns.iter().filter(|column| read_back(column.content)).map(|column| {
            let name = format!("r.{}", column.name);
            match (column.content, self.physical.span()) {
                (Content::Document, Some((_, encoding))) => dialect.document(&name, encoding),
                (Content::Time, _) => dialect.answered_time(&name),
                _ => name,
            }
        });
        let columns = joined(self.keys().into_iter().chain(columns));
        let form = match self.physical.span() {
            Some((_, encoding)) => Form::Records(fields, whole_record(encoding)),
            None => Form::Readings(fields),
        };
        (format!("SELECT {columns} FROM {from}"), form)
    }
}
