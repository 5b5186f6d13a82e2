//! The latest reading of each series: for each series, one step down the index.

use super::build::{Form, with_keys};
use super::relation::{Builder, array_of};
use super::slot::Slot;
use crate::schema::ddl::type_name;
use crate::schema::{Content, joined, quoted, tag_type};
use sensormark_store::{Encoding, FieldSet, Selection, Shape};
use tokio_postgres::types::Type;

impl Builder<'_> {
    /// The latest reading of each chosen series that has any of these fields.
    pub(crate) fn latest(&mut self, fields: FieldSet) -> (String, Form) {
        if self.model.layout.shape == Shape::RowPerField {
            return self.latest_fields(fields);
        }
        let inner = match self.model.span() {
            Some((span_ns, encoding)) => self.latest_in_records(fields, span_ns, encoding),
            None => self.latest_row(fields),
        };
        if self.table.keys.is_empty() {
            return (inner, Form::Readings(fields));
        }
        let (series, keys) = (self.chosen_series(), self.answer_keys("s"));
        let text = format!("SELECT {keys}l.* FROM {series} CROSS JOIN LATERAL ({inner}) l");
        (text, Form::Readings(fields))
    }

    fn latest_row(&mut self, fields: FieldSet) -> String {
        let mut relation = self.relation_of_all(fields);
        relation.conditions.extend(self.of_this_series());
        let present = self.any_present(&relation, fields);
        relation.conditions.extend(present);
        let values = fields.iter().map(|field| relation.field(field).to_owned());
        let columns = joined([relation.time.clone()].into_iter().chain(values));
        let (filter, time) = (relation.filter(), &relation.time);
        format!(
            "SELECT {columns} FROM {}{filter} ORDER BY {time} DESC LIMIT 1",
            relation.from
        )
    }

    /// Records are opened one after the other, the latest first, until one holds such a reading.
    fn latest_in_records(&mut self, fields: FieldSet, span_ns: i64, encoding: Encoding) -> String {
        let expansion = self.expansion(fields, span_ns, encoding);
        let span = format!("r.{}", self.table.time);
        let time = format!("{span} * {span_ns}::int8 + {}", expansion.offset);
        let (start, end) = (
            self.slot(Slot::Start, Type::INT8),
            self.slot(Slot::End, Type::INT8),
        );
        let mut within = vec![format!("{time} >= {start}"), format!("{time} < {end}")];
        if fields
            .iter()
            .all(|field| self.description.fields[field].nullable)
        {
            let present: Vec<String> = expansion
                .fields
                .iter()
                .map(|(_, text)| format!("{text} IS NOT NULL"))
                .collect();
            within.push(format!("({})", present.join(" OR ")));
        }
        let mut conditions = self.of_this_series();
        conditions.push(self.spans());
        format!(
            "SELECT o.* FROM {table} r CROSS JOIN LATERAL (SELECT {columns} FROM {from} WHERE {within} \
             ORDER BY 1 DESC LIMIT 1) o WHERE {filter} ORDER BY {span} DESC, o.t DESC LIMIT 1",
            table = self.table.name,
            columns = joined(
                [format!("{time} AS t")].into_iter().chain(
                    expansion
                        .fields
                        .iter()
                        .map(|(field, text)| format!("{text} AS f{field}"))
                ),
            ),
            from = expansion.from,
            within = within.join(" AND "),
            filter = conditions.join(" AND "),
        )
    }

    /// In rows of one field: the latest time at which a series has any of the fields, then its rows of that time.
    fn latest_fields(&mut self, fields: FieldSet) -> (String, Form) {
        let time = &self.table.time;
        let kind = self.model.time_type();
        let (start, end) = (
            self.slots.use_slot(Slot::Start, kind.clone()),
            self.slots.use_slot(Slot::End, kind),
        );
        let mut conditions = vec![format!("r.{time} >= {start}"), format!("r.{time} < {end}")];
        conditions.push(self.field_condition(fields));
        conditions.extend(self.of_this_series());
        let latest = format!(
            "SELECT r.{time} AS t FROM {} r WHERE {} ORDER BY r.{time} DESC LIMIT 1",
            self.table.name,
            conditions.join(" AND ")
        );
        let series = if self.table.keys.is_empty() {
            format!("({latest}) l")
        } else {
            format!("{} CROSS JOIN LATERAL ({latest}) l", self.chosen_series())
        };
        let mut matches = self.of_this_series();
        matches.push(format!("r.{} = l.t", self.table.time));
        let from = format!(
            "{series} JOIN {} r ON {}",
            self.table.name,
            matches.join(" AND ")
        );
        self.field_rows(fields, &from, Vec::new())
    }

    /// The conditions that a reading is of the series `s`.
    pub(crate) fn of_this_series(&self) -> Vec<String> {
        self.table
            .key_columns()
            .map(|column| format!("r.{name} = s.{name}", name = column.name))
            .collect()
    }

    fn answer_keys(&self, alias: &str) -> String {
        if !with_keys(&self.query.series, self.description) {
            return String::new();
        }
        self.table
            .key_columns()
            .map(|column| format!("{alias}.{}, ", column.name))
            .collect()
    }

    /// The chosen series' keys as a relation `s`.
    pub(crate) fn chosen_series(&mut self) -> String {
        let columns: Vec<(String, Type)> = self
            .table
            .key_columns()
            .map(|column| (column.name.clone(), column.kind.clone()))
            .collect();
        let names = joined(columns.iter().map(|(name, _)| name.clone()));
        let arrays = |slots: &mut super::slot::Slots, slot: fn(usize) -> Slot| {
            joined(
                columns
                    .iter()
                    .enumerate()
                    .map(|(number, (_, kind))| slots.use_slot(slot(number), array_of(kind))),
            )
        };
        match (&self.query.series, &self.table.tags) {
            (Selection::One(_), _) => {
                let values = joined(columns.iter().enumerate().map(|(number, (name, kind))| {
                    let value = self.slots.use_slot(Slot::Key(number), kind.clone());
                    format!("{value}::{} AS {name}", type_name(kind))
                }));
                format!("(SELECT {values}) s")
            }
            (Selection::Set(_), _) => format!(
                "unnest({}) AS s({names})",
                arrays(&mut self.slots, Slot::KeySet)
            ),
            (Selection::All, Some(tags)) => format!("{tags} s"),
            (Selection::All, None) => format!(
                "unnest({}) AS s({names})",
                arrays(&mut self.slots, Slot::KeyAll)
            ),
            (Selection::Tagged { tag, .. }, own) => {
                let kind = tag_type(&self.description.series.columns()[*tag]);
                let name = quoted(&self.description.tags[*tag].name);
                let value = self.slots.use_slot(Slot::TagValue, kind.clone());
                let from = own.as_ref().unwrap_or(&self.table.name);
                if own.is_none()
                    && columns.len() == 1
                    && self.table.columns[self.table.keys[0]].content == Content::Tag(*tag)
                {
                    return format!("(SELECT {value}::{} AS {name}) s", type_name(&kind));
                }
                format!("(SELECT DISTINCT {names} FROM {from} WHERE {name} = {value}) s")
            }
        }
    }
}
