//! Aggregates over sums that were kept at write time.

use super::Form;
use super::aggregate::{fields_of, grouped};
use super::relation::{Builder, Relation};
use super::slot::Slot;
use crate::column_type::ColumnType;
use crate::layouts::NO_SUMS;
use crate::table::{PhysicalSums, joined};
use sensormark_store::{Aggregate, FieldSet, Grouping, StoreError};

impl<'a> Builder<'a> {
    /// Aggregates over sums.
    pub(super) fn aggregate_sums(
        &mut self,
        aggregates: &[Aggregate],
        grouping: Grouping,
    ) -> Result<(String, Form), StoreError> {
        let sums = self.check_sums()?;
        let (start, end) =
            (self.slot(Slot::StartNs, ColumnType::I64), self.slot(Slot::EndNs, ColumnType::I64));
        let mut relation = self.relation_of_sums(sums);
        relation.conditions.extend(self.selected());
        let period = relation.time.clone();
        relation.conditions.push(format!("{period} >= {start}"));
        relation.conditions.push(format!("{period} < {end}"));
        let columns = |field: usize| self.table.sums_of(field);
        let counts: Vec<String> = fields_of(aggregates)
            .iter()
            .filter_map(columns)
            .map(|columns| format!("r.{} > 0", columns.count))
            .collect();
        relation.conditions.push(format!("({})", counts.join(" OR ")));
        let dialect = self.physical.dialect;
        let values: Vec<String> = aggregates
            .iter()
            .filter_map(|one| Some(dialect.sum_of_sums(*one, columns(one.field)?)))
            .collect();
        let mut groups: Vec<String> = Vec::new();
        if grouping.by_series {
            groups.extend(relation.keys.iter().cloned());
        }
        if let Some(tag) = grouping.by_tag {
            groups.push(self.by_tag(&mut relation, tag));
        }
        let window = self.window_shape(grouping);
        if let Some(shape) = window {
            groups.push(self.window_start(&relation, shape));
        }
        if grouping.by_day_part.is_some() {
            groups.push(format!("r.{}", sums.day));
        }
        let count = groups.len();
        let columns = joined(groups.into_iter().chain(values));
        let sums = format!("{}{}", relation.from, relation.filter());
        let numbers: Vec<usize> = (0..aggregates.len()).collect();
        Ok((
            grouped(self.physical.dialect, &columns, &sums, count),
            self.group_form(aggregates, &numbers, grouping, window),
        ))
    }

    fn relation_of_sums(&self, sums: &PhysicalSums) -> Relation {
        let from = format!("{} r", sums.name);
        let mut relation = Relation::nested(from, 0, FieldSet::first(0));
        relation.keys = self.keys();
        relation.time = format!("r.{}", sums.period);
        relation.ns = relation.time.clone();
        relation
    }

    fn check_sums(&self) -> Result<&'a PhysicalSums, StoreError> {
        let operation = format!("aggregate in {}", self.physical.dialect.title());
        let refuse = |text: &str| StoreError::unsupported(operation.as_str(), text);
        let (Some((per_ns, split)), Some(sums)) = (self.physical.summary(), &self.table.sums) else {
            return Err(refuse(NO_SUMS));
        };
        self.query.check_sums(per_ns, split).map_err(refuse)?;
        Ok(sums)
    }
}
