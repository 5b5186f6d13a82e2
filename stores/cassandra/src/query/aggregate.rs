//! Aggregates. The server computes those of a whole range, partition by partition, and the results are added up here. Aggregates by window or part of the day
//! come from the readings themselves, and so do those for which Cassandra has no function.

use super::decode::{Columns, odd};
use super::{PARTITION, Places, Reader, decode, within};
use crate::connection::Cells;
use crate::connection::PIPELINE;
use crate::schema::Rows;
use crate::statements::Shape;
use futures_util::stream::{StreamExt, TryStreamExt, iter};
use sensormark_kit::sums::whole_sum;
use sensormark_store::client_side;
use sensormark_store::{
    Aggregate, FieldSet, FieldType, Function, Group, Grouping, Query, StoreError, Table, Value,
};
use std::collections::BTreeMap;

/// One aggregate so far.
#[derive(Debug, Clone, Copy, Default)]
struct Partial {
    count: i64,
    whole: i128,
    real: f64,
    /// What adding `real` up has lost.
    lost: f64,
    least: Option<Number>,
    most: Option<Number>,
}

/// A number of either kind.
#[derive(Debug, Clone, Copy)]
enum Number {
    Whole(i64),
    Real(f64),
}

impl Number {
    const fn value(self) -> Value {
        match self {
            Self::Whole(value) => Value::I64(value),
            Self::Real(value) => Value::F64(value),
        }
    }

    fn is_under(self, other: Self) -> bool {
        match (self, other) {
            (Self::Whole(one), Self::Whole(other)) => one < other,
            (Self::Real(one), Self::Real(other)) => one < other,
            _ => false,
        }
    }
}

/// Whether the server computes it within a partition.
const fn is_native(function: Function) -> bool {
    matches!(function, Function::Count | Function::Sum | Function::Min | Function::Max | Function::Mean)
}

/// The columns of one aggregate: how many readings have the field, and what is asked.
fn expression(table: &Table, aggregate: Aggregate) -> String {
    let field = &table.fields[aggregate.field];
    let name = &field.name;
    let sum = match field.kind {
        // sums of int and bigint wrap around in their own type
        FieldType::I64 => format!("sum(CAST(\"{name}\" AS varint))"),
        FieldType::U16 => format!("sum(CAST(\"{name}\" AS bigint))"),
        _ => format!("sum(\"{name}\")"),
    };
    let asked = match aggregate.function {
        Function::Sum | Function::Mean => sum,
        Function::Min => format!("min(\"{name}\")"),
        Function::Max => format!("max(\"{name}\")"),
        _ => return format!("count(\"{name}\")"),
    };
    format!("count(\"{name}\"), {asked}")
}

impl Partial {
    fn add(
        &mut self,
        table: &Table,
        aggregate: Aggregate,
        row: &mut Columns<'_, '_>,
    ) -> Result<(), StoreError> {
        let count = decode::big(decode::next(row)?)?;
        self.count += count;
        if aggregate.function == Function::Count {
            return Ok(());
        }
        let bytes = decode::optional(row)?;
        let Some(bytes) = bytes.filter(|_| count > 0) else {
            return Ok(());
        };
        let kind = table.fields[aggregate.field].kind;
        if matches!(aggregate.function, Function::Sum | Function::Mean) {
            match kind {
                FieldType::F64 => self.add_real(f64::from_bits(decode::big(bytes)?.cast_unsigned())),
                _ => self.whole += decode::varint(bytes)?,
            }
            return Ok(());
        }
        let number = match decode::value(kind, Some(bytes))? {
            Value::I64(value) => Number::Whole(value),
            Value::F64(value) => Number::Real(value),
            _ => return Err(odd("an aggregate is no number")),
        };
        if self.least.is_none_or(|least| number.is_under(least)) {
            self.least = Some(number);
        }
        if self.most.is_none_or(|most| most.is_under(number)) {
            self.most = Some(number);
        }
        Ok(())
    }

    /// Adds and keeps what rounding loses (Neumaier, ZAMM 54, 1974).
    fn add_real(&mut self, value: f64) {
        let next = self.real + value;
        self.lost += if self.real.abs() >= value.abs() {
            (self.real - next) + value
        } else {
            (value - next) + self.real
        };
        self.real = next;
    }

