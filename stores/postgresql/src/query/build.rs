//! The statement for a question about readings: points, ranges, searches, minima, latest readings, matching series.
//! (Aggregates are in the module `aggregate`.)

use super::relation::Builder;
use super::slot::Slot;
use crate::schema::{Content, joined, quoted};
use sensormark_store::FieldType;
use sensormark_store::{
    Ask, Comparison, Encoding, FieldSet, Predicate, Selection, Shape, StoreError, Table,
};
use tokio_postgres::types::Type;

/// What a statement's rows are made of, in the order of their columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    /// Readings: (keys,) time and these fields.
    Readings(FieldSet),
    /// Fields of readings: (keys,) time, number of the field, a value column for each of these types.
    FieldRows(FieldSet, Vec<FieldType>),
    /// Records: (keys,) number of the span, and the document or the arrays of offsets and these fields.
    Records(FieldSet, RecordForm),
    /// A time and a value of this type.
    Moment(FieldType),
    /// Keys alone.
    Series,
    /// Aggregates; the parts of the group that are there, then the values.
    Groups(super::aggregate::GroupForm),
}

/// How a record comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordForm {
    /// As a JSON document, text or binary.
    Document { binary: bool },
    /// As JSON arrays, one of offsets and one a field (jsonb).
    JsonArrays,
    /// As arrays.
    Arrays,
}

/// Whether the rows of an answer say which series they are of: not where the question is about one.
pub(crate) fn with_keys(series: &Selection, description: &Table) -> bool {
    !matches!(series, Selection::One(_)) && !description.tags.is_empty()
}

/// How a whole record with this encoding comes back.
pub(crate) const fn whole_record(encoding: Encoding) -> RecordForm {
    match encoding {
        Encoding::Arrays => RecordForm::Arrays,
        Encoding::BinaryJson => RecordForm::Document { binary: true },
        _ => RecordForm::Document { binary: false },
    }
}

