//! The statements that write, as text and parameter types.

use crate::schema::ddl::{entity_key, sum_type, summed_fields, type_name};
use crate::schema::{Column, Content, Model, TableModel, array_type, field_type, joined, quoted};
use sensormark_store::query::DaySplit;
use sensormark_store::{FieldType, Table};
use tokio_postgres::types::Type;

/// A statement's text and the types of its parameters.
pub(crate) type Text = (String, Vec<Type>);

/// One INSERT of `rows` rows, all values parameters.
pub(crate) fn insert(table: &TableModel, rows: usize) -> Text {
    let kinds: Vec<Type> = table
        .columns
        .iter()
        .map(|column| column.kind.clone())
        .collect();
    let count = kinds.len();
    let values = joined((0..rows).map(|row| {
        let row = joined((1..=count).map(|column| format!("${}", row * count + column)));
        format!("({row})")
    }));
    (
        format!(
            "INSERT INTO {} ({}) VALUES {values}",
            table.name,
            table.column_list()
        ),
        (0..rows).flat_map(|_| kinds.iter().cloned()).collect(),
    )
}

/// A binary COPY into the table.
pub(crate) fn copy(table: &TableModel) -> Text {
    let columns = table.column_list();
    (
        format!("COPY {} ({columns}) FROM STDIN (FORMAT binary)", table.name),
        Vec::new(),
    )
}

/// Inserts an entity or updates its last time. Parameters from `first` on: keys, columns, last time.
pub(crate) fn entity(
    model: &Model,
    table: &TableModel,
    description: &Table,
    first: usize,
) -> Option<Text> {
    let (entity, shape) = (table.entity.as_ref()?, description.entity.as_ref()?);
    let mut names: Vec<String> = table
        .key_columns()
        .map(|column| column.name.clone())
        .collect();
    let mut kinds: Vec<Type> = table
        .key_columns()
        .map(|column| column.kind.clone())
        .collect();
    for column in &shape.columns {
        names.push(quoted(&column.name));
        kinds.push(field_type(column.kind));
    }
    names.push(entity.last_time.clone());
    kinds.push(model.time_type());
    let values = joined((first..first + names.len()).map(|number| format!("${number}")));
    let text = format!(
        "INSERT INTO {name} AS e ({columns}) VALUES ({values}) ON CONFLICT ({keys}) DO UPDATE SET {last} = EXCLUDED.{last}",
        name = entity.name,
        columns = names.join(", "),
        keys = entity_key(table),
        last = entity.last_time,
    );
    Some((text, kinds))
}

/// One statement that inserts a reading and adds it to its sums; parameters are the reading's cells.
pub(crate) fn summarise_one(
    table: &TableModel,
    description: &Table,
    per_ns: i64,
    split: DaySplit,
) -> Vec<Text> {
    let parameter = |wanted: &Column| {
        let position = table
            .columns
            .iter()
            .position(|column| column.name == wanted.name);
        position.map_or_else(String::new, |number| format!("${}", number + 1))
    };
    let of_content = |content: Content| {
        let position = table
            .columns
            .iter()
            .position(|column| column.content == content);
        position.map_or_else(String::new, |number| format!("${}", number + 1))
    };
    let time = of_content(Content::Time);
    let mut values: Vec<String> = table.key_columns().map(parameter).collect();
    values.push(period(&time, per_ns));
    values.push(is_day(&time, split));
    for (field, _, kind) in summed_fields(description) {
        let value = of_content(Content::Field(field));
        values.push(format!("({value} IS NOT NULL)::int4"));
        values.push(format!("{value}::{}", type_name(&sum_type(kind))));
        values.push(value.clone());
        values.push(value);
    }
    let source = format!("VALUES ({})", values.join(", "));
    vec![
        insert(table, 1),
        (sums_upsert(table, description, &source), Vec::new()),
    ]
}

