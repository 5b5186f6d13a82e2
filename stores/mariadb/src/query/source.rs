//! Stored readings as a relation in SQL: what to select from, where time and fields are, and what narrows it.
//!
//! Questions are written once against this; rows of readings, rows of fields, JSON records (through JSON_TABLE) and sums differ here
//! alone. It builds text and says what its parameters stand for, in one order, and runs nothing.

use super::shape::SelectionShape;
use super::slot::Slot;
use super::sql::Sql;
use crate::schema::ddl::{BY_SERIES, BY_TIME};
use crate::schema::{Content, Model, SumsModel, TableModel, field_type, quoted};
use sensormark_store::{FieldSet, Index, Query, Selection, StoreError, Table};

/// The most series that are named one by one, so that an index on (series, time) serves a question about all of them.
const NAMED_SERIES: u32 = 500;

/// The readings of one table, as far as a question needs them.
pub(crate) struct Source<'a> {
    /// The table in the schema.
    pub(crate) table: &'a Table,
    /// The table in the database.
    pub(crate) described: &'a TableModel,
    /// The index of its readings.
    pub(crate) index: Index,
    selection: SelectionShape,
    fields: FieldSet,
    sums: Option<&'a SumsModel>,
}

impl<'a> Source<'a> {
    /// The readings of a question's table, with these fields.
    pub(crate) fn new(
        model: &'a Model,
        query: &Query,
        fields: FieldSet,
    ) -> Result<Self, StoreError> {
        let (table, described) = model.table(query.table)?;
        Ok(Self {
            table,
            described,
            index: model.layout.index,
            selection: SelectionShape::of(query, model)?,
            fields,
            sums: None,
        })
    }

    /// The sums of the same table instead.
    pub(crate) fn of_sums(mut self) -> Result<Self, StoreError> {
        self.sums = self.described.sums.as_ref();
        if self.sums.is_none() {
            return Err(StoreError::unsupported(
                "read sums",
                "only the layout with a summary keeps sums",
            ));
        }
        Ok(self)
    }

