//! The statements that make the tables, and the names of the tables that they make.
//!
//! It builds text; the administrator runs it.

use super::{
    Content, KeyColumn, Model, OWNER_TABLE, SumsModel, TableModel, field_type, indexed, is_short,
    quoted, tag_type,
};
use sensormark_store::{Field, FieldType, Index, Table};

/// The name of the index on the series alone.
pub(crate) const BY_SERIES: &str = "`by_series`";

/// The name of the index on series and time.
pub(crate) const BY_TIME: &str = "`by_time`";

/// What all tables have in common: readable by any InnoDB, and text compared by its bytes, trailing spaces included.
const OPTIONS: &str = "ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin";

/// The statement that makes the owner's table.
pub(crate) fn owner_table() -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {} (`owner` VARCHAR(255) NOT NULL PRIMARY KEY) {OPTIONS}",
        quoted(OWNER_TABLE)
    )
}

/// The statements that make all other tables, in order.
pub(crate) fn tables(model: &Model) -> Vec<String> {
    let mut statements = Vec::new();
    for (table, described) in model.schema.tables.iter().zip(&model.tables) {
        statements.extend(tags_table(table, described));
        statements.extend(entity_table(table, described));
        statements.push(readings_table(table, described, model.layout.index));
        statements.extend(
            described
                .sums
                .as_ref()
                .map(|sums| sums_table(table, described, sums)),
        );
    }
    statements
}

/// The names of all tables that sensormark makes for a model, without quotes.
pub(crate) fn table_names(model: &Model) -> Vec<String> {
    let mut names = vec![OWNER_TABLE.to_owned()];
    for table in &model.tables {
        let mut add = |name: &str| names.push(name.trim_matches('`').to_owned());
        add(&table.name);
        if let Some(name) = &table.tags {
            add(name);
        }
        if let Some(sums) = &table.sums {
            add(&sums.name);
        }
        if let Some(entity) = &table.entity {
            add(&entity.name);
        }
    }
    names
}

/// Texts with commas between them.
pub(crate) fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join(", ")
}

fn create(name: &str, parts: &[String]) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {name} ({}) {OPTIONS}",
        parts.join(", ")
    )
}

fn column(key: &KeyColumn) -> String {
    format!("{} {} NOT NULL", key.name, key.kind)
}

fn field_column(field: &Field) -> String {
    let null = if field.nullable { "NULL" } else { "NOT NULL" };
    format!("{} {} {null}", quoted(&field.name), field_type(field.kind))
}

/// A table of readings, and the index that the layout gives it.
fn readings_table(table: &Table, described: &TableModel, index: Index) -> String {
    let mut parts: Vec<String> = described.keys.iter().map(column).collect();
    let mut ordered: Vec<String> = described
        .identifying()
        .map(|key| key.indexed.clone())
        .collect();
    let series = ordered.join(", ");
    match &described.content {
        Content::Readings { time } => {
            parts.push(format!("{time} BIGINT NOT NULL"));
            parts.extend(table.fields.iter().map(field_column));
            ordered.push(time.clone());
        }
        Content::Fields {
            second,
            nanosecond,
            number,
            measurement,
        } => {
            let kind = table
                .fields
                .first()
                .map_or(FieldType::U16, |field| field.kind);
            parts.push(format!("{second} BIGINT NOT NULL"));
            parts.push(format!("{nanosecond} INT NOT NULL"));
            parts.push(format!("{number} SMALLINT UNSIGNED NOT NULL"));
            parts.push(format!("{measurement} {} NOT NULL", field_type(kind)));
            ordered.extend([second.clone(), nanosecond.clone()]);
        }
        Content::Records {
            span,
            size,
            document,
            ..
        } => {
            parts.push(format!("{span} BIGINT NOT NULL"));
            parts.push(format!("{size} INT UNSIGNED NOT NULL"));
            parts.push(format!("{document} JSON NOT NULL"));
            ordered.push(span.clone());
        }
    }
    match index {
        Index::None | Index::FirstTagTime => {}
        Index::Series if series.is_empty() => {}
        Index::Series => parts.push(format!("KEY {BY_SERIES} ({series})")),
        Index::SeriesTime => parts.push(format!("KEY {BY_TIME} ({})", ordered.join(", "))),
        Index::Clustered => parts.push(format!("PRIMARY KEY ({})", ordered.join(", "))),
    }
    parts.extend(foreign_key(described));
    create(&described.name, &parts)
}

