//! Aggregates over readings, all in one statement, and what every aggregate is written from: groups, windows, parts of the day.

use super::relation::{Builder, Relation};
use super::shape::{WindowShape, written};
use super::slot::Slot;
use super::{Form, GroupForm};
use crate::column_type::ColumnType;
use crate::dialect::{Dialect, is_plain};
use crate::table::{Content, joined};
use sensormark_store::query::DaySplit;
use sensormark_store::{Aggregate, ErrorKind, FieldSet, FieldType, Function, Grouping, StoreError, TimeKey};

impl Builder<'_> {
    /// Aggregates over readings.
    pub(super) fn aggregate(
        &mut self,
        aggregates: &[Aggregate],
        grouping: Grouping,
    ) -> Result<(String, Form), StoreError> {
        let fields = fields_of(aggregates);
        let mut relation = self.relation(fields);
        let present = self.any_present(&relation, fields);
        relation.conditions.extend(present);
        let mut tag = grouping.by_tag.map(|tag| self.by_tag(&mut relation, tag));
        let mut window = self.window_shape(grouping);
        let shares = aggregates.iter().any(|one| one.function == Function::TimeWeightedShare);
        if shares {
            relation = self.with_next_times(&relation, fields, tag.as_deref());
            tag = tag.map(|_| "q.g".to_owned());
            window = window.map(|_| WindowShape::Any);
        }
        let mut groups: Vec<String> = Vec::new();
        if grouping.by_series {
            groups.extend(relation.keys.iter().cloned());
        }
        groups.extend(tag);
        if let Some(shape) = window {
            groups.push(self.window_start(&relation, shape));
        }
        if let Some(split) = grouping.by_day_part {
            groups.push(self.is_day(&relation.ns, split));
        }
        let end = if shares { self.group_end(&relation, window.is_some()) } else { String::new() };
        let mut values = Vec::new();
        for &aggregate in aggregates {
            values.push(self.expression(aggregate, &relation, &end)?);
        }
        let count = groups.len();
        let columns = joined(groups.into_iter().chain(values));
        let readings = format!("{}{}", relation.from, relation.filter());
        let numbers: Vec<usize> = (0..aggregates.len()).collect();
        Ok((
            grouped(self.physical.dialect, &columns, &readings, count),
            self.group_form(aggregates, &numbers, grouping, window),
        ))
    }

    /// The form of rows of these aggregates (by number) over readings in these groups.
    pub(super) fn group_form(
        &self,
        aggregates: &[Aggregate],
        numbers: &[usize],
        grouping: Grouping,
        window: Option<WindowShape>,
    ) -> Form {
        let value = |&number: &usize| {
            let Aggregate { function, field } = aggregates[number];
            let kind = self.description.fields[field].kind;
            (number, value_type(function, kind))
        };
        Form::Groups(GroupForm {
            by_series: grouping.by_series && !self.table.keys.is_empty(),
            by_tag: grouping.by_tag,
            window: window.map(|shape| match shape {
                WindowShape::Native => TimeKey::Native,
                _ => TimeKey::Nanoseconds,
            }),
            by_day_part: grouping.by_day_part.is_some(),
            values: numbers.iter().map(value).collect(),
        })
    }

    pub(super) fn window_shape(&self, grouping: Grouping) -> Option<WindowShape> {
        let start_ns = self.query.range.start_ns;
        let window = grouping.window?;
        Some(WindowShape::of(window, start_ns, self.physical))
    }

    /// The tag's value; where tags have their own table, that is joined.
    pub(super) fn by_tag(&self, relation: &mut Relation, tag: usize) -> String {
        let name = &self.table.tag_names[tag];
        match &self.table.tags {
            None => format!("r.{name}"),
            Some(tags) => {
                let key = relation.keys.first().cloned().unwrap_or_default();
                let series = self.table.column(Content::SeriesNumber);
                relation.from = format!("{} JOIN {tags} g ON g.{series} = {key}", relation.from);
                format!("g.{name}")
            }
        }
    }

    pub(super) fn window_start(&mut self, relation: &Relation, shape: WindowShape) -> String {
        let ns = &relation.ns;
        if shape == WindowShape::Native {
            let dialect = self.physical.dialect;
            let (width, origin) = if dialect.binds_windows() {
                (
                    self.slot(Slot::WidthInterval, ColumnType::Interval),
                    self.slot(Slot::OriginTimestamp, ColumnType::Timestamp),
                )
            } else {
                let (width, origin) = self.bindings().window().map_or((1, 0), written);
                (width.to_string(), origin.to_string())
            };
            return dialect.native_window(&width, &relation.time, &origin);
        }
        let (width, origin) =
            (self.slot(Slot::Width, ColumnType::I64), self.slot(Slot::Origin, ColumnType::I64));
        if shape == WindowShape::Forward {
            format!("{ns} - ({ns} - {origin}) % {width}")
        } else {
            format!("{ns} - ((({ns} - {origin}) % {width}) + {width}) % {width}")
        }
    }

    pub(super) fn is_day(&mut self, ns: &str, split: DaySplit) -> String {
        let dialect = self.physical.dialect;
        let (start, end) = if dialect.binds_day() {
            (self.slot(Slot::DayStart, ColumnType::I64), self.slot(Slot::DayEnd, ColumnType::I64))
        } else {
            (dialect.whole(split.day_start_ns), dialect.whole(split.day_end_ns))
        };
        let day = dialect.whole(DaySplit::DAY_NS);
        format!("({ns} % {day} >= {start} AND {ns} % {day} < {end})")
    }

    /// The end of a reading's group in ns: of its window or of the range, whichever is earlier.
    fn group_end(&mut self, relation: &Relation, by_window: bool) -> String {
        let end = self.slot(Slot::EndNs, ColumnType::I64);
        if !by_window {
            return end;
        }
        let start = self.window_start(relation, WindowShape::Any);
        let width = self.slot(Slot::Width, ColumnType::I64);
        format!("{start} + {width}, {end}")
    }

    /// The relation with a column `n…` for each field: the time in ns of the series' next reading that has it.
    fn with_next_times(&self, relation: &Relation, fields: FieldSet, tag: Option<&str>) -> Relation {
        let keys = relation.keys.iter().enumerate().map(|(number, key)| format!("{key} AS k{number}"));
        let mut columns: Vec<String> = keys.collect();
        columns.extend(tag.map(|tag| format!("{tag} AS g")));
        columns.push(format!("{} AS t", relation.ns));
        for field in fields.iter() {
            let value = relation.field(field);
            columns.push(format!("{value} AS f{field}"));
            let partition = joined(relation.keys.iter().cloned().chain([format!("({value}) IS NULL")]));
            columns.push(format!(
                "lead({ns}) OVER (PARTITION BY {partition} ORDER BY {ns}) AS n{field}",
                ns = relation.ns
            ));
        }
        let from = format!("(SELECT {} FROM {}{}) q", columns.join(", "), relation.from, relation.filter());
        Relation::nested(from, relation.keys.len(), fields)
    }

    fn expression(&self, aggregate: Aggregate, relation: &Relation, end: &str) -> Result<String, StoreError> {
        let Aggregate { function, field } = aggregate;
        let kind = self.description.fields[field].kind;
        let (value, dialect) = (relation.field(field), self.physical.dialect);
        if is_plain(function) {
            return self.plain(aggregate, relation);
        }
        let title = dialect.title();
        Ok(match function {
            Function::Last => dialect.last_value(value, &relation.time),
            Function::MostFrequent => dialect.most_frequent(value),
            _ if kind == FieldType::Bool => {
                let until = dialect.least(&format!("q.n{field}"), end);
                dialect.share(value, &format!("({until} - {})", relation.ns))
            }
            _ => return Err(not_for_this_type(function, title)),
        })
    }

    /// Count, sum, min, max or mean; the last value, where GROUP BY computes it.
    pub(super) fn plain(&self, aggregate: Aggregate, relation: &Relation) -> Result<String, StoreError> {
        let Aggregate { function, field } = aggregate;
        let kind = self.description.fields[field].kind;
        let value = relation.field(field);
        if function == Function::Last {
            return Ok(self.physical.dialect.last_value(value, &relation.time));
        }
        let is_numeric = !matches!(kind, FieldType::Bool | FieldType::Text);
        if function != Function::Count && !is_numeric {
            return Err(not_for_this_type(function, self.physical.dialect.title()));
        }
        Ok(self.physical.dialect.plain_aggregate(function, value, kind))
    }
}

