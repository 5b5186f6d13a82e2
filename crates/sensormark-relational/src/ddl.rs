//! The tables and indexes of a physical schema, as definitions that a dialect writes down.

pub mod definition;

use crate::column_type::ColumnType;
use crate::physical_schema::{OWNER_TABLE, PhysicalSchema};
use crate::table::{Column, Content, PhysicalSums, PhysicalTable};
use definition::{ColumnDefinition, IndexDefinition, Indexed, Purpose, TableDefinition};
use sensormark_store::{FieldType, Index, SeriesKey, Table};

/// The statements that make all tables and indexes.
pub fn statements(physical: &PhysicalSchema) -> Vec<String> {
    let mut statements = Vec::new();
    for (table, description) in physical.tables.iter().zip(&physical.schema.tables) {
        let writer = Writer { physical, table, description };
        // Entities before the readings, which may refer to them.
        let definitions = [
            writer.entity(),
            Some(writer.readings()),
            writer.tags(),
            table.sums.as_ref().map(|sums| writer.sums(sums)),
        ];
        for definition in definitions.into_iter().flatten() {
            statements.extend(physical.dialect.create(&definition));
        }
    }
    statements
}

/// The names of all tables that [`statements`] makes, without quotes, and of the owner's.
pub fn table_names(physical: &PhysicalSchema) -> Vec<String> {
    let mut names = vec![OWNER_TABLE.to_owned()];
    for table in &physical.tables {
        let sums = table.sums.as_ref().map(|sums| &sums.name);
        let entity = table.entity.as_ref().map(|entity| &entity.name);
        let all = [Some(&table.name), table.tags.as_ref(), sums, entity];
        let bare = |name: &String| name.trim_matches(['"', '`']).to_owned();
        names.extend(all.into_iter().flatten().map(bare));
    }
    names
}

/// The columns that tell entities apart: those of the series, or a constant where there is one series.
pub fn entity_key(physical: &PhysicalSchema, table: &PhysicalTable) -> Vec<String> {
    if table.keys.is_empty() {
        return vec![physical.dialect.only_entity().0.to_owned()];
    }
    table.key_names()
}

/// The type of sums of a field's values: exact for whole numbers.
pub const fn sum_type(kind: FieldType) -> ColumnType {
    match kind {
        FieldType::F64 => ColumnType::F64,
        _ => ColumnType::I64,
    }
}

struct Writer<'a> {
    physical: &'a PhysicalSchema,
    table: &'a PhysicalTable,
    description: &'a Table,
}