/// One statement that inserts many readings and adds them to their sums; parameters are arrays, one a column.
pub(crate) fn summarise_many(
    table: &TableModel,
    description: &Table,
    per_ns: i64,
    split: DaySplit,
) -> Text {
    let columns = table.column_list();
    let kinds: Vec<Type> = table
        .columns
        .iter()
        .map(|column| array_of(&column.kind))
        .collect();
    let arrays = joined((1..=kinds.len()).map(|number| format!("${number}")));
    let mut picked: Vec<String> = table
        .key_columns()
        .map(|column| column.name.clone())
        .collect();
    picked.push(period(&table.time, per_ns));
    picked.push(is_day(&table.time, split));
    let groups = joined((1..=picked.len()).map(|number| number.to_string()));
    for (field, _, kind) in summed_fields(description) {
        let name = table.column(Content::Field(field));
        picked.push(format!("count({name})"));
        picked.push(format!("sum({name})::{}", type_name(&sum_type(kind))));
        picked.push(format!("min({name})"));
        picked.push(format!("max({name})"));
    }
    // In the order of the key, so that two sessions never wait for each other in a circle.
    let source = format!(
        "SELECT {} FROM input GROUP BY {groups} ORDER BY {groups}",
        picked.join(", ")
    );
    let text = format!(
        "WITH input AS (SELECT * FROM unnest({arrays}) AS input ({columns})), \
         stored AS (INSERT INTO {name} ({columns}) SELECT {columns} FROM input) {upsert}",
        name = table.name,
        upsert = sums_upsert(table, description, &source),
    );
    (text, kinds)
}

fn array_of(kind: &Type) -> Type {
    match *kind {
        Type::INT4 => array_type(FieldType::U16),
        Type::FLOAT8 => array_type(FieldType::F64),
        Type::BOOL => array_type(FieldType::Bool),
        Type::TEXT => array_type(FieldType::Text),
        _ => array_type(FieldType::I64),
    }
}

/// The start of the period that holds a time. (Times are of 1970 and later.)
fn period(time: &str, per_ns: i64) -> String {
    format!("{time} - {time} % {per_ns}::int8")
}

fn is_day(time: &str, split: DaySplit) -> String {
    format!(
        "{time} % {day}::int8 >= {start}::int8 AND {time} % {day}::int8 < {end}::int8",
        day = DaySplit::DAY_NS,
        start = split.day_start_ns,
        end = split.day_end_ns,
    )
}

fn sums_upsert(table: &TableModel, description: &Table, source: &str) -> String {
    let name = table.sums.as_deref().unwrap_or_default();
    let mut key: Vec<String> = table
        .key_columns()
        .map(|column| column.name.clone())
        .collect();
    key.push("\".period\"".to_owned());
    key.push("\".day\"".to_owned());
    let mut columns = key.clone();
    let mut updates = Vec::new();
    for (_, field, _) in summed_fields(description) {
        let of = |part: &str| format!("\"{field}.{part}\"");
        columns.extend(["count", "sum", "min", "max"].map(of));
        let (count, sum, min, max) = (of("count"), of("sum"), of("min"), of("max"));
        updates.push(format!("{count} = s.{count} + EXCLUDED.{count}"));
        updates.push(format!(
            "{sum} = coalesce(s.{sum} + EXCLUDED.{sum}, s.{sum}, EXCLUDED.{sum})"
        ));
        updates.push(format!("{min} = least(s.{min}, EXCLUDED.{min})"));
        updates.push(format!("{max} = greatest(s.{max}, EXCLUDED.{max})"));
    }
    let action = if updates.is_empty() {
        "NOTHING".to_owned()
    } else {
        format!("UPDATE SET {}", updates.join(", "))
    };
    format!(
        "INSERT INTO {name} AS s ({}) {source} ON CONFLICT ({}) DO {action}",
        columns.join(", "),
        key.join(", ")
    )
}

/// Several statements as one: all but the last in a WITH clause, all or nothing. Parameters must be numbered through.
pub(crate) fn together(parts: Vec<Text>) -> Text {
    let mut kinds = Vec::new();
    let mut texts = Vec::new();
    for (text, more) in parts {
        texts.push(text);
        kinds.extend(more);
    }
    let last = texts.pop().unwrap_or_default();
    if texts.is_empty() {
        return (last, kinds);
    }
    let with = joined(
        texts
            .iter()
            .enumerate()
            .map(|(number, text)| format!("part{number} AS ({text})")),
    );
    (format!("WITH {with} {last}"), kinds)
}