/// What holds readings to their entity, where the layout has it.
fn foreign_key(described: &TableModel) -> Option<String> {
    let entity = described.entity.as_ref().filter(|one| one.referred_to)?;
    let key = joined(described.identifying().map(|key| key.name.clone()));
    (!key.is_empty()).then(|| format!("FOREIGN KEY ({key}) REFERENCES {} ({key})", entity.name))
}

/// A table of tags: a row a series, each tag findable.
fn tags_table(table: &Table, described: &TableModel) -> Option<String> {
    let name = described.tags.as_ref()?;
    let number = described.keys.first()?;
    let mut parts = vec![format!("{} INT UNSIGNED NOT NULL PRIMARY KEY", number.name)];
    let tags = || table.tags.iter().zip(table.series.columns());
    for (tag, values) in tags() {
        parts.push(format!(
            "{} {} NOT NULL",
            quoted(&tag.name),
            tag_type(values)
        ));
    }
    for (number, (tag, values)) in tags().enumerate() {
        // Where a tag tells all series apart, the optimizer may look its series up before it plans the rest.
        let unique = described.series.identifying() == [number] && is_short(values);
        let kind = if unique { "UNIQUE KEY" } else { "KEY" };
        let indexed = indexed(&quoted(&tag.name), values);
        parts.push(format!("{kind} `by_tag_{number}` ({indexed})"));
    }
    Some(create(name, &parts))
}

fn entity_table(table: &Table, described: &TableModel) -> Option<String> {
    let (entity, model) = table.entity.as_ref().zip(described.entity.as_ref())?;
    let mut parts: Vec<String> = described.keys.iter().map(column).collect();
    parts.extend(entity.columns.iter().map(field_column));
    parts.push(format!("{} BIGINT NOT NULL", model.last_time));
    let key = joined(described.identifying().map(|key| key.indexed.clone()));
    if !key.is_empty() {
        parts.push(format!("PRIMARY KEY ({key})"));
    } else {
        // The one entity of a table without tags needs a key all the same, to be inserted or updated by; no column of a schema starts with $.
        parts.push("`$only` TINYINT NOT NULL DEFAULT 1 PRIMARY KEY".to_owned());
    }
    Some(create(&model.name, &parts))
}

fn sums_table(table: &Table, described: &TableModel, sums: &SumsModel) -> String {
    let keys = || described.identifying();
    let mut parts: Vec<String> = keys().map(column).collect();
    parts.push(format!("{} BIGINT NOT NULL", sums.period));
    parts.push(format!("{} TINYINT NOT NULL", sums.day));
    for (field, columns) in table.fields.iter().zip(&sums.fields) {
        if let Some(columns) = columns {
            let value = field_type(field.kind);
            let total = match field.kind {
                FieldType::F64 => "DOUBLE",
                _ => "BIGINT",
            };
            parts.push(format!("{} BIGINT NOT NULL", columns.count));
            parts.push(format!("{} {total} NULL", columns.sum));
            parts.push(format!("{} {value} NULL", columns.min));
            parts.push(format!("{} {value} NULL", columns.max));
        }
    }
    let mut key: Vec<String> = keys().map(|key| key.indexed.clone()).collect();
    key.extend([sums.period.clone(), sums.day.clone()]);
    parts.push(format!("PRIMARY KEY ({})", key.join(", ")));
    create(&sums.name, &parts)
}
