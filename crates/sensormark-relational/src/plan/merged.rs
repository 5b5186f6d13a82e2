//! Aggregates over readings in several statements. The client merges their groups.
//!
//! One statement has all that GROUP BY computes by itself. Each last value, share of time and most frequent value has its own.

use super::Statement;
use super::aggregate::{fields_of, grouped, not_for_this_type};
use super::relation::{Builder, Relation};
use super::shape::WindowShape;
use super::slot::Slot;
use crate::column_type::ColumnType;
use crate::table::joined;
use sensormark_store::{Aggregate, FieldSet, FieldType, Function, Grouping, StoreError};

/// The statements: the plain ones together, then each of the others in its order.
pub(super) fn statements<'a>(
    part: impl Fn() -> Builder<'a>,
    aggregates: &[Aggregate],
    grouping: Grouping,
) -> Result<Vec<Statement>, StoreError> {
    let mut statements = Vec::new();
    let dialect = part().physical.dialect;
    let mut add = |numbers: &[usize]| {
        let wanted: Vec<Aggregate> = numbers.iter().map(|&number| aggregates[number]).collect();
        let mut part = Part::new(part(), &wanted, grouping);
        let text = match wanted.as_slice() {
            [one] if dialect.groups(one.function) => part.plain(&wanted)?,
            [one] if one.function == Function::Last => part.last(one.field),
            [one] if one.function == Function::MostFrequent => part.most_frequent(one.field),
            [one] if one.function == Function::TimeWeightedShare => part.share(one.field)?,
            _ => part.plain(&wanted)?,
        };
        let Part { builder, window, .. } = part;
        let form = builder.group_form(aggregates, numbers, grouping, window);
        statements.push(builder.finish(&text, form));
        Ok::<(), StoreError>(())
    };
    let plain: Vec<usize> =
        (0..aggregates.len()).filter(|&number| dialect.groups(aggregates[number].function)).collect();
    if !plain.is_empty() {
        add(&plain)?;
    }
    for (number, aggregate) in aggregates.iter().enumerate() {
        if !dialect.groups(aggregate.function) {
            add(&[number])?;
        }
    }
    Ok(statements)
}

/// What a statement is written from.
struct Part<'a> {
    builder: Builder<'a>,
    relation: Relation,
    /// The columns that tell groups apart.
    groups: Vec<String>,
    window: Option<WindowShape>,
}

impl<'a> Part<'a> {
    fn new(mut builder: Builder<'a>, aggregates: &[Aggregate], grouping: Grouping) -> Self {
        let fields: FieldSet = fields_of(aggregates);
        let mut relation = builder.relation(fields);
        let present = builder.any_present(&relation, fields);
        relation.conditions.extend(present);
        let mut groups = Vec::new();
        if grouping.by_series {
            groups.extend(relation.keys.iter().cloned());
        }
        if let Some(tag) = grouping.by_tag {
            groups.push(builder.by_tag(&mut relation, tag));
        }
        let window = builder.window_shape(grouping);
        if let Some(shape) = window {
            groups.push(format!("({})", builder.window_start(&relation, shape)));
        }
        if let Some(split) = grouping.by_day_part {
            groups.push(builder.is_day(&relation.ns, split));
        }
        Self { builder, relation, groups, window }
    }

    /// Where the readings come from, and which of them.
    fn readings(&self) -> String {
        format!("{}{}", self.relation.from, self.relation.filter())
    }

    /// The groups' columns under names of their own, with something more behind them.
    fn named(&self, more: &[String]) -> String {
        let named = self.groups.iter().enumerate();
        let named = named.map(|(place, column)| format!("{column} AS g{place}"));
        joined(named.chain(more.iter().cloned()))
    }

    /// Those names, in a subquery, with something more behind them.
    fn names(&self, more: &str) -> String {
        let names = (0..self.groups.len()).map(|place| format!("q.g{place}"));
        joined(names.chain([more.to_owned()]))
    }

    /// The clause of a window function that names the groups; nothing where there is one group.
    fn partition(&self) -> String {
        if self.groups.is_empty() {
            return String::new();
        }
        format!("PARTITION BY {} ", self.groups.join(", "))
    }