    fn value(&self, function: Function, kind: FieldType) -> Result<Value, StoreError> {
        if function == Function::Count {
            return Ok(Value::I64(self.count));
        }
        if self.count == 0 {
            return Ok(Value::Null);
        }
        let is_real = kind == FieldType::F64;
        Ok(match function {
            Function::Min => self.least.map_or(Value::Null, Number::value),
            Function::Max => self.most.map_or(Value::Null, Number::value),
            Function::Sum if is_real => Value::F64(self.real + self.lost),
            Function::Sum => whole_sum(self.whole),
            _ if is_real => Value::F64((self.real + self.lost) / self.count as f64),
            _ => Value::F64(self.whole as f64 / self.count as f64),
        })
    }
}

impl Reader<'_> {
    /// The groups that aggregates give.
    pub(super) async fn aggregate(
        &mut self,
        query: &Query,
        aggregates: &[Aggregate],
        grouping: Grouping,
    ) -> Result<Vec<Group>, StoreError> {
        let native = matches!(self.own(query).rows, Rows::Reading { .. })
            && grouping.window.is_none()
            && grouping.by_day_part.is_none()
            && aggregates.iter().all(|one| is_native(one.function));
        if native {
            return self.aggregate_natively(query, aggregates, grouping).await;
        }
        let fields = aggregates.iter().fold(FieldSet::first(0), |set, one| set.with(one.field));
        let batch = self.range(query, query.range, fields).await?;
        let series = &self.physical.schema.tables[query.table].series;
        let name = client_side::group_names(series, grouping);
        Ok(client_side::groups(&batch, name, query, aggregates, grouping))
    }

    async fn aggregate_natively(
        &mut self,
        query: &Query,
        aggregates: &[Aggregate],
        grouping: Grouping,
    ) -> Result<Vec<Group>, StoreError> {
        let table = &self.physical.schema.tables[query.table];
        let series = self.series(query).await?;
        let Some(places) = self.places(query, &series, query.range).await? else {
            return Ok(Vec::new());
        };
        let partials = self.partials(query, aggregates, grouping, &places).await?;
        let mut groups = Vec::new();
        for (series, partials) in partials {
            if partials.iter().all(|partial| partial.count == 0) {
                continue;
            }
            let values = partials
                .iter()
                .zip(aggregates)
                .map(|(partial, one)| partial.value(one.function, table.fields[one.field].kind));
            groups.push(Group {
                series,
                window_start_ns: None,
                day: None,
                values: values.collect::<Result<_, _>>()?,
            });
        }
        Ok(groups)
    }

    /// What the partitions give, added up by group.
    async fn partials(
        &mut self,
        query: &Query,
        aggregates: &[Aggregate],
        grouping: Grouping,
        places: &Places,
    ) -> Result<BTreeMap<Option<u32>, Vec<Partial>>, StoreError> {
        let physical = self.physical;
        let table = &physical.schema.tables[query.table];
        let text = |keyspace: &str| {
            let columns: Vec<String> = aggregates.iter().map(|one| expression(table, *one)).collect();
            format!(
                "SELECT {} FROM {keyspace}.\"{}\" WHERE {PARTITION} AND \"_time\" >= ? AND \"_time\" <= ?",
                columns.join(", "),
                physical.tables[query.table].readings()
            )
        };
        let shape = Shape::Aggregate(query.table, aggregates.to_vec());
        let statement = self.statements.get(self.link, shape, text).await?;
        let (link, statement) = (self.link, &statement);
        let ask = async |(series, bucket): (u32, i64)| {
            let cells = within(series, bucket, places);
            let pages = link.pages("aggregate", statement, &Cells(&cells)).await?;
            Ok::<_, StoreError>((series, pages))
        };
        let mut asked = iter(places.partitions.iter().copied()).map(ask).buffered(PIPELINE);
        let name = client_side::group_names(&table.series, grouping);
        let mut partials = BTreeMap::new();
        while let Some((series, pages)) = asked.try_next().await? {
            let group =
                partials.entry(name(series)).or_insert_with(|| vec![Partial::default(); aggregates.len()]);
            decode::each(&pages, |row| {
                let mut both = group.iter_mut().zip(aggregates);
                both.try_for_each(|(partial, one)| partial.add(table, *one, row))
            })?;
        }
        Ok(partials)
    }
}
