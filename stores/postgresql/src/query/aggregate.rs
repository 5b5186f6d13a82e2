//! The statements for aggregates: over readings, and over sums that are kept at write time.

use super::relation::{Builder, Relation};
use super::shape::WindowShape;
use super::slot::Slot;
use crate::schema::{Content, joined, quoted};
use sensormark_store::query::DaySplit;
use sensormark_store::{
    Aggregate, ErrorKind, FieldSet, FieldType, Function, Grouping, StoreError, TimeKey,
};
use tokio_postgres::types::Type;

/// What the rows of an aggregate hold before the values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupForm {
    /// The series' keys.
    pub(crate) by_series: bool,
    /// The value of this tag.
    pub(crate) by_tag: Option<usize>,
    /// The start of the window; as a timestamp, or in ns.
    pub(crate) window: Option<TimeKey>,
    /// Whether it is day.
    pub(crate) by_day_part: bool,
    /// The types of the values.
    pub(crate) values: Vec<FieldType>,
}

const OPERATION: &str = "aggregate in PostgreSQL";

impl Builder<'_> {
    /// Aggregates over readings.
    pub(crate) fn aggregate(
        &mut self,
        aggregates: &[Aggregate],
        grouping: Grouping,
    ) -> Result<(String, GroupForm), StoreError> {
        let fields = fields_of(aggregates);
        let mut relation = self.relation(fields);
        let present = self.any_present(&relation, fields);
        relation.conditions.extend(present);
        let mut tag = grouping.by_tag.map(|tag| self.by_tag(&mut relation, tag));
        let mut window = grouping
            .window
            .map(|window| WindowShape::of(window, self.query.range.start_ns, self.model));
        let shares = aggregates
            .iter()
            .any(|one| one.function == Function::TimeWeightedShare);
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
            groups.push(is_day(&relation.ns, split));
        }
        let end = if shares {
            self.group_end(&relation, window.is_some())
        } else {
            String::new()
        };
        let mut values = Vec::new();
        for &aggregate in aggregates {
            let kind = self.description.fields[aggregate.field].kind;
            values.push(expression(aggregate, kind, &relation, &end)?);
        }
        let count = groups.len();
        let tail = if count == 0 {
            " HAVING count(*) > 0".to_owned()
        } else {
            format!(
                " GROUP BY {}",
                joined((1..=count).map(|number| number.to_string()))
            )
        };
        let columns = joined(groups.into_iter().chain(values));
        let filter = relation.filter();
        Ok((
            format!("SELECT {columns} FROM {}{filter}{tail}", relation.from),
            self.group_form(aggregates, grouping, window),
        ))
    }

    fn group_form(
        &self,
        aggregates: &[Aggregate],
        grouping: Grouping,
        window: Option<WindowShape>,
    ) -> GroupForm {
        GroupForm {
            by_series: grouping.by_series && !self.table.keys.is_empty(),
            by_tag: grouping.by_tag,
            window: window.map(|shape| match shape {
                WindowShape::Bin => TimeKey::Native,
                _ => TimeKey::Nanoseconds,
            }),
            by_day_part: grouping.by_day_part.is_some(),
            values: aggregates
                .iter()
                .map(|one| value_type(one.function, self.description.fields[one.field].kind))
                .collect(),
        }
    }

    /// The tag's value; where tags have their own table, that is joined.
    fn by_tag(&self, relation: &mut Relation, tag: usize) -> String {
        let name = quoted(&self.description.tags[tag].name);
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

    fn window_start(&mut self, relation: &Relation, shape: WindowShape) -> String {
        let ns = &relation.ns;
        match shape {
            WindowShape::Bin => {
                let width = self.slot(Slot::WidthInterval, Type::INTERVAL);
                let origin = self.slot(Slot::OriginTimestamp, Type::TIMESTAMPTZ);
                format!("date_bin({width}, {}, {origin})", relation.time)
            }
            WindowShape::Forward => {
                let (width, origin) = (
                    self.slot(Slot::Width, Type::INT8),
                    self.slot(Slot::Origin, Type::INT8),
                );
                format!("{ns} - ({ns} - {origin}) % {width}")
            }
            WindowShape::Any => {
                let (width, origin) = (
                    self.slot(Slot::Width, Type::INT8),
                    self.slot(Slot::Origin, Type::INT8),
                );
                format!("{ns} - ((({ns} - {origin}) % {width}) + {width}) % {width}")
            }
        }
    }

    /// The end of a reading's group in ns: of its window or of the range, whichever is earlier.
    fn group_end(&mut self, relation: &Relation, by_window: bool) -> String {
        let end = self.slot(Slot::EndNs, Type::INT8);
        if !by_window {
            return end;
        }
        let start = self.window_start(relation, WindowShape::Any);
        let width = self.slot(Slot::Width, Type::INT8);
        format!("{start} + {width}, {end}")
    }

    /// The relation with, for each field, the time of the series' next reading that has it, `n…`. Times are in ns.
    fn with_next_times(
        &self,
        relation: &Relation,
        fields: FieldSet,
        tag: Option<&str>,
    ) -> Relation {
        let keys = relation
            .keys
            .iter()
            .enumerate()
            .map(|(number, key)| format!("{key} AS k{number}"));
        let mut columns: Vec<String> = keys.collect();
        columns.extend(tag.map(|tag| format!("{tag} AS g")));
        columns.push(format!("{} AS t", relation.ns));
        for field in fields.iter() {
            let value = relation.field(field);
            columns.push(format!("{value} AS f{field}"));
            let partition = joined(
                relation
                    .keys
                    .iter()
                    .cloned()
                    .chain([format!("({value}) IS NULL")]),
            );
            columns.push(format!(
                "lead({ns}) OVER (PARTITION BY {partition} ORDER BY {ns}) AS n{field}",
                ns = relation.ns
            ));
        }
        let from = format!(
            "(SELECT {} FROM {}{}) q",
            columns.join(", "),
            relation.from,
            relation.filter()
        );
        Relation::nested(from, relation.keys.len(), fields)
    }

    /// Aggregates over sums that were kept at write time.
    pub(crate) fn aggregate_sums(
        &mut self,
        aggregates: &[Aggregate],
        grouping: Grouping,
    ) -> Result<(String, GroupForm), StoreError> {
        self.check_sums(aggregates, grouping)?;
        let name = self.table.sums.clone().unwrap_or_default();
        let (start, end) = (
            self.slot(Slot::StartNs, Type::INT8),
            self.slot(Slot::EndNs, Type::INT8),
        );
        let period = "r.\".period\"".to_owned();
        let mut relation = self.relation_of_sums(name);
        relation.conditions.extend(self.selected());
        relation.conditions.push(format!("{period} >= {start}"));
        relation.conditions.push(format!("{period} < {end}"));
        let field_name = |field: usize| &self.description.fields[field].name;
        let counts: Vec<String> = fields_of(aggregates)
            .iter()
            .map(|field| format!("r.\"{}.count\" > 0", field_name(field)))
            .collect();
        relation
            .conditions
            .push(format!("({})", counts.join(" OR ")));
        let values: Vec<String> = aggregates
            .iter()
            .map(|one| {
                sum_expression(
                    *one,
                    field_name(one.field),
                    self.description.fields[one.field].kind,
                )
            })
            .collect();
        let mut groups: Vec<String> = Vec::new();
        if grouping.by_series {
            groups.extend(relation.keys.iter().cloned());
        }
        if let Some(tag) = grouping.by_tag {
            groups.push(self.by_tag(&mut relation, tag));
        }
        let window = grouping
            .window
            .map(|window| WindowShape::of(window, self.query.range.start_ns, self.model));
        if let Some(shape) = window {
            groups.push(self.window_start(&relation, shape));
        }
        if grouping.by_day_part.is_some() {
            groups.push("r.\".day\"".to_owned());
        }
        let tail = if groups.is_empty() {
            " HAVING count(*) > 0".to_owned()
        } else {
            format!(
                " GROUP BY {}",
                joined((1..=groups.len()).map(|number| number.to_string()))
            )
        };
        let columns = joined(groups.into_iter().chain(values));
        let filter = relation.filter();
        Ok((
            format!("SELECT {columns} FROM {}{filter}{tail}", relation.from),
            self.group_form(aggregates, grouping, window),
        ))
    }

    fn relation_of_sums(&self, name: String) -> Relation {
        let mut relation = Relation::nested(format!("{name} r"), 0, FieldSet::first(0));
        relation.keys = self.keys();
        relation.time = "r.\".period\"".to_owned();
        relation.ns = relation.time.clone();
        relation
    }

    fn check_sums(&self, aggregates: &[Aggregate], grouping: Grouping) -> Result<(), StoreError> {
        let refuse = |text: &str| Err(StoreError::unsupported(OPERATION, text.to_owned()));
        let Some((per_ns, split)) = self.model.summary() else {
            return refuse("only the layout with a summary keeps sums");
        };
        let whole = |ns: i64| ns.rem_euclid(per_ns) == 0;
        if !whole(self.query.range.start_ns) || !whole(self.query.range.end_ns) {
            return refuse("the range does not start and end with the periods of the sums");
        }
        if grouping
            .window
            .is_some_and(|window| !whole(window.width_ns) || !whole(window.origin_ns))
        {
            return refuse("the windows are not made of whole periods of the sums");
        }
        if grouping.by_day_part.is_some_and(|other| other != split) {
            return refuse("the sums split the day elsewhere");
        }
        let kept = |one: &Aggregate| {
            matches!(
                one.function,
                Function::Count | Function::Sum | Function::Min | Function::Max | Function::Mean
            ) && !matches!(
                self.description.fields[one.field].kind,
                FieldType::Bool | FieldType::Text
            )
        };
        if !aggregates.iter().all(kept) {
            return refuse("sums are kept for count, sum, min, max and mean of numeric fields");
        }
        Ok(())
    }
}

