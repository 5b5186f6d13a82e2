//! The readings that a question is about, as a relation: what stands after FROM and WHERE, and the expressions for
//! series, time and fields. Each shape of table gives the same relation, so that every question is written once.

use super::slot::{Slot, Slots};
use crate::schema::ddl::type_name;
use crate::schema::{Content, Model, TableModel, field_type, offset_type, quoted, tag_type};
use sensormark_store::{Encoding, FieldSet, FieldType, Query, Selection, Shape, Table, TimeKey};
use tokio_postgres::types::Type;

/// What a statement about a table is written from.
pub(crate) struct Builder<'a> {
    /// The plan's tables.
    pub(crate) model: &'a Model,
    /// The question's table.
    pub(crate) table: &'a TableModel,
    /// The same, as the schema describes it.
    pub(crate) description: &'a Table,
    /// The question.
    pub(crate) query: &'a Query,
    /// The parameters so far.
    pub(crate) slots: Slots,
}

/// Readings as a relation.
pub(crate) struct Relation {
    /// What stands after FROM.
    pub(crate) from: String,
    /// The columns that identify the series.
    pub(crate) keys: Vec<String>,
    /// The key of time: ns, or a timestamp.
    pub(crate) time: String,
    /// The time in ns.
    pub(crate) ns: String,
    /// What stands after WHERE, joined by AND.
    pub(crate) conditions: Vec<String>,
    fields: Vec<(usize, String)>,
}

impl Relation {
    /// The expression for a field.
    pub(crate) fn field(&self, field: usize) -> &str {
        self.fields
            .iter()
            .find(|(number, _)| *number == field)
            .map_or("NULL", |(_, text)| text)
    }

    /// The WHERE clause, with a space before it; empty where there are no conditions.
    pub(crate) fn filter(&self) -> String {
        if self.conditions.is_empty() {
            return String::new();
        }
        format!(" WHERE {}", self.conditions.join(" AND "))
    }

    /// The same readings from a subquery whose columns are `k0…`, `t`, `f…`.
    pub(crate) fn nested(from: String, keys: usize, fields: FieldSet) -> Self {
        Self {
            from,
            keys: (0..keys).map(|key| format!("q.k{key}")).collect(),
            time: "q.t".to_owned(),
            ns: "q.t".to_owned(),
            conditions: Vec::new(),
            fields: fields
                .iter()
                .map(|field| (field, format!("q.f{field}")))
                .collect(),
        }
    }
}