    /// Count, sum, min, max and mean.
    fn plain(&self, aggregates: &[Aggregate]) -> Result<String, StoreError> {
        let values = aggregates
            .iter()
            .map(|&one| self.builder.plain(one, &self.relation))
            .collect::<Result<Vec<_>, _>>()?;
        let columns = joined(self.groups.iter().cloned().chain(values));
        let (dialect, count) = (self.builder.physical.dialect, self.groups.len());
        Ok(grouped(dialect, &columns, &self.readings(), count))
    }

    /// The value of the latest reading of each group.
    fn last(&self, field: usize) -> String {
        let relation = &self.relation;
        let value = relation.field(field);
        if self.groups.is_empty() {
            let mut order = self.builder.coarse_order(" DESC");
            order.extend(relation.ordered(" DESC"));
            return format!("SELECT {value} FROM {} ORDER BY {} LIMIT 1", self.readings(), order.join(", "));
        }
        let more = [
            format!("{value} AS v"),
            format!(
                "row_number() OVER ({}ORDER BY {}) AS n",
                self.partition(),
                relation.ordered(" DESC").join(", ")
            ),
        ];
        format!(
            "SELECT {} FROM (SELECT {} FROM {}) q WHERE q.n = 1",
            self.names("q.v"),
            self.named(&more),
            self.readings()
        )
    }

    /// The share of time in which a truth value was true.
    fn share(&mut self, field: usize) -> Result<String, StoreError> {
        if self.builder.description.fields[field].kind != FieldType::Bool {
            let title = self.builder.physical.dialect.title();
            return Err(not_for_this_type(Function::TimeWeightedShare, title));
        }
        let dialect = self.builder.physical.dialect;
        let end = self.builder.slot(Slot::EndNs, ColumnType::I64);
        let relation = &self.relation;
        let series = if relation.keys.is_empty() {
            String::new()
        } else {
            format!("PARTITION BY {} ", relation.keys.join(", "))
        };
        let time = &relation.ns;
        let next = format!("lead({time}) OVER ({series}ORDER BY {})", relation.ordered("").join(", "));
        let is_composed = dialect.composes_windows();
        let known =
            if is_composed { format!("coalesce({next}, {end})") } else { format!("coalesce(q.n, {end})") };
        let until = match self.window {
            None => known,
            Some(shape) => {
                let start = self.builder.window_start(relation, shape);
                let width = self.builder.slot(Slot::Width, ColumnType::I64);
                let start = if is_composed { start } else { "q.w".to_owned() };
                dialect.least(&known, &format!("{start} + {width}"))
            }
        };
        let mut more = vec![format!("{} AS v", relation.field(field))];
        let held = if is_composed {
            more.push(format!("{until} - {time} AS h"));
            "q.h".to_owned()
        } else {
            more.push(format!("{time} AS t"));
            more.push(format!("{next} AS n"));
            if let Some(shape) = self.window {
                let start = self.builder.window_start(relation, shape);
                more.push(format!("{start} AS w"));
            }
            format!("({until} - q.t)")
        };
        let columns = self.names(&dialect.share("q.v", &held));
        let held = format!("(SELECT {} FROM {}) q", self.named(&more), self.readings());
        Ok(grouped(dialect, &columns, &held, self.groups.len()))
    }

    /// The value that most readings of a group have, the smallest of equals.
    fn most_frequent(&self, field: usize) -> String {
        let value = self.relation.field(field);
        let within = joined((1..=self.groups.len() + 1).map(|number| number.to_string()));
        if !self.builder.physical.dialect.composes_windows() {
            let counted = [format!("{value} AS v"), "count(*) AS c".to_owned()];
            let partition = if self.groups.is_empty() {
                String::new()
            } else {
                let groups = (0..self.groups.len()).map(|place| format!("p.g{place}"));
                format!("PARTITION BY {} ", joined(groups))
            };
            return format!(
                "SELECT {} FROM (SELECT *, row_number() OVER ({partition}ORDER BY p.c DESC, p.v) AS n \
                 FROM (SELECT {} FROM {} GROUP BY {within}) p) q WHERE q.n = 1",
                self.names("q.v"),
                self.named(&counted),
                self.readings()
            );
        }
        let more = [
            format!("{value} AS v"),
            format!("row_number() OVER ({}ORDER BY count(*) DESC, {value}) AS n", self.partition()),
        ];
        format!(
            "SELECT {} FROM (SELECT {} FROM {} GROUP BY {within}) q WHERE q.n = 1",
            self.names("q.v"),
            self.named(&more),
            self.readings()
        )
    }
}
