//! SQLite's way: sets as JSON, series looked at one by one through the index, several statements for aggregates, `json_each` over records,
//! strict tables.

use crate::schema::{limits, unsupported};
use sensormark_relational::column_type::ColumnType;
use sensormark_relational::ddl::definition::{Indexed, Purpose, TableDefinition};
use sensormark_relational::dialect::{
    Aggregates, AllSeries, Dialect, FieldRows, Names, Placeholder, RecordRange, SeriesSet, SumPart, Walk,
};
use sensormark_relational::expansion::Expansion;
use sensormark_relational::table::{Content, PhysicalTable, SumColumns};
use sensormark_store::{Aggregate, Encoding, FieldSet, Function, Index, Layout, Table};

/// SQLite's choices.
#[derive(Debug)]
pub struct SqliteDialect;

static NAMES: Names = Names {
    time: "time_ns",
    copy: Some("copy"),
    span: "span",
    second: "span",
    size: "size",
    document: "data",
    offsets: "offsets",
    field: "field",
    value: "value",
    period: "period_ns",
    day: "day",
    sum_separator: "_",
};

impl Dialect for SqliteDialect {
    fn title(&self) -> &'static str {
        "SQLite"
    }

    fn names(&self) -> &'static Names {
        &NAMES
    }

    fn placeholder(&self) -> Placeholder {
        Placeholder::Numbered('?')
    }

    fn missing(&self, layout: &Layout, _: &Table) -> Option<String> {
        unsupported(layout).map(str::to_owned)
    }

    fn readings_per_statement(&self, layout: &Layout, table: &Table) -> usize {
        limits(layout, table).readings_per_statement
    }

    fn series_set(&self) -> SeriesSet {
        SeriesSet::Json
    }

    /// Naming every series lets the index find the range within each.
    fn all_series(&self) -> AllSeries {
        AllSeries::FromTags
    }

    fn walk(&self, index: Index) -> Walk {
        match index {
            Index::None => Walk::Grouped,
            _ => Walk::Correlated,
        }
    }

    fn joins_latest(&self) -> bool {
        false
    }

    fn aggregates(&self) -> Aggregates {
        Aggregates::Merged
    }

    fn record_range(&self, _: Encoding, _: bool, _: bool) -> RecordRange {
        RecordRange::Whole
    }

    fn field_rows(&self) -> FieldRows {
        FieldRows::AnyValue
    }

    fn fetches_row_by_row(&self) -> bool {
        true
    }

    fn type_name(&self, kind: ColumnType) -> &'static str {
        match kind {
            ColumnType::F64 => "REAL",
            ColumnType::Text | ColumnType::Json => "TEXT",
            ColumnType::BinaryJson | ColumnType::Bytes => "BLOB",
            ColumnType::Any => "ANY",
            _ => "INTEGER",
        }
    }

    fn create(&self, table: &TableDefinition) -> Vec<String> {
        // An INTEGER PRIMARY KEY is the row's number, not an index beside it.
        let parts = table.parts("", " PRIMARY KEY");
        let is_ordered = match table.purpose {
            Purpose::Readings | Purpose::Sums => !table.primary_key.is_empty(),
            Purpose::Tags | Purpose::Entity => false,
        };
        let options = if is_ordered { "STRICT, WITHOUT ROWID" } else { "STRICT" };
        let (name, bare) = (&table.name, table.name.trim_matches('"'));
        let mut statements = vec![format!("CREATE TABLE {name} ({}) {options}", parts.join(", "))];
        statements.extend(table.indexes.iter().map(|index| {
            let columns = index.columns.join(", ");
            let on = match index.on {
                Indexed::Tag(_) => columns.trim_matches('"'),
                Indexed::Series | Indexed::SeriesTime => "series and time",
            };
            format!("CREATE INDEX \"{bare} by {on}\" ON {name} ({columns})")
        }));
        statements
    }

    fn only_entity(&self) -> (&'static str, &'static str) {
        ("\"$only\"", "INTEGER DEFAULT 1")
    }

    fn record_parameter(&self, encoding: Encoding, parameter: String) -> String {
        match encoding {
            Encoding::BinaryJson => format!("jsonb({parameter})"),
            _ => parameter,
        }
    }

    fn in_set(&self, keys: &[String], parameters: &[String]) -> String {
        let set = parameters.join(", ");
        match keys {
            [key] => format!("{key} IN (SELECT value FROM json_each({set}))"),
            keys => format!(
                "({}) IN (SELECT {} FROM json_each({set}))",
                keys.join(", "),
                members(keys.iter().map(|_| "")).join(", ")
            ),
        }
    }

    fn set_as_relation(&self, names: &[String], parameters: &[String]) -> String {
        let set = parameters.join(", ");
        match names {
            [name] => format!("(SELECT value AS {name} FROM json_each({set})) s"),
            names => {
                let named = names.iter().map(|name| format!(" AS {name}"));
                format!("(SELECT {} FROM json_each({set})) s", members(named).join(", "))
            }
        }
    }

    /// Steps through the index from one series to the next.
    fn skip_scan(&self, table: &PhysicalTable, key: &str) -> Option<String> {
        let name = &table.name;
        Some(format!(
            "(WITH RECURSIVE step({key}) AS (SELECT min({key}) FROM {name} UNION ALL SELECT \
             (SELECT min({key}) FROM {name} WHERE {key} > step.{key}) FROM step WHERE step.{key} IS NOT NULL) \
             SELECT {key} FROM step WHERE {key} IS NOT NULL) s"
        ))
    }

    fn repeat_order(&self, table: &PhysicalTable, alias: &str) -> Option<String> {
        Some(match table.column(Content::Copy) {
            "" => format!("{alias}._rowid_"),
            copy => format!("{alias}.{copy}"),
        })
    }

    fn expand(&self, table: &PhysicalTable, _: &Table, fields: FieldSet, _: i64, _: Encoding) -> Expansion {
        let document = table.column(Content::Document);
        Expansion {
            join: " CROSS JOIN ",
            from: format!("json_each(r.{document}, '$.measurements') AS e"),
            offset: "(e.value ->> '$.ns')".to_owned(),
            order: "e.key",
            fields: fields.iter().map(|field| (field, format!("(e.value ->> '$.m[{field}]')"))).collect(),
        }
    }

    fn document(&self, column: &str, encoding: Encoding) -> String {
        match encoding {
            Encoding::BinaryJson => format!("json({column})"),
            _ => column.to_owned(),
        }
    }

    fn least(&self, one: &str, other: &str) -> String {
        format!("min({one}, {other})")
    }

    fn share(&self, value: &str, held: &str) -> String {
        format!("total(CASE WHEN {value} THEN {held} END) / total({held})")
    }

    fn incoming(&self, column: &str) -> String {
        format!("excluded.{column}")
    }

    fn add_up(&self, part: SumPart, column: &str, nullable: bool) -> String {
        let more = self.incoming(column);
        let either =
            |function: &str| format!("{function}(ifnull({column}, {more}), ifnull({more}, {column}))");
        match part {
            SumPart::Sum if nullable => format!("coalesce({column} + {more}, {column}, {more})"),
            SumPart::Count | SumPart::Sum => format!("{column} + {more}"),
            SumPart::Min => either("min"),
            SumPart::Max => either("max"),
        }
    }

    fn has_null_sums(&self, nullable: bool) -> bool {
        nullable
    }

    fn sum_of_sums(&self, aggregate: Aggregate, columns: &SumColumns) -> String {
        let total = |function| columns.total(function);
        match aggregate.function {
            Function::Mean => {
                format!("{} * 1.0 / nullif({}, 0)", total(Function::Sum), total(Function::Count))
            }
            function => total(function),
        }
    }
}

/// The members of an array of keys, each with what follows it.
fn members<T: AsRef<str>>(names: impl Iterator<Item = T>) -> Vec<String> {
    let numbered = names.enumerate();
    let member = |(place, name): (usize, T)| format!("value ->> {place}{}", name.as_ref());
    numbered.map(member).collect()
}