pub(super) fn not_for_this_type(function: Function, title: &str) -> StoreError {
    StoreError::new(
        ErrorKind::Unsupported,
        format!("aggregate in {title}"),
        format!("{function:?} is not for fields of this type"),
    )
}

/// The query that groups readings by the first so many columns; without groups, an answer only where there is a reading.
pub(super) fn grouped(dialect: &dyn Dialect, columns: &str, readings: &str, count: usize) -> String {
    if count > 0 {
        let numbers = joined((1..=count).map(|number| number.to_string()));
        return format!("SELECT {columns} FROM {readings} GROUP BY {numbers}");
    }
    if dialect.has_having() {
        return format!("SELECT {columns} FROM {readings} HAVING count(*) > 0");
    }
    format!("SELECT * FROM (SELECT {columns}, count(*) AS n FROM {readings}) w WHERE w.n > 0")
}

/// The fields that are aggregated.
pub(super) fn fields_of(aggregates: &[Aggregate]) -> FieldSet {
    aggregates.iter().fold(FieldSet::first(0), |set, one| set.with(one.field))
}

/// The type of an aggregate's value.
const fn value_type(function: Function, kind: FieldType) -> FieldType {
    match (function, kind) {
        (Function::Count, _) => FieldType::I64,
        (Function::Sum, FieldType::F64) => FieldType::F64,
        (Function::Sum, _) => FieldType::I64,
        (Function::Mean | Function::StandardDeviation | Function::TimeWeightedShare, _) => FieldType::F64,
        _ => kind,
    }
}
