//! The statements that write and add up in one: what PostgreSQL does itself.

use crate::cell::native;
use crate::dialect::type_name;
use sensormark_relational::column_type::ColumnType;
use sensormark_relational::ddl::sum_type;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_relational::table::{Column, Content, PhysicalSums, PhysicalTable, joined};
use sensormark_relational::write::statement::{Text, add_to_sums, insert};
use sensormark_store::{DaySplit, Table};
use tokio_postgres::types::Type;

/// A binary COPY into the table.
pub(crate) fn copy(table: &PhysicalTable) -> Text {
    let columns = table.column_list();
    (format!("COPY {} ({columns}) FROM STDIN (FORMAT binary)", table.name), Vec::new())
}

/// The driver's types for parameters.
pub(crate) fn types(kinds: &[ColumnType]) -> Vec<Type> {
    kinds.iter().map(|&kind| native(kind)).collect()
}

/// One statement that inserts a reading and adds it to its sums; parameters are the reading's cells.
pub(crate) fn summarise_one(
    physical: &PhysicalSchema,
    table: &PhysicalTable,
    sums: &PhysicalSums,
    per_ns: i64,
    split: DaySplit,
) -> Vec<Text> {
    let parameter = |wanted: &Column| {
        let position = table.columns.iter().position(|column| column.name == wanted.name);
        position.map_or_else(String::new, |number| format!("${}", number + 1))
    };
    let of_content = |content: Content| {
        let position = table.columns.iter().position(|column| column.content == content);
        position.map_or_else(String::new, |number| format!("${}", number + 1))
    };
    let time = of_content(Content::Time);
    let mut values: Vec<String> = table.series_columns().map(parameter).collect();
    values.push(period(&time, per_ns));
    values.push(is_day(&time, split));
    for field in &sums.fields {
        let value = of_content(Content::Field(field.field));
        values.push(format!("({value} IS NOT NULL)::int4"));
        values.push(format!("{value}::{}", type_name(sum_type(field.kind))));
        values.push(value.clone());
        values.push(value);
    }
    let source = format!("VALUES ({})", values.join(", "));
    vec![insert(physical, table, 1), (add_to_sums(physical, table, &source).unwrap_or_default(), Vec::new())]
}

/// One statement that inserts many readings and adds them to their sums; parameters are arrays, one a column.
pub(crate) fn summarise_many(
    physical: &PhysicalSchema,
    table: &PhysicalTable,
    sums: &PhysicalSums,
    per_ns: i64,
    split: DaySplit,
) -> Text {
    let columns = table.column_list();
    let kinds: Vec<ColumnType> = table.columns.iter().map(|column| column.kind.array()).collect();
    let arrays = joined((1..=kinds.len()).map(|number| format!("${number}")));
    let mut picked: Vec<String> = table.series_columns().map(|column| column.name.clone()).collect();
    picked.push(period(&table.time, per_ns));
    picked.push(is_day(&table.time, split));
    let groups = joined((1..=picked.len()).map(|number| number.to_string()));
    for field in &sums.fields {
        let name = &table.field_names[field.field];
        picked.push(format!("count({name})"));
        picked.push(format!("sum({name})::{}", type_name(sum_type(field.kind))));
        picked.push(format!("min({name})"));
        picked.push(format!("max({name})"));
    }
    // In the order of the key, so that two sessions never wait for each other in a circle.
    let source = format!("SELECT {} FROM input GROUP BY {groups} ORDER BY {groups}", picked.join(", "));
    let text = format!(
        "WITH input AS (SELECT * FROM unnest({arrays}) AS input ({columns})), \
         stored AS (INSERT INTO {name} ({columns}) SELECT {columns} FROM input) {upsert}",
        name = table.name,
        upsert = add_to_sums(physical, table, &source).unwrap_or_default(),
    );
    (text, kinds)
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
    let with = joined(texts.iter().enumerate().map(|(number, text)| format!("part{number} AS ({text})")));
    (format!("WITH {with} {last}"), kinds)
}

/// The statement that fills a table of tags, one array a column, and the types of its parameters.
pub(crate) fn fill_tags(name: &str, table: &PhysicalTable, description: &Table) -> Text {
    let series = table.column(Content::SeriesNumber).to_owned();
    let names = joined([series].into_iter().chain(table.tag_names.iter().cloned()));
    let tags = description.series.columns().iter();
    let kinds: Vec<ColumnType> =
        [ColumnType::I32].into_iter().chain(tags.map(ColumnType::of_tag)).map(ColumnType::array).collect();
    let arrays = (1..).zip(&kinds);
    let arrays = joined(arrays.map(|(number, &kind)| format!("${number}::{}", type_name(kind))));
    (format!("INSERT INTO {name} ({names}) SELECT * FROM unnest({arrays})"), kinds)
}