/// The fields that are aggregated.
fn fields_of(aggregates: &[Aggregate]) -> FieldSet {
    aggregates
        .iter()
        .fold(FieldSet::first(0), |set, one| set.with(one.field))
}

fn is_day(ns: &str, split: DaySplit) -> String {
    let (day, start, end) = (DaySplit::DAY_NS, split.day_start_ns, split.day_end_ns);
    format!("({ns} % {day}::int8 >= {start}::int8 AND {ns} % {day}::int8 < {end}::int8)")
}

/// The type of an aggregate's value.
fn value_type(function: Function, kind: FieldType) -> FieldType {
    match function {
        Function::Count => FieldType::I64,
        Function::Sum if kind != FieldType::F64 => FieldType::I64,
        Function::Sum | Function::Mean | Function::TimeWeightedShare => FieldType::F64,
        Function::Min | Function::Max | Function::Last | Function::MostFrequent => kind,
    }
}

fn expression(
    aggregate: Aggregate,
    kind: FieldType,
    relation: &Relation,
    end: &str,
) -> Result<String, StoreError> {
    let Aggregate { function, field } = aggregate;
    let value = relation.field(field);
    let numeric = !matches!(kind, FieldType::Bool | FieldType::Text);
    Ok(match function {
        Function::Count => format!("count({value})"),
        Function::Sum if numeric => match kind {
            FieldType::I64 => format!("sum({value})::int8"),
            _ => format!("sum({value})"),
        },
        Function::Min if numeric => format!("min({value})"),
        Function::Max if numeric => format!("max({value})"),
        Function::Mean if numeric => format!("avg({value})::float8"),
        Function::Last => {
            format!(
                "(array_agg({value} ORDER BY {} DESC) FILTER (WHERE {value} IS NOT NULL))[1]",
                relation.time
            )
        }
        Function::MostFrequent => format!("mode() WITHIN GROUP (ORDER BY {value})"),
        Function::TimeWeightedShare if kind == FieldType::Bool => {
            let holds = format!("(least(q.n{field}, {end}) - {})", relation.ns);
            format!(
                "coalesce(sum({holds}) FILTER (WHERE {value}), 0)::float8 / (sum({holds}) FILTER (WHERE {value} IS NOT NULL))::float8"
            )
        }
        _ => {
            return Err(StoreError::new(
                ErrorKind::Unsupported,
                OPERATION,
                format!("{function:?} is not for fields of this type"),
            ));
        }
    })
}

fn sum_expression(aggregate: Aggregate, field: &str, kind: FieldType) -> String {
    let (count, sum) = (
        format!("sum(r.\"{field}.count\")"),
        format!("sum(r.\"{field}.sum\")"),
    );
    match aggregate.function {
        Function::Count => format!("{count}::int8"),
        Function::Sum if kind != FieldType::F64 => format!("{sum}::int8"),
        Function::Sum => sum,
        Function::Min => format!("min(r.\"{field}.min\")"),
        Function::Max => format!("max(r.\"{field}.max\")"),
        _ => format!(
            "({sum} / nullif({count}, 0)::{})::float8",
            if kind == FieldType::F64 {
                "float8"
            } else {
                "numeric"
            }
        ),
    }
}
