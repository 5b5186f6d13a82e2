//! PostgreSQL's way: lateral joins, arrays as parameters, all aggregates in one statement, JSONB opened by the server, ON CONFLICT.

use crate::schema::missing;
use crate::write::record::{self, BinaryArrays};
use sensormark_relational::column_type::ColumnType;
use sensormark_relational::ddl::definition::TableDefinition;
use sensormark_relational::dialect::{
    Aggregates, Dialect, Names, Placeholder, RecordRange, SeriesSet, TimeUnit, Walk, plain_aggregate,
};
use sensormark_relational::expansion::Expansion;
use sensormark_relational::physical_schema::column_count;
use sensormark_relational::table::{Content, PhysicalTable, SumColumns, joined};
use sensormark_relational::write::arrays::arrays;
use sensormark_store::record::Record;
use sensormark_store::{
    Aggregate, Batch, Encoding, FieldSet, FieldType, Function, Index, Layout, Limits, Shape, StoreError,
    Table, WriteMethod,
};

/// PostgreSQL's choices.
#[derive(Debug)]
pub(crate) struct Postgresql;

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
    period: ".period",
    day: ".day",
    sum_separator: ".",
};

/// A type's name in statements.
pub(crate) const fn type_name(kind: ColumnType) -> &'static str {
    match kind {
        ColumnType::Bool => "bool",
        ColumnType::I16 => "int2",
        ColumnType::I32 => "int4",
        ColumnType::I64 => "int8",
        ColumnType::F64 => "float8",
        ColumnType::Text | ColumnType::Any => "text",
        ColumnType::Timestamp => "timestamptz",
        ColumnType::Interval => "interval",
        ColumnType::Json => "json",
        ColumnType::BinaryJson => "jsonb",
        ColumnType::Bytes => "bytea",
        ColumnType::BoolArray => "bool[]",
        ColumnType::I32Array => "int4[]",
        ColumnType::I64Array => "int8[]",
        ColumnType::F64Array => "float8[]",
        ColumnType::TextArray => "text[]",
    }
}

/// The most parameters of one statement: the protocol counts them in 16 bits.
const PARAMETERS: usize = 65_535;

/// The largest statements with a layout and a table.
pub(crate) fn limits(layout: &Layout, table: &Table) -> Limits {
    let columns = column_count(&Postgresql, layout, table).max(1);
    let rows_per_reading = match layout.shape {
        Shape::RowPerField => table.fields.len().max(1),
        _ => 1,
    };
    let readings_per_statement = match layout.write {
        WriteMethod::MultiRow => PARAMETERS / columns / rows_per_reading,
        WriteMethod::ConcatenatedStatements => 10_000,
        _ => 1_000_000,
    };
    Limits { readings_per_statement: readings_per_statement.max(1) }
}