impl Builder<'_> {
    /// The statement's text and what its rows are.
    pub(crate) fn statement(&mut self) -> Result<(String, Form), StoreError> {
        match &self.query.ask {
            Ask::Point { fields } => Ok(self.point(*fields)),
            Ask::Range { fields, .. } => Ok(self.range(*fields)),
            Ask::First(predicate) => Ok(self.search(*predicate, "")),
            Ask::Last(predicate) => Ok(self.search(*predicate, " DESC")),
            Ask::Minimum { field } => Ok(self.minimum(*field)),
            Ask::LastReading { fields } => Ok(self.latest(*fields)),
            Ask::SeriesMatching(predicate) => Ok(self.matching(*predicate)),
            Ask::Aggregate {
                aggregates,
                grouping,
                from_sums,
            } => {
                let (aggregates, grouping) = (aggregates.clone(), *grouping);
                let (text, form) = if *from_sums {
                    self.aggregate_sums(&aggregates, grouping)?
                } else {
                    self.aggregate(&aggregates, grouping)?
                };
                Ok((text, Form::Groups(form)))
            }
        }
    }

    fn leading_keys(&self) -> Vec<String> {
        if with_keys(&self.query.series, self.description) {
            self.keys()
        } else {
            Vec::new()
        }
    }

    fn point(&mut self, fields: FieldSet) -> (String, Form) {
        if self.model.span().is_some() {
            return self.expanded_range(fields);
        }
        let time = format!("r.{}", self.table.time);
        let kind = self.model.time_type();
        let at = self.slot(Slot::Start, kind);
        let mut conditions: Vec<String> = self.selected().into_iter().collect();
        conditions.push(format!("{time} = {at}"));
        if self.model.layout.shape == Shape::RowPerField {
            return self.field_rows(fields, &format!("{} r", self.table.name), conditions);
        }
        let present = self.present_columns(fields);
        conditions.extend(present);
        let columns = self.columns(fields);
        let columns = joined(self.leading_keys().into_iter().chain([time]).chain(columns));
        let filter = conditions.join(" AND ");
        (
            format!("SELECT {columns} FROM {} r WHERE {filter}", self.table.name),
            Form::Readings(fields),
        )
    }

    fn columns(&self, fields: FieldSet) -> Vec<String> {
        fields
            .iter()
            .map(|field| format!("r.{}", quoted(&self.description.fields[field].name)))
            .collect()
    }

    fn present_columns(&self, fields: FieldSet) -> Option<String> {
        if fields
            .iter()
            .any(|field| !self.description.fields[field].nullable)
        {
            return None;
        }
        let present: Vec<String> = self
            .columns(fields)
            .into_iter()
            .map(|column| format!("{column} IS NOT NULL"))
            .collect();
        Some(format!("({})", present.join(" OR ")))
    }

    fn range(&mut self, fields: FieldSet) -> (String, Form) {
        if let Some((_, encoding)) = self.model.span() {
            return self.record_range(fields, encoding);
        }
        if self.model.layout.shape == Shape::RowPerField {
            let mut conditions: Vec<String> = self.selected().into_iter().collect();
            conditions.extend(self.time_conditions("r"));
            return self.field_rows(fields, &format!("{} r", self.table.name), conditions);
        }
        self.expanded_range(fields)
    }

    fn time_conditions(&mut self, alias: &str) -> [String; 2] {
        let kind = self.model.time_type();
        let (start, end) = (
            self.slot(Slot::Start, kind.clone()),
            self.slot(Slot::End, kind),
        );
        let time = &self.table.time;
        [
            format!("{alias}.{time} >= {start}"),
            format!("{alias}.{time} < {end}"),
        ]
    }

    /// Readings one a row, whatever the table's shape.
    fn expanded_range(&mut self, fields: FieldSet) -> (String, Form) {
        let mut relation = self.relation(fields);
        let present = self.any_present(&relation, fields);
        relation.conditions.extend(present);
        let keys = self.leading_keys();
        let values = fields.iter().map(|field| relation.field(field).to_owned());
        let columns = joined(
            keys.iter()
                .cloned()
                .chain([relation.time.clone()])
                .chain(values),
        );
        let order = joined(keys.into_iter().chain([relation.time.clone()]));
        let filter = relation.filter();
        (
            format!(
                "SELECT {columns} FROM {}{filter} ORDER BY {order}",
                relation.from
            ),
            Form::Readings(fields),
        )
    }

    pub(crate) fn field_rows(
        &self,
        fields: FieldSet,
        from: &str,
        mut conditions: Vec<String>,
    ) -> (String, Form) {
        if fields != self.description.all_fields() || conditions.is_empty() {
            conditions.push(self.field_condition(fields));
        }
        let number = format!("r.{}", self.table.column(Content::FieldNumber));
        let kinds = self.kinds_of(fields);
        let time = format!("r.{}", self.table.time);
        let order = self.leading_keys().into_iter().chain([time, number]);
        let order: Vec<String> = order.collect();
        let columns = joined(
            order
                .iter()
                .cloned()
                .chain(kinds.iter().map(|&kind| self.value_column(kind))),
        );
        let filter = conditions.join(" AND ");
        (
            format!(
                "SELECT {columns} FROM {from} WHERE {filter} ORDER BY {}",
                order.join(", ")
            ),
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
        let all = fields == self.description.all_fields();
        let document = format!("r.{}", self.table.column(Content::Document));
        let part = |path: String| {
            format!("jsonb_path_query_array({document}, '$.measurements[*].{path}')")
        };
        let (payload, form) = match encoding {
            Encoding::Arrays => {
                let offsets = format!("r.{}", self.table.column(Content::Offsets));
                (
                    [offsets]
                        .into_iter()
                        .chain(self.columns(fields))
                        .collect::<Vec<_>>(),
                    RecordForm::Arrays,
                )
            }
            Encoding::BinaryJson if !all => (
                ["ns".to_owned()]
                    .into_iter()
                    .chain(fields.iter().map(|field| format!("m[{field}]")))
                    .map(part)
                    .collect(),
                RecordForm::JsonArrays,
            ),
            _ if !all => return self.expanded_range(fields),
            _ => (vec![document], whole_record(encoding)),
        };
        let mut conditions: Vec<String> = self.selected().into_iter().collect();
        conditions.push(self.spans());
        let order: Vec<String> = self
            .leading_keys()
            .into_iter()
            .chain([format!("r.{}", self.table.time)])
            .collect();
        let columns = joined(order.iter().cloned().chain(payload));
        let (filter, order) = (conditions.join(" AND "), order.join(", "));
        (
            format!(
                "SELECT {columns} FROM {} r WHERE {filter} ORDER BY {order}",
                self.table.name
            ),
            Form::Records(fields, form),
        )
    }

    fn passes(&mut self, predicate: Predicate, value: &str) -> String {
        let threshold = self.slot(Slot::Threshold, Type::FLOAT8);
        let sign = match predicate.comparison {
            Comparison::Above => '>',
            Comparison::Below => '<',
        };
        let value = match self.description.fields[predicate.field].kind {
            FieldType::F64 => value.to_owned(),
            FieldType::Bool => format!("({value})::int4::float8"),
            _ => format!("({value})::float8"),
        };
        format!("{value} {sign} {threshold}")
    }

    /// The key columns as the last terms of an order, where the question is about several series.
    fn tie_break(&self) -> String {
        self.leading_keys()
            .into_iter()
            .map(|key| format!(", {key}"))
            .collect()
    }

    fn search(&mut self, predicate: Predicate, direction: &str) -> (String, Form) {
        let form = Form::Moment(self.description.fields[predicate.field].kind);
        if let Some((span_ns, encoding)) = self.model.span() {
            return (
                self.record_search(predicate, direction, span_ns, encoding),
                form,
            );
        }
        let mut relation = self.relation(FieldSet::one(predicate.field));
        let value = relation.field(predicate.field).to_owned();
        let passes = self.passes(predicate, &value);
        relation.conditions.push(passes);
        let (time, filter, ties) = (&relation.time, relation.filter(), self.tie_break());
        let text = format!(
            "SELECT {time}, {value} FROM {}{filter} ORDER BY {time}{direction}{ties} LIMIT 1",
            relation.from
        );
        (text, form)
    }

    /// Records are opened one after the other, in the order of their spans, until one holds a reading that passes.
    fn record_search(
        &mut self,
        predicate: Predicate,
        direction: &str,
        span_ns: i64,
        encoding: Encoding,
    ) -> String {
        let expansion = self.expansion(FieldSet::one(predicate.field), span_ns, encoding);
        let span = format!("r.{}", self.table.time);
        let time = format!("{span} * {span_ns}::int8 + {}", expansion.offset);
        let value = &expansion.fields[0].1;
        let passes = self.passes(predicate, value);
        let (start, end) = (
            self.slot(Slot::Start, Type::INT8),
            self.slot(Slot::End, Type::INT8),
        );
        let mut conditions: Vec<String> = self.selected().into_iter().collect();
        conditions.push(self.spans());
        let ties = self.tie_break();
        format!(
            "SELECT o.t, o.f FROM {table} r CROSS JOIN LATERAL (SELECT {time} AS t, {value} AS f FROM {from} \
             WHERE {time} >= {start} AND {time} < {end} AND {passes} ORDER BY 1{direction} LIMIT 1) o \
             WHERE {filter} ORDER BY {span}{direction}, o.t{direction}{ties} LIMIT 1",
            table = self.table.name,
            from = expansion.from,
            filter = conditions.join(" AND "),
        )
    }

    fn minimum(&mut self, field: usize) -> (String, Form) {
        let mut relation = self.relation(FieldSet::one(field));
        let value = relation.field(field).to_owned();
        if self.description.fields[field].nullable {
            relation.conditions.push(format!("{value} IS NOT NULL"));
        }
        let (time, filter, ties) = (&relation.time, relation.filter(), self.tie_break());
        let text = format!(
            "SELECT {time}, {value} FROM {}{filter} ORDER BY {value}, {time}{ties} LIMIT 1",
            relation.from
        );
        (text, Form::Moment(self.description.fields[field].kind))
    }

    /// Series by series, so that the index finds the range within each and the first reading that passes is enough.
    fn matching(&mut self, predicate: Predicate) -> (String, Form) {
        let mut relation = self.relation_of_all(FieldSet::one(predicate.field));
        let value = relation.field(predicate.field).to_owned();
        let passes = self.passes(predicate, &value);
        relation.conditions.push(passes);
        if relation.keys.is_empty() {
            let text = format!(
                "SELECT 0 FROM {}{} LIMIT 1",
                relation.from,
                relation.filter()
            );
            return (text, Form::Series);
        }
        relation.conditions.extend(self.of_this_series());
        let keys = joined(
            self.table
                .key_columns()
                .map(|column| format!("s.{}", column.name)),
        );
        let text = format!(
            "SELECT {keys} FROM {series} WHERE EXISTS (SELECT 1 FROM {from}{filter})",
            series = self.chosen_series(),
            from = relation.from,
            filter = relation.filter(),
        );
        (text, Form::Series)
    }
}
