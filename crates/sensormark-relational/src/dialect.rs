//! What a database chooses: the strategies for its questions, and the words of its language.
//!
//! A dialect is asked while statements are written, once for each shape of question; never for a value.

mod strategy;

use crate::column_type::ColumnType;
use crate::ddl::definition::TableDefinition;
use crate::expansion::Expansion;
use crate::table::{Content, PhysicalTable, SumColumns};
use sensormark_store::{
    Aggregate, Batch, Encoding, FieldSet, FieldType, Function, Index, Layout, StoreError, Table,
    record::{Record, blob, json},
};
use std::fmt::Debug;
pub use strategy::{Aggregates, RecordRange, SeriesSet, Walk};

/// The names of columns that are not the schema's.
#[derive(Debug, Clone, Copy)]
pub struct Names {
    /// A reading's time.
    pub time: &'static str,
    /// What tells repeated writes of one key apart where the rows are kept in the key's order; none where such a key is not repeated.
    pub copy: Option<&'static str>,
    /// A span's number.
    pub span: &'static str,
    /// A span's number, where a span lasts a second.
    pub second: &'static str,
    /// How many readings a record has.
    pub size: &'static str,
    /// A record's document.
    pub document: &'static str,
    /// Times of a record's readings since its span's start.
    pub offsets: &'static str,
    /// The number of a field, in rows of one field.
    pub field: &'static str,
    /// The value of a field, in rows of one field.
    pub value: &'static str,
    /// The start of a period of sums.
    pub period: &'static str,
    /// Whether sums are of the day.
    pub day: &'static str,
    /// What stands between a field's name and count, sum, min or max.
    pub sum_separator: &'static str,
}

/// How parameters are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placeholder {
    /// A sign and the parameter's number; one that is used twice is bound once.
    Numbered(char),
    /// A question mark, bound as often as it stands there.
    Positional,
}

/// The unit of the database's own times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeUnit {
    /// The length of a unit in ns.
    pub unit_ns: i64,
    /// Units from the Unix epoch to the database's own.
    pub epoch: i64,
}

/// What adds up in a row of sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SumPart {
    /// How many.
    Count,
    /// Their sum.
    Sum,
    /// The smallest.
    Min,
    /// The largest.
    Max,
}

/// Count, sum, min, max, mean and standard deviation.
pub const fn is_plain(function: Function) -> bool {
    !matches!(function, Function::Last | Function::TimeWeightedShare | Function::MostFrequent)
}

/// Count, sum, min, max, mean or standard deviation of an expression, as most databases call them.
pub fn plain_aggregate(function: Function, value: &str) -> String {
    let name = match function {
        Function::Count => "count",
        Function::Sum => "sum",
        Function::Min => "min",
        Function::Max => "max",
        Function::StandardDeviation => "stddev_samp",
        _ => "avg",
    };
    format!("{name}({value})")
}

/// A database's choices.
pub trait Dialect: Debug + Send + Sync {
    /// The database's name in messages.
    fn title(&self) -> &'static str;

    /// A name in quotes.
    fn quote(&self, name: &str) -> String {
        format!("\"{name}\"")
    }

    /// The names of columns that are not the schema's.
    fn names(&self) -> &'static Names;

    /// How parameters are written.
    fn placeholder(&self) -> Placeholder;

    /// The unit of the database's own times; none where it has no type for them.
    fn time_unit(&self) -> Option<TimeUnit> {
        None
    }

    /// Why a layout is not offered for a table, in words.
    fn missing(&self, layout: &Layout, table: &Table) -> Option<String>;

    /// The most readings of one statement.
    fn readings_per_statement(&self, layout: &Layout, table: &Table) -> usize;

    // Strategies.

    /// How a set of series is named.
    fn series_set(&self) -> SeriesSet;

    /// How readings of each series are looked at, with this index.
    fn walk(&self, index: Index) -> Walk;

    /// The most series whose latest readings are asked for one by one, each by a part of the statement. A reading must have a field besides, or need not.
    /// 0 where one statement about all of them is never worse.
    fn most_one_by_one(&self, layout: &Layout, table: &PhysicalTable, must_have_field: bool) -> usize {
        let _ = (layout, table, must_have_field);
        0
    }

