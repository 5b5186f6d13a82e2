//! The readings that a question is about, as a relation: what stands after FROM and WHERE, and the expressions for
//! series, time and fields. Each shape of table gives the same relation, so that every question is written once.

use super::slot::{Slot, Slots};
use super::{Form, Statement, with_keys};
use crate::column_type::ColumnType;
use crate::dialect::SeriesSet;
use crate::expansion::Expansion;
use crate::physical_schema::PhysicalSchema;
use crate::table::{Content, PhysicalTable, joined};
use sensormark_store::{Encoding, FieldSet, Query, Selection, Shape, Table, TimeKey};

/// What a statement about a table is written from.
#[derive(Debug)]
pub struct Builder<'a> {
    /// The plan's tables.
    pub physical: &'a PhysicalSchema,
    /// The question's table.
    pub table: &'a PhysicalTable,
    /// The same, as the schema describes it.
    pub description: &'a Table,
    /// The question.
    pub query: &'a Query,
    /// The parameters so far.
    pub slots: Slots,
    /// Which of the question's series the part of a statement is about that is being written, where that is about one of several.
    pub member: Option<usize>,
    /// Whether the part is about the other of two series ([`sensormark_store::Derived::Difference`]).
    pub is_of_other: bool,
}

/// Readings as a relation.
#[derive(Debug)]
pub(super) struct Relation {
    /// What stands after FROM.
    pub(super) from: String,
    /// The columns that identify the series.
    pub(super) keys: Vec<String>,
    /// The key of time: ns, or the database's own time.
    pub(super) time: String,
    /// The time in ns.
    pub(super) ns: String,
    /// What orders readings by time.
    pub(super) order: Vec<String>,
    /// What orders repeated readings of one series and time as they were written.
    pub(super) repeats: Vec<String>,
    /// What stands after WHERE, joined by AND.
    pub(super) conditions: Vec<String>,
    fields: Vec<(usize, String)>,
}

impl Relation {
    /// The expression for a field.
    pub(super) fn field(&self, field: usize) -> &str {
        self.fields.iter().find(|(number, _)| *number == field).map_or("NULL", |(_, text)| text)
    }

    /// The WHERE clause, with a space before it; empty where there are no conditions.
    pub(super) fn filter(&self) -> String {
        filter(&self.conditions)
    }

    /// The terms that order readings by time, and repeated ones as they were written, in this direction (`""` or `" DESC"`).
    pub(super) fn ordered(&self, direction: &str) -> Vec<String> {
        let terms = self.order.iter().chain(&self.repeats);
        terms.map(|term| format!("{term}{direction}")).collect()
    }

    /// The same readings from a subquery whose columns are `k0…`, `t`, `f…`.
    pub(super) fn nested(from: String, keys: usize, fields: FieldSet) -> Self {
        Self {
            from,
            keys: (0..keys).map(|key| format!("q.k{key}")).collect(),
            time: "q.t".to_owned(),
            ns: "q.t".to_owned(),
            order: vec!["q.t".to_owned()],
            repeats: Vec::new(),
            conditions: Vec::new(),
            fields: fields.iter().map(|field| (field, format!("q.f{field}"))).collect(),
        }
    }
}

/// Conditions as a WHERE clause, with a space before it; empty where there are none.
pub(super) fn filter(conditions: &[String]) -> String {
    if conditions.is_empty() {
        return String::new();
    }
    format!(" WHERE {}", conditions.join(" AND "))
}

