//! MariaDB's way: series one by one, latest readings by a join on the maximum, several statements for aggregates.
//!
//! Records are opened by JSON_TABLE, upserts are ON DUPLICATE KEY, and hints stand where the optimizer needs them.

use crate::schema::layout_options::missing;
use crate::schema::{OPTIONS, field_type, indexed, quoted, tag_type};
use crate::write::limits;
use sensormark_relational::column_type::ColumnType;
use sensormark_relational::ddl::definition::{Indexed, TableDefinition};
use sensormark_relational::dialect::{
    Aggregates, AllSeries, Dialect, FieldRows, Names, Placeholder, RecordRange, SeriesSet, SumPart, Walk,
};
use sensormark_relational::expansion::Expansion;
use sensormark_relational::table::{Content, PhysicalTable, SumColumns};
use sensormark_store::{Aggregate, Encoding, FieldSet, FieldType, Function, Index, Layout, Table, TagColumn};

/// MariaDB's choices.
#[derive(Debug)]
pub(crate) struct MariadbDialect;

/// The name of the index on the series alone.
const BY_SERIES: &str = "`by_series`";

/// The name of the index on series and time.
const BY_TIME: &str = "`by_time`";

/// So many series are asked for one by one, as in DuckDB.
const FEW_SERIES: usize = 20;

/// The most series that are named one by one, so that an index on (series, time) serves a question about all of them.
const NAMED_SERIES: u32 = 500;

static NAMES: Names = Names {
    time: "time",
    copy: None,
    span: "span",
    second: "second",
    size: "size",
    document: "measurements",
    offsets: "offsets",
    field: "number",
    value: "measurement",
    period: "period",
    day: "day",
    sum_separator: "_",
};

