//! A table of the schema in a layout: its names, what identifies its series, and what templates see of it.

use crate::config::Config;
use crate::slots::{Slot, slots};
use minijinja::value::{Object, ObjectRepr};
use minijinja::{Value, context};
use sensormark_drivers::lines::{field_name, tag_name};
use sensormark_drivers::{RowShape, Shared};
use sensormark_kit::{Key, SeriesMap};
use sensormark_store::{
    DaySplit, Entity, Field, Plan, Schema, Scope, SeriesKey, Shape, Table, TagColumn, TagPlacement,
};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The owner's table: it has one row, the owner's mark.
pub const OWNER_TABLE: &str = "sensormark_owner";

/// A column as templates see it: it prints as its quoted name, and has a type and other attributes.
#[derive(Debug)]
struct Column {
    quoted: String,
    type_name: String,
    attributes: Value,
}

impl Object for Column {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        match key.as_str()? {
            "type" => Some(self.type_name.as_str().into()),
            key => self.attributes.get_attr(key).ok().filter(|value| !value.is_undefined()),
        }
    }

    fn is_true(self: &Arc<Self>) -> bool {
        true
    }

    fn render(self: &Arc<Self>, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.quoted)
    }
}

/// A table of the schema.
#[derive(Debug)]
pub struct TableShape {
    /// Its series.
    pub series: SeriesMap,
    /// Names of the tables that it becomes, without quotes.
    pub names: Vec<String>,
    /// What names with a colon stand for.
    pub slots: HashMap<String, Slot>,
    /// What templates see of it.
    pub context: Value,
    /// Whether tags have a table of their own.
    pub own_tags: bool,
    /// What templates see of each field.
    pub fields: Vec<Value>,
    /// The same of each tag.
    pub tags: Vec<Value>,
    /// What the driver keeps of it.
    pub shared: Shared,
}

/// Writes names.
struct Names<'a> {
    config: &'a Config,
    database: &'a str,
    schema: &'a Schema,
    table: &'a Table,
}

impl Names<'_> {
    fn quoted(&self, name: &str) -> String {
        format!("{0}{name}{0}", self.config.text.quote)
    }

    /// A table's name in statements.
    fn of_table(&self, name: &str) -> String {
        let pattern = self.config.text.table.as_deref().unwrap_or("{table}");
        self.quoted(&pattern.replace("{database}", self.database).replace("{table}", name))
    }

    /// A field's name, or that of an entity's column.
    fn of_field<'b>(&self, name: &'b str) -> Cow<'b, str> {
        if self.config.text.time_is_reserved { field_name(name) } else { name.into() }
    }

    /// The name of a table of ours beside the table's own.
    fn own_table(&self, ending: &str) -> String {
        free_name(&format!("{}_{ending}", self.table.name), |name| {
            let is_entity = |table: &Table| table.entity.as_ref().is_some_and(|entity| entity.name == name);
            name == OWNER_TABLE
                || self.schema.tables.iter().any(|other| other.name == name || is_entity(other))
        })
    }

    /// What gives the name of a column of ours, which no tag and field has.
    fn own_column(&self) -> impl Fn(String) -> String + Send + Sync + 'static {
        let fields = self.table.fields.iter().map(|field| field.name.clone());
        let taken: Vec<String> = fields.chain(self.table.tags.iter().map(|tag| tag.name.clone())).collect();
        let quote = self.config.text.quote.clone();
        move |wanted| {
            let name = free_name(&wanted, |name| taken.iter().any(|other| other == name));
            format!("{quote}{name}{quote}")
        }
    }

    fn column(&self, bare: &str, type_name: &str, attributes: Value) -> Value {
        let attributes = context! { bare, ..attributes };
        Value::from_object(Column { quoted: self.quoted(bare), type_name: type_name.to_owned(), attributes })
    }

    fn field(&self, (number, field): (usize, &Field)) -> Value {
        let type_name = self.config.field_type(field.kind);
        let attributes = context! {
            number,
            kind => field.kind,
            nullable => field.nullable,
            array => self.config.array_type(type_name),
            sum_type => self.config.sum_type(field.kind),
        };
        self.column(&self.of_field(&field.name), type_name, attributes)
    }

    fn tag(&self, number: usize) -> Value {
        let (name, column) = (&self.table.tags[number].name, &self.table.series.columns()[number]);
        let kind = if matches!(column, TagColumn::Text(_)) { "text" } else { "integer" };
        let attributes = context! {
            number,
            slot => format!(":key_{name}"),
            kind,
            long => self.config.is_long(column),
            unique => SeriesKey::of(self.table).tags() == [number],
        };
        let name = match self.config.text.time_is_reserved {
            true => tag_name(self.table, name),
            false => name.into(),
        };
        self.column(&name, &self.config.tag_type(column), attributes)
    }

    fn series_number(&self, quoted: &str) -> Value {
        let name = quoted.replace(&self.config.text.quote, "");
        let attributes = context! { slot => ":series", kind => "number" };
        self.column(&name, self.config.type_name("series"), attributes)
    }

    fn entity(&self, entity: &Entity) -> Value {
        let columns = entity.columns.iter().enumerate().map(|column| self.field(column));
        context! {
            table => self.of_table(&entity.name),
            columns => columns.collect::<Vec<_>>(),
            last => self.quoted(&self.of_field(&entity.last_time_column)),
        }
    }
}