impl Builder<'_> {
    /// A parameter for this slot.
    pub(super) fn slot(&mut self, slot: Slot, kind: ColumnType) -> String {
        self.slots.use_slot(slot, kind)
    }

    /// The finished statement.
    pub(super) fn finish(self, text: &str, form: Form) -> Statement {
        let placeholder = self.physical.dialect.placeholder();
        let (text, slots, kinds) = self.slots.finish(text, placeholder);
        Statement { text, slots, kinds, form }
    }

    /// The readings that the question is about, with these fields.
    pub(super) fn relation(&mut self, fields: FieldSet) -> Relation {
        let mut relation = self.relation_of_all(fields);
        relation.conditions.extend(self.selected());
        relation
    }

    /// The readings of all series in the range, with these fields.
    pub(super) fn relation_of_all(&mut self, fields: FieldSet) -> Relation {
        let mut relation = match self.physical.layout.shape {
            Shape::RecordPerSpan { span_ns, encoding } => self.expanded(fields, span_ns, encoding),
            _ => self.rows(fields),
        };
        self.limit_time(&mut relation);
        relation
    }

    fn rows(&self, fields: FieldSet) -> Relation {
        let (table, dialect) = (self.table, self.physical.dialect);
        let time = format!("r.{}", table.time);
        let ns = match self.physical.layout.time {
            TimeKey::Nanoseconds => time.clone(),
            TimeKey::Native => dialect.nanoseconds_of(&time),
        };
        let per_field = self.physical.is_row_per_field();
        let number = format!("r.{}", table.column(Content::FieldNumber));
        let expression = |field: usize| {
            if !per_field {
                return format!("r.{}", table.field_names[field]);
            }
            let value = format!("r.{}", table.value_column(self.description.fields[field].kind));
            if fields.len() == 1 {
                return value;
            }
            format!("CASE WHEN {number} = {field} THEN {value} END")
        };
        Relation {
            from: format!("{} r", table.name),
            keys: self.keys(),
            order: vec![time.clone()],
            time,
            ns,
            repeats: dialect.repeat_order(table, "r").into_iter().collect(),
            conditions: if per_field { vec![self.field_condition(fields)] } else { Vec::new() },
            fields: fields.iter().map(|field| (field, expression(field))).collect(),
        }
    }

    /// In rows of one field: the rows of these fields.
    pub(super) fn field_condition(&self, fields: FieldSet) -> String {
        let numbers = joined(fields.iter().map(|field| field.to_string()));
        let number = self.table.column(Content::FieldNumber);
        format!("r.{number} IN ({numbers})")
    }

    /// The key columns of the table of readings.
    pub(super) fn keys(&self) -> Vec<String> {
        self.table.key_columns().map(|column| format!("r.{}", column.name)).collect()
    }

    /// The key columns, where the rows of the answer say which series they are of.
    pub(super) fn leading_keys(&self) -> Vec<String> {
        if with_keys(&self.query.series, self.description) { self.keys() } else { Vec::new() }
    }

    /// Whether one series is asked about, or there is only one.
    pub(super) fn is_single(&self) -> bool {
        matches!(self.query.series, Selection::One(_)) || self.member.is_some() || self.table.keys.is_empty()
    }

    /// What opens the records, with these fields.
    pub(super) fn expansion(&self, fields: FieldSet, span_ns: i64, encoding: Encoding) -> Expansion {
        let dialect = self.physical.dialect;
        dialect.expand(self.table, self.description, fields, span_ns, encoding)
    }

    fn expanded(&mut self, fields: FieldSet, span_ns: i64, encoding: Encoding) -> Relation {
        let dialect = self.physical.dialect;
        let expansion = self.expansion(fields, span_ns, encoding);
        let span = format!("r.{}", self.table.time);
        let length = dialect.whole(span_ns);
        let time = format!("({span} * {length} + {})", expansion.offset);
        let mut repeats = Vec::new();
        if let Some(repeat) = dialect.repeat_order(self.table, "r") {
            repeats.extend([repeat, expansion.order.to_owned()]);
        }
        Relation {
            from: format!("{} r{}{}", self.table.name, expansion.join, expansion.from),
            keys: self.keys(),
            ns: time.clone(),
            order: vec![time.clone()],
            repeats,
            time,
            conditions: Vec::new(),
            fields: expansion.fields,
        }
    }

    /// The condition that only records count whose spans the range touches.
    pub(super) fn spans(&mut self) -> String {
        let (first, last) =
            (self.slot(Slot::FirstSpan, ColumnType::I64), self.slot(Slot::LastSpan, ColumnType::I64));
        format!("r.{span} >= {first} AND r.{span} <= {last}", span = self.table.time)
    }

    fn limit_time(&mut self, relation: &mut Relation) {
        if self.physical.span().is_some() {
            let spans = self.spans();
            relation.conditions.push(spans);
        }
        let limits = self.time_limits(&relation.time.clone());
        relation.conditions.extend(limits);
    }

    /// The conditions that a time, of this expression, is in the range.
    pub(super) fn time_limits(&mut self, time: &str) -> [String; 2] {
        let kind = self.physical.time_type();
        let (start, end) = (self.slot(Slot::Start, kind), self.slot(Slot::End, kind));
        [format!("{time} >= {start}"), format!("{time} < {end}")]
    }

    /// The parameters that name the series of the set: one a key column, or one for all.
    pub(super) fn set_parameters(&mut self, array: fn(usize) -> Slot) -> Vec<String> {
        if self.physical.dialect.series_set() == SeriesSet::Json {
            return vec![self.slot(Slot::JsonSet, ColumnType::Json)];
        }
        let kinds: Vec<ColumnType> = self.table.key_columns().map(|column| column.kind).collect();
        kinds
            .iter()
            .enumerate()
            .map(|(number, kind)| {
                let parameter = self.slot(array(number), kind.array());
                self.physical.dialect.typed_set(parameter, kind.array())
            })
            .collect()
    }

    /// The condition that only the chosen series count; none for all of them.
    pub(super) fn selected(&mut self) -> Option<String> {
        let keys = self.keys();
        match &self.query.series {
            _ if keys.is_empty() => None,
            _ if self.is_single() => Some(self.one_series(&keys)),
            Selection::One(_) | Selection::All => None,
            Selection::Set(_) if self.physical.dialect.series_set() == SeriesSet::List => {
                let mut known = 0;
                self.bindings().each_series(|_| known += 1);
                Some(self.listed(&keys, known))
            }
            Selection::Set(_) => {
                let parameters = self.set_parameters(Slot::KeySet);
                Some(self.physical.dialect.in_set(&keys, &parameters))
            }
            Selection::Tagged { tag, .. } => {
                let kind = ColumnType::of_tag(&self.description.series.columns()[*tag]);
                let name = &self.table.tag_names[*tag];
                let value = self.slot(Slot::TagValue, kind);
                Some(match &self.table.tags {
                    None => format!("r.{name} = {value}"),
                    Some(tags) => {
                        let series = self.table.column(Content::SeriesNumber);
                        let query = format!("SELECT {series} FROM {tags} WHERE {name} = {value}");
                        self.physical.dialect.is_in(&format!("r.{series}"), &query)
                    }
                })
            }
        }
    }

    /// The condition that only the one series counts, or the one that is being written about.
    fn one_series(&mut self, keys: &[String]) -> String {
        let kinds: Vec<ColumnType> = self.table.key_columns().map(|column| column.kind).collect();
        let one = |(number, key): (usize, &String)| {
            let slot = match self.member {
                _ if self.is_of_other => Slot::OtherKey(number),
                Some(member) => Slot::Member(member, number),
                None => Slot::Key(number),
            };
            format!("{key} = {}", self.slot(slot, kinds[number]))
        };
        let each: Vec<String> = keys.iter().enumerate().map(one).collect();
        each.join(" AND ")
    }

    /// So many series, each by what identifies it: the members' mark, and a question mark for each of their keys.
    fn listed(&mut self, keys: &[String], count: usize) -> String {
        let members = self.slot(Slot::Members, ColumnType::Any);
        match keys {
            [key] if count == 1 => format!("{key} = {members}?"),
            [key] => format!("{key} IN ({members}{})", vec!["?"; count].join(",")),
            keys => {
                let one: Vec<String> = keys.iter().map(|key| format!("{key} = ?")).collect();
                let one = format!("({})", one.join(" AND "));
                format!("({members}{})", vec![one; count].join(" OR "))
            }
        }
    }

    pub(super) fn bindings(&self) -> super::slot::Bindings<'_> {
        super::slot::Bindings {
            physical: self.physical,
            table: self.table,
            description: self.description,
            query: self.query,
        }
    }

    /// The condition that a reading has at least one of these fields; none where one of them is always there.
    pub(super) fn any_present(&self, relation: &Relation, fields: FieldSet) -> Option<String> {
        let is_sure = |field: usize| !self.description.fields[field].nullable;
        if fields.is_empty() || self.physical.is_row_per_field() || fields.iter().any(is_sure) {
            return None;
        }
        let present: Vec<String> =
            fields.iter().map(|field| format!("{} IS NOT NULL", relation.field(field))).collect();
        Some(format!("({})", present.join(" OR ")))
    }
}