impl Dialect for MariadbDialect {
    fn title(&self) -> &'static str {
        "MariaDB"
    }

    fn quote(&self, name: &str) -> String {
        quoted(name)
    }

    fn names(&self) -> &'static Names {
        &NAMES
    }

    fn placeholder(&self) -> Placeholder {
        Placeholder::Positional
    }

    fn missing(&self, layout: &Layout, table: &Table) -> Option<String> {
        missing(layout, table)
    }

    fn readings_per_statement(&self, layout: &Layout, table: &Table) -> usize {
        limits(layout, table).readings_per_statement
    }

    fn series_set(&self) -> SeriesSet {
        SeriesSet::List
    }

    fn all_series(&self) -> AllSeries {
        AllSeries::Listed(NAMED_SERIES)
    }

    /// An index on (series, time) gives the latest time of each group by itself.
    fn walk(&self, _: Index) -> Walk {
        Walk::Grouped
    }

    /// A few series are asked for one by one: each is the end of its part of the index, whatever the optimizer believes of the table. Ten series of 18,000 readings took
    /// 2.6 s as one join with the latest times, and 1.7 ms so (10.11, during a run; afterwards EXPLAIN gave a good plan). A condition on a field keeps the index from giving the latest times,
    /// and so does a time of two columns: then all are.
    fn most_one_by_one(&self, layout: &Layout, table: &PhysicalTable, must_have_field: bool) -> usize {
        let is_indexed = matches!(layout.index, Index::SeriesTime | Index::Clustered);
        match (is_indexed, must_have_field || table.nanosecond.is_some()) {
            (true, true) => NAMED_SERIES as usize,
            (true, false) => FEW_SERIES,
            (false, _) => 0,
        }
    }

    fn aggregates(&self) -> Aggregates {
        Aggregates::Merged
    }

    fn record_range(&self, _: Encoding, all_fields: bool, _: bool) -> RecordRange {
        if all_fields { RecordRange::Whole } else { RecordRange::JsonArrays }
    }

    fn field_rows(&self) -> FieldRows {
        FieldRows::SplitTime
    }

    fn type_name(&self, kind: ColumnType) -> &'static str {
        match kind {
            ColumnType::Bool => field_type(FieldType::Bool),
            ColumnType::I32 => field_type(FieldType::U16),
            ColumnType::F64 => field_type(FieldType::F64),
            ColumnType::Text => field_type(FieldType::Text),
            ColumnType::Json => "JSON",
            _ => field_type(FieldType::I64),
        }
    }

    fn definition_type(&self, content: Content, kind: ColumnType, table: &Table) -> String {
        match content {
            Content::SeriesNumber | Content::Size => "INT UNSIGNED".to_owned(),
            Content::Nanosecond => "INT".to_owned(),
            Content::FieldNumber => "SMALLINT UNSIGNED".to_owned(),
            Content::Tag(tag) => tag_type(&table.series.columns()[tag]),
            _ => self.type_name(kind).to_owned(),
        }
    }

    fn indexed(&self, name: &str, values: &TagColumn) -> String {
        indexed(name, values)
    }

    fn create(&self, table: &TableDefinition) -> Vec<String> {
        let mut parts = table.parts(" NULL", " NOT NULL PRIMARY KEY");
        parts.extend(table.indexes.iter().map(|index| {
            let columns = index.columns.join(", ");
            // Where a tag tells all series apart, the optimizer may look its series up before it plans the rest. A part of a long tag does not.
            let is_unique = index.unique && !columns.ends_with(')');
            match index.on {
                Indexed::Series => format!("KEY {BY_SERIES} ({columns})"),
                Indexed::SeriesTime => format!("KEY {BY_TIME} ({columns})"),
                Indexed::Tag(tag) if is_unique => format!("UNIQUE KEY `by_tag_{tag}` ({columns})"),
                Indexed::Tag(tag) => format!("KEY `by_tag_{tag}` ({columns})"),
            }
        }));
        parts.extend(table.reference());
        let (name, parts) = (&table.name, parts.join(", "));
        vec![format!("CREATE TABLE IF NOT EXISTS {name} ({parts}) {OPTIONS}")]
    }

    fn only_entity(&self) -> (&'static str, &'static str) {
        ("`$only`", "TINYINT DEFAULT 1")
    }

    fn expand(
        &self,
        table: &PhysicalTable,
        description: &Table,
        fields: FieldSet,
        _: i64,
        _: Encoding,
    ) -> Expansion {
        let document = table.column(Content::Document);
        let column = |field: usize| {
            let kind = field_type(description.fields[field].kind);
            format!(", `$f{field}` {kind} PATH '$.m[{field}]'")
        };
        let columns: String = fields.iter().map(column).collect();
        Expansion {
            join: " CROSS JOIN ",
            from: format!(
                "JSON_TABLE(r.{document}, '$.measurements[*]' COLUMNS (`$ns` BIGINT PATH '$.ns'{columns})) j"
            ),
            offset: "j.`$ns`".to_owned(),
            order: "",
            fields: fields.iter().map(|field| (field, format!("j.`$f{field}`"))).collect(),
        }
    }

    /// Only the chosen fields go over the wire.
    fn document_part(&self, document: &str, part: &str) -> String {
        format!("JSON_EXTRACT({document}, '$.measurements[*].{part}')")
    }

    /// Readings first: the other way round they would be looked up one by one.
    fn tags_join(&self) -> &'static str {
        "STRAIGHT_JOIN"
    }

    /// DISTINCT in the order of an index would look all readings up one by one.
    fn distinct_hint(&self, table: &PhysicalTable, index: Index) -> String {
        let name = match index {
            _ if !table.column(Content::Document).is_empty() => return String::new(),
            Index::Series => BY_SERIES,
            Index::SeriesTime => BY_TIME,
            Index::None | Index::Clustered | Index::FirstTagTime => return String::new(),
        };
        format!(" IGNORE INDEX FOR GROUP BY ({name})")
    }

    fn plain_aggregate(&self, function: Function, value: &str, _: FieldType) -> String {
        match function {
            Function::Count => format!("COUNT({value})"),
            Function::Sum => format!("SUM({value})"),
            Function::Min => format!("MIN({value})"),
            Function::Max => format!("MAX({value})"),
            Function::StandardDeviation => format!("STDDEV_SAMP({value})"),
            // The mean of whole numbers would be a decimal of few digits.
            _ => format!("CAST(SUM({value}) AS DOUBLE) / COUNT({value})"),
        }
    }

    fn share(&self, value: &str, held: &str) -> String {
        format!("CAST(SUM(IF({value}, {held}, 0)) AS DOUBLE) / CAST(SUM({held}) AS DOUBLE)")
    }

    fn on_conflict(&self, keys: &[String], updates: &[String]) -> String {
        match (updates, keys) {
            ([], [.., key]) => format!("ON DUPLICATE KEY UPDATE {key} = {key}"),
            _ => format!("ON DUPLICATE KEY UPDATE {}", updates.join(", ")),
        }
    }

    fn incoming(&self, column: &str) -> String {
        format!("VALUES({column})")
    }

    /// A period may lack a field so far, and a write may lack it too.
    fn add_up(&self, part: SumPart, column: &str, _: bool) -> String {
        let more = self.incoming(column);
        let combined = match part {
            SumPart::Count => return format!("{column} + {more}"),
            SumPart::Sum => format!("{column} + {more}"),
            SumPart::Min => format!("LEAST({column}, {more})"),
            SumPart::Max => format!("GREATEST({column}, {more})"),
        };
        format!("COALESCE({combined}, {column}, {more})")
    }

    fn sum_of_sums(&self, aggregate: Aggregate, columns: &SumColumns) -> String {
        match aggregate.function {
            Function::Count => format!("SUM(r.{})", columns.count),
            Function::Sum => format!("SUM(r.{})", columns.sum),
            Function::Min => format!("MIN(r.{})", columns.min),
            Function::Max => format!("MAX(r.{})", columns.max),
            _ => format!("CAST(SUM(r.{}) AS DOUBLE) / SUM(r.{})", columns.sum, columns.count),
        }
    }
}
