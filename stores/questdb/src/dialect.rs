//! QuestDB's way: LATEST ON for the latest readings, windows by `timestamp_floor`, the last value by an aggregate of its own, no HAVING.
//!
//! A table is in the order of its designated timestamp, so an answer by time needs no sort. Its SQL:
//! <https://questdb.com/docs/query/overview/>.

use crate::schema::missing::missing;
use crate::write_size::READINGS;
use sensormark_relational::column_type::ColumnType;
use sensormark_relational::ddl::definition::{Indexed, Purpose, TableDefinition};
use sensormark_relational::dialect::{
    Aggregates, Dialect, Names, Placeholder, RecordRange, SeriesSet, SumPart, TimeUnit, Walk, is_plain,
    plain_aggregate,
};
use sensormark_relational::expansion::Expansion;
use sensormark_relational::table::{Content, PhysicalTable, SumColumns};
use sensormark_store::{Aggregate, Encoding, FieldSet, FieldType, Function, Index, Layout, Table};

/// QuestDB's choices.
#[derive(Debug)]
pub(crate) struct QuestdbDialect;

static NAMES: Names = Names {
    time: "time",
    copy: None,
    span: "span",
    second: "span",
    size: "size",
    document: "readings",
    offsets: "ns",
    field: "field",
    value: "value",
    period: "period",
    day: "day",
    sum_separator: "_",
};

/// The type of the designated timestamp.
const TIME: &str = "TIMESTAMP_NS";

/// An entity's designated timestamp, which is 1970 for all, so that a later row of an entity replaces the one before. No schema has this name.
const ENTITY_TIME: &str = "\"_at\"";

/// A width in the largest unit that it is whole in; none where there are more of them than 32 bits count, which QuestDB gets wrong.
fn stride(width_ns: i64) -> Option<String> {
    const UNITS: [(i64, char); 7] = [
        (86_400_000_000_000, 'd'),
        (3_600_000_000_000, 'h'),
        (60_000_000_000, 'm'),
        (1_000_000_000, 's'),
        (1_000_000, 'T'),
        (1_000, 'U'),
        (1, 'n'),
    ];
    let (unit, sign) = UNITS.into_iter().find(|(unit, _)| width_ns % unit == 0)?;
    let count = i32::try_from(width_ns / unit).ok()?;
    Some(format!("{count}{sign}"))
}

/// The length of time of a partition, by how many readings a day has: <https://questdb.com/docs/schema-design-essentials/>, "Partitioning". Where nobody
/// knows, it is QuestDB's default for lines.
fn partition(readings_a_day: Option<f64>) -> &'static str {
    match readings_a_day {
        Some(few) if few < 100_000.0 => "MONTH",
        Some(many) if many > 10_000_000.0 => "HOUR",
        _ => "DAY",
    }
}