    /// The table of sums, where they are what is read.
    pub(crate) const fn sums(&self) -> Option<&'a SumsModel> {
        self.sums
    }

    /// Whether one series is asked about, or there is only one.
    pub(crate) fn is_single(&self, query: &Query) -> bool {
        matches!(query.series, Selection::One(_)) || self.table.series.len() == 1
    }

    /// Whether the rows of a series in order of time are found by an index.
    pub(crate) const fn is_ordered(&self) -> bool {
        matches!(self.index, Index::SeriesTime | Index::Clustered)
    }

    /// The name of the index beside the rows, where readings are rows and have one.
    pub(crate) fn secondary_index(&self) -> Option<&'static str> {
        match (&self.described.content, self.index) {
            (Content::Records { .. }, _)
            | (_, Index::None | Index::Clustered | Index::FirstTagTime) => None,
            (_, Index::Series) if self.table.tags.is_empty() => None,
            (_, Index::Series) => Some(BY_SERIES),
            (_, Index::SeriesTime) => Some(BY_TIME),
        }
    }

    /// The columns that identify the series.
    pub(crate) fn identity(&self) -> impl Iterator<Item = String> {
        self.described
            .identifying()
            .map(|key| format!("r.{}", key.name))
    }

    /// The time of a reading in ns.
    pub(crate) fn time(&self) -> String {
        if let Some(sums) = self.sums {
            return format!("(r.{} * {})", sums.period, sums.per_ns);
        }
        match &self.described.content {
            Content::Readings { time } => format!("r.{time}"),
            Content::Fields {
                second, nanosecond, ..
            } => format!("(r.{second} * 1000000000 + r.{nanosecond})"),
            Content::Records { span_ns, span, .. } => format!("(r.{span} * {span_ns} + j.`$ns`)"),
        }
    }

    /// The columns that order readings by time.
    pub(crate) fn order(&self) -> Vec<String> {
        match &self.described.content {
            Content::Readings { time } => vec![format!("r.{time}")],
            Content::Fields {
                second, nanosecond, ..
            } => vec![format!("r.{second}"), format!("r.{nanosecond}")],
            Content::Records { span, .. } => vec![format!("r.{span}"), "j.`$ns`".to_owned()],
        }
    }

    /// The value of a field.
    pub(crate) fn field(&self, field: usize) -> String {
        match &self.described.content {
            Content::Readings { .. } => format!("r.{}", quoted(&self.table.fields[field].name)),
            Content::Fields { measurement, .. } if self.fields.len() == 1 => {
                format!("r.{measurement}")
            }
            Content::Fields {
                number,
                measurement,
                ..
            } => format!("CASE WHEN r.{number} = {field} THEN r.{measurement} END"),
            Content::Records { .. } => format!("j.`$f{field}`"),
        }
    }

    /// Appends what to select from.
    pub(crate) fn push_from(&self, sql: &mut Sql, with_tags: bool) {
        let name = self.sums.map_or(&self.described.name, |sums| &sums.name);
        sql.push(" FROM ").push(name).push(" r");
        if with_tags
            && let Some((tags, key)) = self
                .described
                .tags
                .as_ref()
                .zip(self.described.keys.first())
        {
            let key = &key.name;
            // Readings first: the other way round they would be looked up one by one.
            sql.push(&format!(" STRAIGHT_JOIN {tags} g ON g.{key} = r.{key}"));
        }
        if let (Content::Records { document, .. }, None) = (&self.described.content, self.sums) {
            sql.push(&format!(
                ", JSON_TABLE(r.{document}, '$.measurements[*]' COLUMNS (`$ns` BIGINT PATH '$.ns'"
            ));
            for field in self.fields.iter() {
                let kind = field_type(self.table.fields[field].kind);
                sql.push(&format!(", `$f{field}` {kind} PATH '$.m[{field}]'"));
            }
            sql.push(")) j");
        }
    }

    /// Appends what narrows the readings to those in question.
    pub(crate) fn push_where(&self, sql: &mut Sql) {
        self.push_selection(sql);
        self.push_range(sql);
        self.push_presence(sql);
    }

    /// The chosen series.
    pub(crate) fn push_selection(&self, sql: &mut Sql) {
        let count = self.table.series.len();
        match self.selection {
            SelectionShape::One(known) => self.push_series(sql, usize::from(known)),
            SelectionShape::Set(known) => self.push_series(sql, known),
            SelectionShape::Tagged(tag, true) => self.push_tagged(sql, tag),
            SelectionShape::Tagged(_, false) => self.push_series(sql, 0),
            SelectionShape::All if self.is_ordered() && (2..=NAMED_SERIES).contains(&count) => {
                self.push_series(sql, count as usize);
            }
            SelectionShape::All => {}
        }
    }

    /// So many series, each by what identifies it.
    fn push_series(&self, sql: &mut Sql, known: usize) {
        let keys: Vec<String> = self.identity().collect();
        if known == 0 {
            sql.and().push("FALSE");
            return;
        }
        match keys.as_slice() {
            [] => {}
            [key] if known == 1 => {
                sql.and().push(key).push(" = ").marks(1, Slot::Series);
            }
            [key] => {
                sql.and().push(key).push(" IN (");
                sql.marks(known, Slot::Series).push(")");
            }
            keys => {
                let one = keys
                    .iter()
                    .map(|key| format!("{key} = ?"))
                    .collect::<Vec<_>>()
                    .join(" AND ");
                let all = vec![format!("({one})"); known].join(" OR ");
                sql.and().push(&format!("({all})")).bind([Slot::Series]);
            }
        }
    }

    fn push_tagged(&self, sql: &mut Sql, tag: usize) {
        let column = quoted(&self.table.tags[tag].name);
        match self
            .described
            .tags
            .as_ref()
            .zip(self.described.keys.first())
        {
            Some((tags, key)) => {
                let key = &key.name;
                sql.and().push(&format!(
                    "r.{key} IN (SELECT g.{key} FROM {tags} g WHERE g.{column} = "
                ));
                sql.marks(1, Slot::TagValue).push(")");
            }
            None => {
                sql.and().push(&format!("r.{column} = "));
                sql.marks(1, Slot::TagValue);
            }
        }
    }

    /// The range of time, in the form that an index on the columns of time can use.
    pub(crate) fn push_range(&self, sql: &mut Sql) {
        if let Some(sums) = self.sums {
            sql.and()
                .push(&format!("r.{0} >= ? AND r.{0} < ?", sums.period));
            sql.bind([Slot::FirstPeriod, Slot::EndPeriod]);
            return;
        }
        match &self.described.content {
            Content::Readings { time } => {
                sql.and().push(&format!("r.{time} >= ? AND r.{time} < ?"));
                sql.bind([Slot::Start, Slot::End]);
            }
            Content::Fields {
                second, nanosecond, ..
            } => {
                sql.and().push(&format!(
                    "(r.{second} > ? OR (r.{second} = ? AND r.{nanosecond} >= ?)) AND (r.{second} < ? OR (r.{second} = ? AND r.{nanosecond} < ?))"
                ));
                sql.bind([Slot::StartSecond, Slot::StartSecond, Slot::StartNanosecond]);
                sql.bind([Slot::EndSecond, Slot::EndSecond, Slot::EndNanosecond]);
            }
            Content::Records { .. } => {
                self.push_spans(sql);
                let time = self.time();
                sql.and().push(&format!("{time} >= ? AND {time} < ?"));
                sql.bind([Slot::Start, Slot::End]);
            }
        }
    }

    /// The records whose span touches the range.
    pub(crate) fn push_spans(&self, sql: &mut Sql) {
        if let Content::Records { span, .. } = &self.described.content {
            sql.and().push(&format!("r.{span} >= ? AND r.{span} <= ?"));
            sql.bind([Slot::FirstSpan, Slot::LastSpan]);
        }
    }

    /// Readings that have any of the fields.
    fn push_presence(&self, sql: &mut Sql) {
        if let Some(sums) = self.sums {
            let columns = self
                .fields
                .iter()
                .filter_map(|field| sums.fields[field].as_ref());
            let counted: Vec<String> = columns
                .map(|columns| format!("r.{} > 0", columns.count))
                .collect();
            sql.and().push(&format!("({})", counted.join(" OR ")));
            return;
        }
        if let Content::Fields { number, .. } = &self.described.content {
            let numbers: Vec<String> = self.fields.iter().map(|field| field.to_string()).collect();
            match numbers.as_slice() {
                [one] => sql.and().push(&format!("r.{number} = {one}")),
                _ if self.fields == self.table.all_fields() => sql,
                several => sql
                    .and()
                    .push(&format!("r.{number} IN ({})", several.join(", "))),
            };
            return;
        }
        if self
            .fields
            .iter()
            .all(|field| self.table.fields[field].nullable)
        {
            let present: Vec<String> = self
                .fields
                .iter()
                .map(|field| format!("{} IS NOT NULL", self.field(field)))
                .collect();
            sql.and().push(&format!("({})", present.join(" OR ")));
        }
    }
}