impl Builder<'_> {
    /// A parameter for this slot.
    pub(crate) fn slot(&mut self, slot: Slot, kind: Type) -> String {
        self.slots.use_slot(slot, kind)
    }

    /// The readings that the question is about, with these fields.
    pub(crate) fn relation(&mut self, fields: FieldSet) -> Relation {
        let mut relation = self.relation_of_all(fields);
        relation.conditions.extend(self.selected());
        relation
    }

    /// The readings of all series in the range, with these fields.
    pub(crate) fn relation_of_all(&mut self, fields: FieldSet) -> Relation {
        let mut relation = match self.model.layout.shape {
            Shape::RecordPerSpan { span_ns, encoding } => self.expanded(fields, span_ns, encoding),
            _ => self.rows(fields),
        };
        self.limit_time(&mut relation);
        relation
    }

    fn rows(&self, fields: FieldSet) -> Relation {
        let time = format!("r.{}", self.table.time);
        let ns = match self.model.layout.time {
            TimeKey::Nanoseconds => time.clone(),
            TimeKey::Native => format!("((extract(epoch FROM {time}) * 1000000)::int8 * 1000)"),
        };
        let per_field = self.model.layout.shape == Shape::RowPerField;
        let number = format!("r.{}", self.table.column(Content::FieldNumber));
        let mut conditions = Vec::new();
        let expression = |field: usize| {
            if !per_field {
                return format!("r.{}", quoted(&self.description.fields[field].name));
            }
            let value = self.value_column(self.description.fields[field].kind);
            if fields.len() == 1 {
                return value;
            }
            format!("CASE WHEN {number} = {field} THEN {value} END")
        };
        let fields_text = fields
            .iter()
            .map(|field| (field, expression(field)))
            .collect();
        if per_field {
            conditions.push(self.field_condition(fields));
        }
        Relation {
            from: format!("{} r", self.table.name),
            keys: self.keys(),
            time,
            ns,
            conditions,
            fields: fields_text,
        }
    }

    /// In rows of one field: the rows of these fields.
    pub(crate) fn field_condition(&self, fields: FieldSet) -> String {
        let numbers = crate::schema::joined(fields.iter().map(|field| field.to_string()));
        format!(
            "r.{} IN ({numbers})",
            self.table.column(Content::FieldNumber)
        )
    }

    /// In rows of one field: the column for values of this type.
    pub(crate) fn value_column(&self, kind: FieldType) -> String {
        format!("r.{}", self.table.column(Content::Value(kind)))
    }

    /// The key columns of the table of readings.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.table
            .key_columns()
            .map(|column| format!("r.{}", column.name))
            .collect()
    }

    /// The FROM clause's last part that expands a record, and the expressions for offset and fields.
    pub(crate) fn expansion(
        &self,
        fields: FieldSet,
        span_ns: i64,
        encoding: Encoding,
    ) -> Expansion {
        if encoding == Encoding::Arrays {
            let arrays = fields
                .iter()
                .map(|field| format!("r.{}", quoted(&self.description.fields[field].name)));
            let offsets = [format!("r.{}", self.table.column(Content::Offsets))];
            let names = fields.iter().map(|field| format!("f{field}"));
            return Expansion {
                from: format!(
                    "unnest({}) AS e(ns, {})",
                    crate::schema::joined(offsets.into_iter().chain(arrays)),
                    crate::schema::joined(names)
                ),
                offset: "e.ns".to_owned(),
                fields: fields
                    .iter()
                    .map(|field| (field, format!("e.f{field}")))
                    .collect(),
            };
        }
        let document = self.table.column(Content::Document);
        let binary = encoding == Encoding::BinaryJson;
        let function = if binary {
            "jsonb_array_elements"
        } else {
            "json_array_elements"
        };
        let offset = type_name(&offset_type(span_ns, false));
        Expansion {
            from: format!("{function}(r.{document} -> 'measurements') AS e(v)"),
            offset: if binary {
                format!("(e.v -> 'ns')::{offset}")
            } else {
                format!("(e.v ->> 'ns')::{offset}")
            },
            fields: fields
                .iter()
                .map(|field| {
                    let description = &self.description.fields[field];
                    let kind = type_name(&field_type(description.kind));
                    let direct =
                        binary && !description.nullable && description.kind != FieldType::Text;
                    let text = if direct {
                        format!("(e.v -> 'm' -> {field})::{kind}")
                    } else {
                        format!("(e.v -> 'm' ->> {field})::{kind}")
                    };
                    (field, text)
                })
                .collect(),
        }
    }

    fn expanded(&mut self, fields: FieldSet, span_ns: i64, encoding: Encoding) -> Relation {
        let expansion = self.expansion(fields, span_ns, encoding);
        let time = format!(
            "(r.{} * {span_ns}::int8 + {})",
            self.table.time, expansion.offset
        );
        Relation {
            from: format!(
                "{} r CROSS JOIN LATERAL {}",
                self.table.name, expansion.from
            ),
            keys: self.keys(),
            ns: time.clone(),
            time,
            conditions: Vec::new(),
            fields: expansion.fields,
        }
    }

    /// The condition that only records count whose spans the range touches.
    pub(crate) fn spans(&mut self) -> String {
        let (first, last) = (
            self.slot(Slot::FirstSpan, Type::INT8),
            self.slot(Slot::LastSpan, Type::INT8),
        );
        format!(
            "r.{span} >= {first} AND r.{span} <= {last}",
            span = self.table.time
        )
    }

    fn limit_time(&mut self, relation: &mut Relation) {
        if self.model.span().is_some() {
            let spans = self.spans();
            relation.conditions.push(spans);
        }
        let kind = self.model.time_type();
        let (start, end) = (
            self.slot(Slot::Start, kind.clone()),
            self.slot(Slot::End, kind),
        );
        relation
            .conditions
            .push(format!("{} >= {start}", relation.time));
        relation
            .conditions
            .push(format!("{} < {end}", relation.time));
    }

    /// The condition that only the chosen series count; none for all of them.
    pub(crate) fn selected(&mut self) -> Option<String> {
        let keys = self.keys();
        let kinds: Vec<Type> = self
            .table
            .key_columns()
            .map(|column| column.kind.clone())
            .collect();
        match &self.query.series {
            Selection::All => None,
            _ if keys.is_empty() => None,
            Selection::One(_) => {
                let one = |(number, key): (usize, &String)| {
                    format!(
                        "{key} = {}",
                        self.slots
                            .use_slot(Slot::Key(number), kinds[number].clone())
                    )
                };
                Some(
                    keys.iter()
                        .enumerate()
                        .map(one)
                        .collect::<Vec<_>>()
                        .join(" AND "),
                )
            }
            Selection::Set(_) => {
                let arrays: Vec<String> = kinds
                    .iter()
                    .enumerate()
                    .map(|(number, kind)| self.slots.use_slot(Slot::KeySet(number), array_of(kind)))
                    .collect();
                Some(match (keys.as_slice(), arrays.as_slice()) {
                    ([key], [array]) => format!("{key} = ANY({array})"),
                    _ => format!(
                        "({}) IN (SELECT * FROM unnest({}))",
                        keys.join(", "),
                        arrays.join(", ")
                    ),
                })
            }
            Selection::Tagged { tag, .. } => {
                let kind = tag_type(&self.description.series.columns()[*tag]);
                let name = quoted(&self.description.tags[*tag].name);
                let value = self.slots.use_slot(Slot::TagValue, kind);
                Some(match &self.table.tags {
                    None => format!("r.{name} = {value}"),
                    Some(tags) => {
                        let series = self.table.column(Content::SeriesNumber);
                        format!(
                            "r.{series} = ANY(ARRAY(SELECT {series} FROM {tags} WHERE {name} = {value}))"
                        )
                    }
                })
            }
        }
    }

    /// The condition that a reading has at least one of these fields; none where one of them is always there.
    pub(crate) fn any_present(&self, relation: &Relation, fields: FieldSet) -> Option<String> {
        if fields.is_empty() {
            return None;
        }
        let rows = self.model.layout.shape == Shape::RowPerField;
        if rows
            || fields
                .iter()
                .any(|field| !self.description.fields[field].nullable)
        {
            return None;
        }
        let present: Vec<String> = fields
            .iter()
            .map(|field| format!("{} IS NOT NULL", relation.field(field)))
            .collect();
        Some(format!("({})", present.join(" OR ")))
    }
}

/// What expands a record into its readings.
pub(crate) struct Expansion {
    /// What stands after LATERAL.
    pub(crate) from: String,
    /// The reading's time since the start of its span.
    pub(crate) offset: String,
    /// The expressions for fields.
    pub(crate) fields: Vec<(usize, String)>,
}

/// The type of arrays of a key column's type.
pub(crate) fn array_of(kind: &Type) -> Type {
    match *kind {
        Type::INT4 => Type::INT4_ARRAY,
        Type::TEXT => Type::TEXT_ARRAY,
        _ => Type::INT8_ARRAY,
    }
}