    /// Whether the rows at the latest times of all series are found by a join with these times; else each row is looked up among them.
    fn joins_latest(&self) -> bool {
        true
    }

    /// How aggregates are computed.
    fn aggregates(&self) -> Aggregates;

    /// How ranges (or points) of records with this encoding are read, of all fields or of some.
    fn record_range(&self, encoding: Encoding, all_fields: bool, point: bool) -> RecordRange;

    /// Whether rows are made as they are fetched, so that the client may stop reading at no cost.
    fn fetches_row_by_row(&self) -> bool {
        false
    }

    /// Whether the bounds of the day are parameters, not part of the text.
    fn binds_day(&self) -> bool {
        true
    }

    /// Whether width and origin of windows of the database's own times are parameters. Else they are ns in the text, the origin less than the width.
    fn binds_windows(&self) -> bool {
        true
    }

    /// Whether GROUP BY computes this function by itself, in one statement with others.
    fn groups(&self, function: Function) -> bool {
        is_plain(function)
    }

    /// Whether groups are filtered by HAVING; else by a query around them.
    fn has_having(&self) -> bool {
        true
    }

    /// Whether a window function may number a query's own groups, and be a part of an expression; else a query around it uses it.
    fn composes_windows(&self) -> bool {
        true
    }

    // Tables.

    /// The name of a type in statements.
    fn type_name(&self, kind: ColumnType) -> &'static str;

    /// The type of a column in its definition.
    fn definition_type(&self, content: Content, kind: ColumnType, table: &Table) -> String {
        let _ = (content, table);
        self.type_name(kind).to_owned()
    }

    /// The statements that make a table and its indexes.
    fn create(&self, table: &TableDefinition) -> Vec<String>;

    /// The definition of the column that is the key of a table with one entity, with its name; the name is quoted.
    fn only_entity(&self) -> (&'static str, &'static str);

    /// What a record column takes in an INSERT, from the parameter.
    fn record_parameter(&self, encoding: Encoding, parameter: String) -> String {
        let _ = encoding;
        parameter
    }

    // Questions.

    /// A whole number in a statement, of 64 bits.
    fn whole(&self, number: i64) -> String {
        number.to_string()
    }

    /// A parameter of this type where the database does not know the type from its place.
    fn typed(&self, value: &str, kind: ColumnType) -> String {
        let _ = kind;
        value.to_owned()
    }

    /// The ns of a key of time in the database's own type.
    fn nanoseconds_of(&self, time: &str) -> String {
        time.to_owned()
    }

    /// A key of time as an answer has it, where that is not how it is compared.
    fn answered_time(&self, time: &str) -> String {
        time.to_owned()
    }

    /// A key column of a series in an order, so that whole numbers come in theirs.
    fn key_order(&self, key: &str, kind: ColumnType) -> String {
        let _ = kind;
        key.to_owned()
    }

    /// The start of the window of the database's own times that holds one, where it has times of its own.
    fn native_window(&self, width: &str, time: &str, origin: &str) -> String {
        let _ = (width, origin);
        time.to_owned()
    }

    /// Whether a column is among what a query gives.
    fn is_in(&self, column: &str, query: &str) -> String {
        format!("{column} IN ({query})")
    }

    /// The condition that key columns are in the set that parameters hold: one a column for arrays, one for JSON. Lists do without.
    fn in_set(&self, keys: &[String], parameters: &[String]) -> String {
        format!("({}) IN ({})", keys.join(", "), parameters.join(", "))
    }

    /// The parameter for a set of keys, an array of this type, where the database does not know the type from its place.
    fn typed_set(&self, parameter: String, kind: ColumnType) -> String {
        let _ = kind;
        parameter
    }

    /// The keys in the parameters of a set as a relation `s` of the columns `names`, where readings are looked at series by series.
    fn set_as_relation(&self, names: &[String], parameters: &[String]) -> String {
        let _ = parameters;
        names.join(", ")
    }

    /// The keys of all series as a relation `s`, by a skip scan over the table's index, where there is a way and the key is one column.
    fn skip_scan(&self, table: &PhysicalTable, key: &str) -> Option<String> {
        let _ = (table, key);
        None
    }