impl Writer<'_> {
    fn column(&self, column: &Column) -> ColumnDefinition {
        let dialect = self.physical.dialect;
        ColumnDefinition {
            name: column.name.clone(),
            kind: dialect.definition_type(column.content, column.kind, self.description),
            nullable: column.nullable,
        }
    }

    fn plain(&self, name: &str, kind: ColumnType, nullable: bool) -> ColumnDefinition {
        ColumnDefinition {
            name: name.to_owned(),
            kind: self.physical.dialect.type_name(kind).to_owned(),
            nullable,
        }
    }

    fn series_columns(&self) -> Vec<ColumnDefinition> {
        let columns = self.table.series_columns();
        columns.map(|column| self.column(column)).collect()
    }

    /// The key's columns as an index takes them.
    fn indexed_keys(&self) -> Vec<String> {
        let columns = self.table.key_columns();
        columns
            .map(|column| match column.content {
                Content::Tag(tag) => self.indexed_tag(tag),
                _ => column.name.clone(),
            })
            .collect()
    }

    fn indexed_tag(&self, tag: usize) -> String {
        self.table.tag_names[tag].clone()
    }

    fn readings(&self) -> TableDefinition {
        let table = self.table;
        let keys = self.indexed_keys();
        let copy = table.column(Content::Copy);
        let mut ordered = keys.clone();
        ordered.push(table.time.clone());
        ordered.extend((!copy.is_empty()).then(|| copy.to_owned()));
        let index = |on, columns: Vec<String>| IndexDefinition { on, columns, unique: false };
        let indexes = match self.physical.layout.index {
            Index::SeriesTime => vec![index(Indexed::SeriesTime, ordered.clone())],
            Index::Series if !keys.is_empty() => vec![index(Indexed::Series, keys)],
            _ => Vec::new(),
        };
        let is_clustered = self.physical.layout.index == Index::Clustered;
        let refers = self.physical.layout.foreign_key && !table.keys.is_empty();
        TableDefinition {
            purpose: Purpose::Readings,
            name: table.name.clone(),
            columns: table.columns.iter().map(|one| self.column(one)).collect(),
            primary_key: if is_clustered { ordered.clone() } else { Vec::new() },
            indexes,
            key: ordered,
            foreign_key: table
                .entity
                .as_ref()
                .filter(|_| refers)
                .map(|entity| (table.key_names(), entity.name.clone())),
            readings_a_day: self.description.series.readings_a_day(),
        }
    }

    fn tags(&self) -> Option<TableDefinition> {
        let name = self.table.tags.clone()?;
        let dialect = self.physical.dialect;
        let values = self.description.series.columns();
        let key = SeriesKey::of(self.description);
        let identifying = key.tags();
        let tags = || self.table.tag_names.iter().zip(values).enumerate();
        let mut columns = self.series_columns();
        let primary_key = columns.iter().map(|column| column.name.clone()).collect();
        columns.extend(tags().map(|(tag, (name, values))| ColumnDefinition {
            name: name.clone(),
            kind: dialect.definition_type(Content::Tag(tag), ColumnType::of_tag(values), self.description),
            nullable: false,
        }));
        let indexes = tags().map(|(tag, _)| IndexDefinition {
            on: Indexed::Tag(tag),
            columns: vec![self.indexed_tag(tag)],
            unique: identifying == [tag],
        });
        Some(TableDefinition {
            purpose: Purpose::Tags,
            name,
            columns,
            key: Vec::clone(&primary_key),
            primary_key,
            indexes: indexes.collect(),
            foreign_key: None,
            readings_a_day: None,
        })
    }

    fn sums(&self, sums: &PhysicalSums) -> TableDefinition {
        let mut columns = self.series_columns();
        columns.push(self.plain(&sums.period, ColumnType::I64, false));
        columns.push(self.plain(&sums.day, ColumnType::Bool, false));
        for field in &sums.fields {
            let value = ColumnType::of_field(field.kind);
            columns.push(self.plain(&field.count, ColumnType::I64, false));
            let nullable = self.physical.dialect.has_null_sums(field.nullable);
            columns.push(self.plain(&field.sum, sum_type(field.kind), nullable));
            columns.push(self.plain(&field.min, value, true));
            columns.push(self.plain(&field.max, value, true));
        }
        let mut primary_key = self.indexed_keys();
        primary_key.extend([sums.period.clone(), sums.day.clone()]);
        TableDefinition {
            purpose: Purpose::Sums,
            name: sums.name.clone(),
            columns,
            key: primary_key.clone(),
            primary_key,
            indexes: Vec::new(),
            foreign_key: None,
            readings_a_day: None,
        }
    }

    fn entity(&self) -> Option<TableDefinition> {
        let (entity, shape) = (self.table.entity.as_ref()?, self.description.entity.as_ref()?);
        let mut columns: Vec<ColumnDefinition> =
            self.table.key_columns().map(|column| self.column(column)).collect();
        for (name, column) in entity.columns.iter().zip(&shape.columns) {
            let kind = ColumnType::of_field(column.kind);
            columns.push(self.plain(name, kind, column.nullable));
        }
        columns.push(self.plain(&entity.last_time, self.physical.time_type(), false));
        let mut primary_key = self.indexed_keys();
        if self.table.keys.is_empty() {
            let (name, definition) = self.physical.dialect.only_entity();
            columns.push(ColumnDefinition {
                name: name.to_owned(),
                kind: definition.to_owned(),
                nullable: false,
            });
            primary_key.push(name.to_owned());
        }
        Some(TableDefinition {
            purpose: Purpose::Entity,
            name: entity.name.clone(),
            columns,
            key: primary_key.clone(),
            primary_key,
            indexes: Vec::new(),
            foreign_key: None,
            readings_a_day: None,
        })
    }
}