impl Dialect for Postgresql {
    fn title(&self) -> &'static str {
        "PostgreSQL"
    }

    fn names(&self) -> &'static Names {
        &NAMES
    }

    fn placeholder(&self) -> Placeholder {
        Placeholder::Numbered('$')
    }

    /// Microseconds since 2000-01-01.
    fn time_unit(&self) -> Option<TimeUnit> {
        Some(TimeUnit { unit_ns: 1_000, epoch: 946_684_800_000_000 })
    }

    fn missing(&self, layout: &Layout, _: &Table) -> Option<String> {
        missing(layout)
    }

    fn readings_per_statement(&self, layout: &Layout, table: &Table) -> usize {
        limits(layout, table).readings_per_statement
    }

    fn series_set(&self) -> SeriesSet {
        SeriesSet::Arrays
    }

    fn walk(&self, _: Index) -> Walk {
        Walk::Lateral
    }

    fn aggregates(&self) -> Aggregates {
        Aggregates::OneStatement
    }

    fn record_range(&self, encoding: Encoding, all_fields: bool, point: bool) -> RecordRange {
        match encoding {
            _ if point => RecordRange::Opened,
            Encoding::Arrays => RecordRange::Arrays,
            _ if all_fields => RecordRange::Whole,
            Encoding::BinaryJson => RecordRange::JsonArrays,
            _ => RecordRange::Opened,
        }
    }

    /// The planner sees how much of the day they are.
    fn binds_day(&self) -> bool {
        false
    }

    fn type_name(&self, kind: ColumnType) -> &'static str {
        type_name(kind)
    }

    fn create(&self, table: &TableDefinition) -> Vec<String> {
        let mut parts = table.parts("", " PRIMARY KEY");
        parts.extend(table.reference());
        let mut statements = vec![format!("CREATE TABLE {} ({})", table.name, parts.join(", "))];
        statements.extend(
            table
                .indexes
                .iter()
                .map(|index| format!("CREATE INDEX ON {} ({})", table.name, index.columns.join(", "))),
        );
        statements
    }

    fn only_entity(&self) -> (&'static str, &'static str) {
        ("\".one\"", "bool DEFAULT true")
    }

    fn whole(&self, number: i64) -> String {
        format!("{number}::int8")
    }

    fn typed(&self, value: &str, kind: ColumnType) -> String {
        format!("{value}::{}", type_name(kind))
    }

    fn nanoseconds_of(&self, time: &str) -> String {
        format!("((extract(epoch FROM {time}) * 1000000)::int8 * 1000)")
    }

    fn native_window(&self, width: &str, time: &str, origin: &str) -> String {
        format!("date_bin({width}, {time}, {origin})")
    }

    /// As an array, the query runs once, before the rest is planned.
    fn is_in(&self, column: &str, query: &str) -> String {
        format!("{column} = ANY(ARRAY({query}))")
    }

    fn in_set(&self, keys: &[String], parameters: &[String]) -> String {
        match (keys, parameters) {
            ([key], [array]) => format!("{key} = ANY({array})"),
            _ => format!("({}) IN (SELECT * FROM unnest({}))", keys.join(", "), parameters.join(", ")),
        }
    }

    fn set_as_relation(&self, names: &[String], parameters: &[String]) -> String {
        format!("unnest({}) AS s({})", parameters.join(", "), names.join(", "))
    }

    fn expand(
        &self,
        table: &PhysicalTable,
        description: &Table,
        fields: FieldSet,
        span_ns: i64,
        encoding: Encoding,
    ) -> Expansion {
        if encoding == Encoding::Arrays {
            return unnest(table, fields);
        }
        let binary = encoding == Encoding::BinaryJson;
        let function = if binary { "jsonb" } else { "json" };
        let document = table.column(Content::Document);
        let arrow = if binary { "->" } else { "->>" };
        let offset = type_name(ColumnType::of_offset(span_ns));
        let value = |field: usize| {
            let field_description = &description.fields[field];
            let kind = type_name(ColumnType::of_field(field_description.kind));
            let is_direct =
                binary && !field_description.nullable && field_description.kind != FieldType::Text;
            let arrow = if is_direct { "->" } else { "->>" };
            (field, format!("(e.v -> 'm' {arrow} {field})::{kind}"))
        };
        Expansion {
            join: " CROSS JOIN LATERAL ",
            from: format!("{function}_array_elements(r.{document} -> 'measurements') AS e(v)"),
            offset: format!("(e.v {arrow} 'ns')::{offset}"),
            order: "",
            fields: fields.iter().map(value).collect(),
        }
    }

    fn document_part(&self, document: &str, part: &str) -> String {
        format!("jsonb_path_query_array({document}, '$.measurements[*].{part}')")
    }

    fn comparable(&self, value: &str, kind: FieldType) -> String {
        match kind {
            FieldType::F64 => value.to_owned(),
            FieldType::Bool => format!("({value})::int4::float8"),
            _ => format!("({value})::float8"),
        }
    }

    fn plain_aggregate(&self, function: Function, value: &str, kind: FieldType) -> String {
        let plain = plain_aggregate(function, value);
        match (function, kind) {
            (Function::Sum, FieldType::I64) => format!("{plain}::int8"),
            (Function::Mean, _) => format!("{plain}::float8"),
            _ => plain,
        }
    }

    fn last_value(&self, value: &str, time: &str) -> String {
        format!("(array_agg({value} ORDER BY {time} DESC) FILTER (WHERE {value} IS NOT NULL))[1]")
    }

    fn most_frequent(&self, value: &str) -> String {
        format!("mode() WITHIN GROUP (ORDER BY {value})")
    }

    fn share(&self, value: &str, held: &str) -> String {
        format!(
            "coalesce(sum({held}) FILTER (WHERE {value}), 0)::float8 / (sum({held}) FILTER (WHERE {value} IS NOT NULL))::float8"
        )
    }

    fn upsert_target(&self, name: &str, alias: &str) -> String {
        format!("{name} AS {alias}")
    }

    fn incoming(&self, column: &str) -> String {
        format!("EXCLUDED.{column}")
    }

    fn present(&self, column: &str) -> String {
        format!("s.{column}")
    }

    fn sum_of_sums(&self, aggregate: Aggregate, columns: &SumColumns) -> String {
        let is_real = columns.kind == FieldType::F64;
        let total = columns.total(aggregate.function);
        match aggregate.function {
            Function::Sum if is_real => total,
            Function::Count | Function::Sum => format!("{total}::int8"),
            Function::Mean => {
                let count = columns.total(Function::Count);
                let exact = if is_real { "float8" } else { "numeric" };
                format!("({total} / nullif({count}, 0)::{exact})::float8")
            }
            _ => total,
        }
    }

    fn record(
        &self,
        description: &Table,
        batch: &Batch,
        record: &Record<'_>,
        encoding: Encoding,
        span_ns: i64,
    ) -> Result<Vec<Vec<u8>>, StoreError> {
        Ok(match encoding {
            Encoding::Arrays => arrays::<BinaryArrays>(description, batch, record, span_ns),
            _ => vec![record::document(batch, record, encoding)],
        })
    }
}

/// Arrays opened side by side.
fn unnest(table: &PhysicalTable, fields: FieldSet) -> Expansion {
    let arrays = fields.iter().map(|field| format!("r.{}", table.field_names[field]));
    let offsets = [format!("r.{}", table.column(Content::Offsets))];
    let names = fields.iter().map(|field| format!("f{field}"));
    Expansion {
        join: " CROSS JOIN LATERAL ",
        from: format!("unnest({}) AS e(ns, {})", joined(offsets.into_iter().chain(arrays)), joined(names)),
        offset: "e.ns".to_owned(),
        order: "",
        fields: fields.iter().map(|field| (field, format!("e.f{field}"))).collect(),
    }
}
