//! DuckDB's way: no index to step through, so latest readings are found in groups; arrays as parameters and as records of a span; all aggregates
//! in one statement.

use crate::array::OwnArrays;
use crate::client::Kind;
use crate::schema::{limits, unsupported};
use sensormark_relational::column_type::ColumnType;
use sensormark_relational::ddl::definition::{Indexed, TableDefinition};
use sensormark_relational::dialect::{
    Aggregates, Dialect, Names, Placeholder, RecordRange, SeriesSet, TimeUnit, Walk, plain_aggregate,
};
use sensormark_relational::expansion::Expansion;
use sensormark_relational::table::{Column, Content, PhysicalTable, SumColumns, joined};
use sensormark_relational::write::arrays::arrays;
use sensormark_store::record::Record;
use sensormark_store::{
    Aggregate, Batch, Encoding, FieldSet, FieldType, Function, Index, Layout, StoreError, Table,
};

/// DuckDB's choices.
#[derive(Debug)]
pub(crate) struct DuckdbDialect;

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
    period: "period_ns",
    day: "day",
    sum_separator: "_",
};

/// The most series whose latest readings are asked for one by one. On 7.2 million readings of 100 series the time of 10 is a third of a pass over all, and that
/// of 50 is twice as much.
const MOST_ONE_BY_ONE: usize = 20;

/// A type's name in statements.
pub(crate) const fn type_name(kind: ColumnType) -> &'static str {
    match kind {
        ColumnType::Bool => "BOOLEAN",
        ColumnType::I16 => "SMALLINT",
        ColumnType::I32 => "INTEGER",
        ColumnType::I64 | ColumnType::Interval => "BIGINT",
        ColumnType::F64 => "DOUBLE",
        ColumnType::Text | ColumnType::Any => "VARCHAR",
        ColumnType::Timestamp => "TIMESTAMP_NS",
        ColumnType::Json | ColumnType::BinaryJson => "JSON",
        ColumnType::Bytes => "BLOB",
        ColumnType::BoolArray => "BOOLEAN[]",
        ColumnType::I32Array => "INTEGER[]",
        ColumnType::I64Array => "BIGINT[]",
        ColumnType::F64Array => "DOUBLE[]",
        ColumnType::TextArray => "VARCHAR[]",
    }
}

/// Whether a column holds a field of 16 bits. DuckDB has a type of its own for these.
fn is_unsigned(content: Content, table: &Table) -> bool {
    match content {
        Content::Field(field) => table.fields[field].kind == FieldType::U16,
        Content::Value(kind) => kind == FieldType::U16,
        _ => false,
    }
}

/// What a column is for an appender.
pub(crate) fn appended(column: &Column, table: &Table) -> Kind {
    match column.kind {
        _ if is_unsigned(column.content, table) => Kind::Unsigned16,
        ColumnType::BoolArray => Kind::List(ColumnType::Bool),
        ColumnType::I32Array => Kind::List(ColumnType::I32),
        ColumnType::I64Array => Kind::List(ColumnType::I64),
        ColumnType::F64Array => Kind::List(ColumnType::F64),
        ColumnType::TextArray => Kind::List(ColumnType::Text),
        kind => Kind::One(kind),
    }
}