impl Dialect for QuestdbDialect {
    fn title(&self) -> &'static str {
        "QuestDB"
    }

    /// The limit stands outside: a sort of 9.3.4 that knows its limit loses rows where it computes what it orders by.
    fn first_rows(&self, ordered: &str, count: &str) -> String {
        format!("SELECT * FROM ({ordered}) LIMIT {count}")
    }

    fn names(&self) -> &'static Names {
        &NAMES
    }

    fn placeholder(&self) -> Placeholder {
        Placeholder::Positional
    }

    /// Nanoseconds since 1970, <https://questdb.com/docs/query/datatypes/overview/>.
    fn time_unit(&self) -> Option<TimeUnit> {
        Some(TimeUnit { unit_ns: 1, epoch: 0 })
    }

    fn missing(&self, layout: &Layout, _: &Table) -> Option<String> {
        missing(layout)
    }

    fn readings_per_statement(&self, _: &Layout, _: &Table) -> usize {
        READINGS
    }

    fn series_set(&self) -> SeriesSet {
        SeriesSet::List
    }

    /// <https://questdb.com/docs/query/sql/latest-on/>
    fn walk(&self, _: Index) -> Walk {
        Walk::LatestOn
    }

    fn aggregates(&self) -> Aggregates {
        Aggregates::Merged
    }

    fn groups(&self, function: Function) -> bool {
        is_plain(function) || function == Function::Last
    }

    fn has_having(&self) -> bool {
        false
    }

    fn composes_windows(&self) -> bool {
        false
    }

    /// `timestamp_floor` takes constants.
    fn binds_windows(&self) -> bool {
        false
    }

    fn record_range(&self, _: Encoding, _: bool, _: bool) -> RecordRange {
        RecordRange::Whole
    }

    /// A truth value is INT, 0 or 1: BOOLEAN, BYTE and SHORT have no NULL.
    /// <https://questdb.com/docs/query/datatypes/overview/#type-nullability>
    fn type_name(&self, kind: ColumnType) -> &'static str {
        match kind {
            ColumnType::Bool | ColumnType::I16 | ColumnType::I32 => "INT",
            ColumnType::F64 => "DOUBLE",
            ColumnType::Timestamp => TIME,
            ColumnType::I64 | ColumnType::Interval => "LONG",
            _ => "VARCHAR",
        }
    }

    /// Tags are symbols, whole numbers too: an index is for symbols alone. <https://questdb.com/docs/concepts/symbol/>
    fn definition_type(&self, content: Content, kind: ColumnType, _: &Table) -> String {
        match content {
            Content::Tag(_) => "SYMBOL".to_owned(),
            _ => self.type_name(kind).to_owned(),
        }
    }

    /// A partition of readings is as long as their number a day asks; a repeated reading replaces the first.
    /// <https://questdb.com/docs/concepts/partitions/>, <https://questdb.com/docs/concepts/deduplication/>
    fn create(&self, table: &TableDefinition) -> Vec<String> {
        let index = table.indexes.iter().find(|one| one.on == Indexed::SeriesTime);
        let is_indexed = |name: &String| index.is_some_and(|index| index.columns.contains(name));
        let columns: Vec<String> = table
            .columns
            .iter()
            .map(|column| {
                let ending = match column.kind.as_str() {
                    "SYMBOL" if is_indexed(&column.name) => " INDEX",
                    _ => "",
                };
                format!("{} {}{ending}", column.name, column.kind)
            })
            .collect();
        let (name, columns, key) = (&table.name, columns.join(", "), table.key.join(", "));
        if table.purpose == Purpose::Entity {
            return vec![format!(
                "CREATE TABLE {name} ({ENTITY_TIME} {TIME}, {columns}) TIMESTAMP({ENTITY_TIME}) PARTITION BY YEAR WAL \
                 DEDUP UPSERT KEYS({key}, {ENTITY_TIME})"
            )];
        }
        let time = table.columns.iter().find(|column| column.kind == TIME);
        let time = time.map_or("", |column| &column.name);
        let unit = partition(table.readings_a_day);
        vec![format!(
            "CREATE TABLE {name} ({columns}) TIMESTAMP({time}) PARTITION BY {unit} WAL DEDUP UPSERT KEYS({key})"
        )]
    }

    fn only_entity(&self) -> (&'static str, &'static str) {
        ("\"_one\"", "INT")
    }

    fn answered_time(&self, time: &str) -> String {
        format!("{time}::long")
    }

    fn nanoseconds_of(&self, time: &str) -> String {
        format!("{time}::long")
    }

    fn key_order(&self, key: &str, kind: ColumnType) -> String {
        match kind {
            ColumnType::I64 => format!("{key}::long"),
            _ => key.to_owned(),
        }
    }

    /// What SAMPLE BY is made of, which takes no origin in ns: <https://questdb.com/docs/query/functions/date-time/#timestamp_floor>.
    /// Widths that it does not take are computed.
    fn native_window(&self, width: &str, time: &str, origin: &str) -> String {
        let width: i64 = width.parse().unwrap_or(1);
        stride(width).map_or_else(
            || format!("{time}::long - ({time}::long - {origin}) % {width}"),
            |stride| format!("timestamp_floor('{stride}', {time}, {origin}::timestamp_ns)::long"),
        )
    }

    fn expand(&self, _: &PhysicalTable, _: &Table, _: FieldSet, _: i64, _: Encoding) -> Expansion {
        Expansion { join: "", from: String::new(), offset: String::new(), order: "", fields: Vec::new() }
    }

    fn comparable(&self, value: &str, kind: FieldType) -> String {
        match kind {
            FieldType::F64 => value.to_owned(),
            _ => format!("{value}::double"),
        }
    }

    /// A sum of LONG wraps around. Where its floating point sum says so, a conversion fails in place of it. Near the ends of LONG the floating point sum is
    /// too coarse; there a sum that wrapped around has the other sign.
    fn plain_aggregate(&self, function: Function, value: &str, kind: FieldType) -> String {
        if (function, kind) == (Function::Sum, FieldType::I64) {
            let (whole, real) = (format!("sum({value})"), format!("sum({value}::double)"));
            return format!(
                "CASE WHEN abs({real}) < 9.2E18 OR (abs({real}) < 1.2E19 AND {real} * {whole} > 0.0) THEN {whole} \
                 ELSE {real}::decimal(38, 0)::long END"
            );
        }
        plain_aggregate(function, value)
    }

    /// Of the latest row, because rows are in the order of time.
    fn last_value(&self, value: &str, _: &str) -> String {
        format!("last_not_null({value})")
    }

    fn share(&self, value: &str, held: &str) -> String {
        format!("coalesce(sum(CASE WHEN {value} = 1 THEN {held} END), 0)::double / sum({held})::double")
    }

    fn incoming(&self, column: &str) -> String {
        column.to_owned()
    }

    fn add_up(&self, _: SumPart, column: &str, _: bool) -> String {
        column.to_owned()
    }

    fn sum_of_sums(&self, _: Aggregate, columns: &SumColumns) -> String {
        columns.sum.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_is_in_the_largest_unit() {
        assert_eq!(stride(7_200_000_000_000).as_deref(), Some("2h"));
        assert_eq!(stride(1_500_000).as_deref(), Some("1500U"));
        assert_eq!(stride(7).as_deref(), Some("7n"));
        assert_eq!(stride(172_800_000_000_001), None);
    }
}