    /// What tells repeated readings of one series and time apart, in the order of writing, under this alias.
    fn repeat_order(&self, table: &PhysicalTable, alias: &str) -> Option<String> {
        let _ = (table, alias);
        None
    }

    /// What opens a record under alias `r` into readings.
    fn expand(
        &self,
        table: &PhysicalTable,
        description: &Table,
        fields: FieldSet,
        span_ns: i64,
        encoding: Encoding,
    ) -> Expansion;

    /// The document of a record as it is read back.
    fn document(&self, column: &str, encoding: Encoding) -> String {
        let _ = encoding;
        column.to_owned()
    }

    /// A value as it is compared with a threshold.
    fn comparable(&self, value: &str, kind: FieldType) -> String {
        let _ = kind;
        value.to_owned()
    }

    /// Count, sum, min, max or mean of an expression.
    fn plain_aggregate(&self, function: Function, value: &str, kind: FieldType) -> String {
        let _ = kind;
        plain_aggregate(function, value)
    }

    /// The value at the latest time, as an aggregate.
    fn last_value(&self, value: &str, time: &str) -> String {
        let _ = time;
        value.to_owned()
    }

    /// The first rows of an ordered question.
    fn first_rows(&self, ordered: &str, count: &str) -> String {
        format!("{ordered} LIMIT {count}")
    }

    /// The most frequent value, the smallest of equals, as an aggregate.
    fn most_frequent(&self, value: &str) -> String {
        value.to_owned()
    }

    /// The smaller of two expressions.
    fn least(&self, one: &str, other: &str) -> String {
        format!("least({one}, {other})")
    }

    /// The share of `held` in which `value` is true, of the rows where `value` is there.
    fn share(&self, value: &str, held: &str) -> String;

    // Writing.

    /// The table of an upsert, under an alias where its clause names one.
    fn upsert_target(&self, name: &str, alias: &str) -> String {
        let _ = alias;
        name.to_owned()
    }

    /// The clause after INSERT … VALUES (or SELECT) that updates a row whose key is there, by these assignments.
    fn on_conflict(&self, keys: &[String], updates: &[String]) -> String {
        let action = if updates.is_empty() {
            "NOTHING".to_owned()
        } else {
            format!("UPDATE SET {}", updates.join(", "))
        };
        format!("ON CONFLICT ({}) DO {action}", keys.join(", "))
    }

    /// The value that a row of an upsert brings for a column.
    fn incoming(&self, column: &str) -> String;

    /// The value that a row of an upsert finds in a column.
    fn present(&self, column: &str) -> String {
        column.to_owned()
    }

    /// What a column of sums becomes when a write adds to it; whether readings may lack the field, and so the sum. Here the database's functions take null for no
    /// value.
    fn add_up(&self, part: SumPart, column: &str, nullable: bool) -> String {
        let _ = nullable;
        let (present, more) = (self.present(column), self.incoming(column));
        match part {
            SumPart::Count => format!("{present} + {more}"),
            SumPart::Sum => format!("coalesce({present} + {more}, {present}, {more})"),
            SumPart::Min => format!("least({present}, {more})"),
            SumPart::Max => format!("greatest({present}, {more})"),
        }
    }

    /// Whether the sum of a field that readings may lack (or of another) may be null.
    fn has_null_sums(&self, nullable: bool) -> bool {
        let _ = nullable;
        true
    }

    /// An aggregate over columns of sums, under alias `r`.
    fn sum_of_sums(&self, aggregate: Aggregate, columns: &SumColumns) -> String;

    /// The parts of a record as they are sent: a document, or arrays.
    ///
    /// # Errors
    /// [`sensormark_store::ErrorKind::TooLarge`] when a record does not fit its encoding.
    fn record(
        &self,
        description: &Table,
        batch: &Batch,
        record: &Record<'_>,
        encoding: Encoding,
        span_ns: i64,
    ) -> Result<Vec<Vec<u8>>, StoreError> {
        let _ = (description, span_ns);
        let mut out = Vec::new();
        match encoding {
            Encoding::Blob => blob::encode(batch, record, &mut out)?,
            _ => json::encode(batch, record, &mut out),
        }
        Ok(vec![out])
    }
}
