//! A table of the schema in a layout: its names, what identifies its series, and what templates see of it.

use crate::config::{Config, kind_name};
use crate::series::{Key, SeriesMap};
use minijinja::Value;
use minijinja::value::{Object, ObjectRepr};
use sensormark_store::{Field, FieldType, Schema, Shape, Table, TagColumn};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The owner's table: it has one row, the owner's mark.
pub const OWNER_TABLE: &str = "sensormark_owner";

/// What templates see.
pub type Context = BTreeMap<String, Value>;

/// A column as templates see it: it prints as its quoted name, and has attributes.
#[derive(Debug)]
struct Named {
    name: String,
    attributes: BTreeMap<&'static str, Value>,
}

impl Object for Named {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.attributes.get(key.as_str()?).cloned()
    }

    fn is_true(self: &Arc<Self>) -> bool {
        true
    }

    fn render(self: &Arc<Self>, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)
    }
}

/// A table of the schema.
#[derive(Debug)]
pub struct TableShape {
    /// Its series.
    pub series: SeriesMap,
    /// Names of the tables that it becomes, without quotes.
    pub names: Vec<String>,
    /// What templates see of it.
    pub context: Context,
    /// Whether tags have a table of their own.
    pub own_tags: bool,
    /// What templates see of each field.
    pub fields: Vec<Value>,
    /// The same of each tag.
    pub tags: Vec<Value>,
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
        match &self.config.text.table {
            None => self.quoted(name),
            Some(pattern) => pattern
                .replace("{database}", &self.quoted(self.database))
                .replace("{table}", &self.quoted(name)),
        }
    }

    /// The name of a table of ours beside the table's own.
    fn own_table(&self, ending: &str) -> String {
        free_name(&format!("{}_{ending}", self.table.name), |name| {
            let is_entity = |table: &Table| table.entity.as_ref().is_some_and(|entity| entity.name == name);
            name == OWNER_TABLE
                || self.schema.tables.iter().any(|other| other.name == name || is_entity(other))
        })
    }

    fn column(&self, bare: &str, attributes: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
        let name = self.quoted(bare);
        let mut attributes: BTreeMap<&'static str, Value> = attributes.into_iter().collect();
        attributes.insert("name", Value::from(name.as_str()));
        attributes.insert("bare", Value::from(bare));
        Value::from_object(Named { name, attributes })
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

    fn series_number(&self, quoted: &str) -> Value {
        let kind = self.config.type_name("series");
        let attributes = [(":series", "slot"), (kind, "type"), ("number", "kind")];
        let attributes = attributes.map(|(value, name)| (name, Value::from(value)));
        self.column(&quoted.replace(&self.config.text.quote, ""), attributes)
    }

    /// What is the same for all tables of a layout.
    fn constants(&self, shape: Shape) -> Context {
        let (span, per, split) = match shape {
            Shape::RecordPerSpan { span_ns, .. } => (span_ns, 1, None),
            Shape::Summary { per_ns, split } => (1, per_ns, Some(split)),
            _ => (1, 1, None),
        };
        let all = [
            ("time_type", self.config.type_name("time").into()),
            ("types", Value::from_serialize(&self.config.types)),
            ("q", self.config.text.quote.as_str().into()),
            ("table_settings", "".into()),
            ("span_ns", span.into()),
            ("per_ns", per.into()),
            ("day_start", split.map_or(0, |split| split.day_start_ns).into()),
            ("day_end", split.map_or(0, |split| split.day_end_ns).into()),
        ];
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The tables that the table becomes, without quotes; templates see their names.
    fn tables(&self, context: &mut Context, own_tags: bool, has_sums: bool) -> Vec<String> {
        let mut made = Vec::new();
        let mut put = |name: &str, bare: String, is_there: bool| {
            let quoted = if is_there { self.of_table(&bare).into() } else { Value::from(()) };
            context.insert(name.to_owned(), quoted);
            context.insert(format!("bare_{name}"), bare.as_str().into());
            made.extend(is_there.then_some(bare));
        };
        put("table", self.table.name.clone(), true);
        put("tags_table", self.own_table("tags"), own_tags);
        put("sums_table", self.own_table("sums"), has_sums);
        let entity = self.table.entity.as_ref().map(|entity| {
            made.push(entity.name.clone());
            let columns = entity.columns.iter().enumerate();
            let columns: Vec<Value> = columns.map(|(number, column)| self.field(number, column)).collect();
            Value::from_iter([
                ("table", Value::from(self.of_table(&entity.name))),
                ("columns", columns.into()),
                ("last", self.quoted(&entity.last_time_column).into()),
            ])
        });
        context.insert("entity".to_owned(), entity.unwrap_or_else(|| Value::from(())));
        made
    }

    fn field(&self, number: usize, field: &Field) -> Value {
        let kind = self.config.field_type(field.kind);
        let sum = if field.kind == FieldType::F64 { FieldType::F64 } else { FieldType::I64 };
        self.column(
            &field.name,
            [
                ("number", Value::from(number)),
                ("kind", Value::from(kind_name(field.kind))),
                ("nullable", Value::from(field.nullable)),
                ("type", Value::from(kind)),
                ("array", Value::from(self.config.array_type(kind))),
                ("sum_type", Value::from(self.config.field_type(sum))),
            ],
        )
    }

    fn tag(&self, number: usize) -> Value {
        let (name, column) = (&self.table.tags[number].name, &self.table.series.columns()[number]);
        let (kind, kind_name) = match column {
            TagColumn::Text(_) => (self.config.type_name("tag_text"), "text"),
            TagColumn::Integer(_) => (self.config.type_name("tag_integer"), "integer"),
        };
        self.column(
            name,
            [
                ("number", Value::from(number)),
                ("slot", Value::from(format!(":key_{name}"))),
                ("type", Value::from(kind)),
                ("kind", Value::from(kind_name)),
            ],
        )
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

impl TableShape {
    /// The table of this number, in a layout of this shape.
    pub fn new(
        config: &Config,
        database: &str,
        schema: &Arc<Schema>,
        number: usize,
        own_tags: bool,
        shape: Shape,
    ) -> Self {
        let table = &schema.tables[number];
        let own_tags = own_tags && !table.tags.is_empty();
        let names = Names { config, database, schema, table };
        let series = SeriesMap::new(schema, number, own_tags);
        let tags: Vec<Value> = (0..table.tags.len()).map(|tag| names.tag(tag)).collect();
        let own = names.own_column();
        let key = |key: &Key| match key {
            Key::Tag(tag) => tags[*tag].clone(),
            Key::Number => names.series_number(&own("series".to_owned())),
        };
        let keys: Vec<Value> = series.keys().iter().map(key).collect();
        let all_fields = table.fields.iter().enumerate();
        let fields: Vec<Value> = all_fields.map(|(number, field)| names.field(number, field)).collect();
        let is_number =
            |field: &Field| matches!(field.kind, FieldType::I64 | FieldType::U16 | FieldType::F64);
        let numeric = (0..fields.len()).filter(|&field| is_number(&table.fields[field]));
        let numeric: Vec<Value> = numeric.map(|field| fields[field].clone()).collect();
        let mut context = names.constants(shape);
        let mut put = |name: &str, value: Value| {
            context.insert(name.to_owned(), value);
        };
        put("tags", if own_tags { Vec::new() } else { tags.clone() }.into());
        put("all_tags", tags.clone().into());
        put("keys", keys.into());
        put("fields", fields.clone().into());
        put("numeric", numeric.into());
        put("time", own(config.text.time.clone()).into());
        put("own", Value::from_function(own));
        let made = names.tables(&mut context, own_tags, matches!(shape, Shape::Summary { .. }));
        Self { series, names: made, context, own_tags, fields, tags }
    }
}