/// `wanted`, with underscores at its end until nobody else has the name.
fn free_name(wanted: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut name = wanted.to_owned();
    while taken(&name) {
        name.push('_');
    }
    name
}

/// What templates see of a table's series, and of buckets: one is of the series that agree in all tags but the last, which names its parts.
fn of_series(table: &Table, shape: Shape, tags: &[Value]) -> Value {
    let limit = if let Shape::Bucketed { limit, .. } = shape { Some(limit) } else { None };
    let shared = if limit.is_some() && tags.len() > 1 { tags.len() - 1 } else { tags.len() };
    let group = SeriesKey::among(table, shared);
    let group_keys: Vec<Value> = group.tags().iter().map(|&tag| tags[tag].clone()).collect();
    context! {
        limit,
        group_keys,
        group_tags => &tags[..shared],
        part => tags.get(shared),
        series_count => table.series.len(),
        readings_a_day => table.series.readings_a_day(),
        interval_ns => table.series.interval_ns(),
    }
}

/// The length of a record's span and of a period of sums, in ns, and how sums split the day.
const fn periods(shape: Shape) -> (i64, i64, Option<DaySplit>) {
    match shape {
        Shape::RecordPerSpan { span_ns, .. } => (span_ns, 1, None),
        Shape::Summary { per_ns, split } | Shape::Bucketed { per_ns, split, .. } => (1, per_ns, Some(split)),
        _ => (1, 1, None),
    }
}

impl TableShape {
    /// The table of this number, in a layout with such rows.
    pub fn new(config: &Config, plan: &Plan, number: usize, rows: RowShape) -> Self {
        let (schema, layout, database) = (&*plan.schema, &plan.layout, plan.database.as_str());
        let table = &schema.tables[number];
        let names = Names { config, database, schema, table };
        let own_tags = layout.tags == TagPlacement::OwnTable && !table.tags.is_empty();
        let series = SeriesMap::new(&plan.schema, number, own_tags);
        let tags: Vec<Value> = (0..table.tags.len()).map(|tag| names.tag(tag)).collect();
        let own = names.own_column();
        let key = |key: &Key| match key {
            Key::Tag(tag) => tags[*tag].clone(),
            Key::Number => names.series_number(&own("series".to_owned())),
        };
        let keys: Vec<Value> = series.keys().iter().map(key).collect();
        let fields: Vec<Value> = table.fields.iter().enumerate().map(|field| names.field(field)).collect();
        let numeric = fields.iter().zip(&table.fields).filter(|(_, field)| field.kind.is_number());
        let (span_ns, per_ns, split) = periods(layout.shape);
        let collection = if layout.scope == Scope::Shared { &config.text.shared } else { &table.name };
        let tags_table = own_tags.then(|| names.own_table("tags"));
        let sums_table =
            split.filter(|_| matches!(layout.shape, Shape::Summary { .. })).map(|_| names.own_table("sums"));
        let of_table = |name: &Option<String>| name.as_ref().map(|name| names.of_table(name));
        let context = context! {
            time_type => config.time_type(layout.time),
            types => config.types,
            q => config.text.quote,
            span_ns,
            per_ns,
            resolution => table.time_resolution,
            day_start => split.map(|split| split.day_start_ns),
            day_end => split.map(|split| split.day_end_ns),
            table => names.of_table(collection),
            bare_table => table.name,
            tags_table => of_table(&tags_table),
            bare_tags_table => tags_table,
            sums_table => of_table(&sums_table),
            tags => if own_tags { &[] } else { &*tags },
            all_tags => tags,
            keys,
            fields,
            numeric => numeric.map(|(field, _)| field).collect::<Vec<_>>(),
            entity => table.entity.as_ref().map(|entity| names.entity(entity)),
            time => own(config.text.time.clone()),
            own => Value::from_function(own),
            ..of_series(table, layout.shape, &tags)
        };
        let entity = table.entity.as_ref().map(|entity| entity.name.clone());
        let all = [Some(collection.clone()), tags_table, sums_table, entity];
        Self {
            slots: slots(config, table, series.keys(), layout, rows),
            names: all.into_iter().flatten().collect(),
            series,
            context,
            own_tags,
            fields,
            tags,
            shared: Shared::new(),
        }
    }
}