impl Dialect for DuckdbDialect {
    fn title(&self) -> &'static str {
        "DuckDB"
    }

    fn names(&self) -> &'static Names {
        &NAMES
    }

    fn placeholder(&self) -> Placeholder {
        Placeholder::Numbered('$')
    }

    /// TIMESTAMP_NS: nanoseconds since 1970.
    fn time_unit(&self) -> Option<TimeUnit> {
        Some(TimeUnit { unit_ns: 1, epoch: 0 })
    }

    fn missing(&self, layout: &Layout, _: &Table) -> Option<String> {
        unsupported(layout).map(str::to_owned)
    }

    fn readings_per_statement(&self, layout: &Layout, table: &Table) -> usize {
        limits(layout, table).readings_per_statement
    }

    fn series_set(&self) -> SeriesSet {
        SeriesSet::Arrays
    }

    /// A scan reads the columns of all series together: one pass that groups is cheaper than one for each series.
    fn walk(&self, _: Index) -> Walk {
        Walk::Grouped
    }

    /// The latest reading of one series bounds its scan while it goes; with more series, one pass over all columns is cheaper.
    fn most_one_by_one(&self, _: &Layout, _: &PhysicalTable, _: bool) -> usize {
        MOST_ONE_BY_ONE
    }

    fn aggregates(&self) -> Aggregates {
        Aggregates::OneStatement
    }

    fn record_range(&self, _: Encoding, _: bool, point: bool) -> RecordRange {
        if point { RecordRange::Opened } else { RecordRange::Arrays }
    }

    fn binds_day(&self) -> bool {
        false
    }

    fn type_name(&self, kind: ColumnType) -> &'static str {
        type_name(kind)
    }

    fn definition_type(&self, content: Content, kind: ColumnType, table: &Table) -> String {
        if is_unsigned(content, table) {
            return "USMALLINT".to_owned();
        }
        type_name(kind).to_owned()
    }

    fn create(&self, table: &TableDefinition) -> Vec<String> {
        let parts = table.parts("", " PRIMARY KEY");
        let (name, bare) = (&table.name, table.name.trim_matches('"'));
        let mut statements = vec![format!("CREATE TABLE {name} ({})", parts.join(", "))];
        // Tags are few rows: a scan of them costs less than an index.
        let wanted = table.indexes.iter();
        let wanted = wanted.filter(|index| !matches!(index.on, Indexed::Tag(_)));
        statements.extend(wanted.map(|index| {
            let columns = index.columns.join(", ");
            format!("CREATE INDEX \"{bare} by series\" ON {name} ({columns})")
        }));
        statements
    }

    fn only_entity(&self) -> (&'static str, &'static str) {
        ("\"$only\"", "BOOLEAN DEFAULT true")
    }

    fn typed_set(&self, parameter: String, kind: ColumnType) -> String {
        format!("{parameter}::{}", type_name(kind))
    }

    fn nanoseconds_of(&self, time: &str) -> String {
        format!("epoch_ns({time})")
    }

    /// The functions for windows round to microseconds, so this is arithmetic on nanoseconds.
    fn native_window(&self, width: &str, time: &str, origin: &str) -> String {
        let since = format!("(epoch_ns({time}) - epoch_ns({origin}))");
        format!("make_timestamp_ns(epoch_ns({time}) - (({since} % {width}) + {width}) % {width})")
    }

    /// As a subquery, the set is joined by hash, and its smallest and largest key skip groups of rows.
    fn in_set(&self, keys: &[String], parameters: &[String]) -> String {
        let lists = parameters.iter().map(|list| format!("unnest({list})"));
        format!("({}) IN (SELECT {})", keys.join(", "), joined(lists))
    }

    fn expand(&self, table: &PhysicalTable, _: &Table, fields: FieldSet, _: i64, _: Encoding) -> Expansion {
        let offsets = format!("unnest(r.{}) AS ns", table.column(Content::Offsets));
        let arrays = fields.iter().map(|field| format!("unnest(r.{}) AS f{field}", table.field_names[field]));
        Expansion {
            join: " CROSS JOIN LATERAL ",
            from: format!("(SELECT {}) AS e", joined([offsets].into_iter().chain(arrays))),
            offset: "e.ns".to_owned(),
            order: "",
            fields: fields.iter().map(|field| (field, format!("e.f{field}"))).collect(),
        }
    }

    fn comparable(&self, value: &str, kind: FieldType) -> String {
        match kind {
            FieldType::F64 => value.to_owned(),
            FieldType::Bool => format!("({value})::INTEGER::DOUBLE"),
            _ => format!("({value})::DOUBLE"),
        }
    }

    /// Sums of whole numbers have 128 bits.
    fn plain_aggregate(&self, function: Function, value: &str, kind: FieldType) -> String {
        let plain = plain_aggregate(function, value);
        match (function, kind) {
            (Function::Sum, FieldType::F64) => plain,
            (Function::Sum, _) => format!("{plain}::BIGINT"),
            _ => plain,
        }
    }

    /// Rows without the value do not count.
    fn last_value(&self, value: &str, time: &str) -> String {
        format!("arg_max({value}, {time})")
    }

    fn most_frequent(&self, value: &str) -> String {
        format!("mode() WITHIN GROUP (ORDER BY {value})")
    }

    fn share(&self, value: &str, held: &str) -> String {
        format!(
            "coalesce(sum({held}) FILTER (WHERE {value}), 0)::DOUBLE / (sum({held}) FILTER (WHERE {value} IS NOT NULL))::DOUBLE"
        )
    }

    fn incoming(&self, column: &str) -> String {
        format!("excluded.{column}")
    }

    fn sum_of_sums(&self, aggregate: Aggregate, columns: &SumColumns) -> String {
        let total = columns.total(aggregate.function);
        match aggregate.function {
            Function::Sum if columns.kind == FieldType::F64 => total,
            Function::Count | Function::Sum => format!("{total}::BIGINT"),
            Function::Mean => {
                let count = columns.total(Function::Count);
                format!("{total}::DOUBLE / nullif({count}, 0)::DOUBLE")
            }
            _ => total,
        }
    }

    fn record(
        &self,
        description: &Table,
        batch: &Batch,
        record: &Record<'_>,
        _: Encoding,
        span_ns: i64,
    ) -> Result<Vec<Vec<u8>>, StoreError> {
        Ok(arrays::<OwnArrays>(description, batch, record, span_ns))
    }
}
