//! `store.toml`: what a store says of itself beside its statements. Unknown words are errors.

use crate::table::OWNER_TABLE;
use sensormark_store::{Durability, ErrorKind, FieldType, RepeatedWrite, Table, TagColumn, TimeKey};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};

/// The file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The version of the form of both files: 1.
    pub format: u32,
    /// The name on the command line.
    pub name: String,
    /// The database's name as people write it.
    pub title: String,
    /// The driver that carries its statements.
    pub driver: String,
    /// What a URL looks like.
    pub url: String,
    /// What becomes of a second reading of one series and time, where a reading is a record of its own.
    pub repeated: RepeatedWrite,
    /// How names are written.
    pub text: Text,
    /// Names of types: `time`, `series`, `bool`, `i64`, `u16`, `f64`, `text`, `tag_text`, `tag_integer`, and `array`, where there is one. In `tag_text`, `{}` is the length of the
    /// longest value.
    pub types: BTreeMap<String, String>,
    /// How values get into a text.
    pub slots: Slots,
    /// How readings are written.
    pub batch: BatchConfig,
    /// What each session begins with.
    #[serde(default)]
    pub session: SessionConfig,
    /// Durability classes.
    pub durability: DurabilityConfig,
    /// Its logs.
    #[serde(default)]
    pub logs: LogsConfig,
    /// Statements of administration.
    pub admin: Admin,
    /// Settings that are read back.
    #[serde(default)]
    pub settings: SettingsConfig,
    /// What codes and words mean ([`crate::meaning`]): `[kind, advice]`, with `?` behind the kind where it is not known whether the write was done.
    #[serde(default)]
    pub errors: BTreeMap<String, (Kind, String)>,
    /// How a server is found and started.
    pub server: Option<crate::server::ServerConfig>,
    /// What `--profile` takes, `default` without it: text for the server's configuration.
    #[serde(default)]
    pub profiles: BTreeMap<String, String>,
    /// Why sensormark starts no cluster of it, where one can be measured by URL.
    pub clusters: Option<String>,
}

const fn yes() -> bool {
    true
}

fn owner_table() -> String {
    OWNER_TABLE.to_owned()
}

/// How names are written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// What stands on both sides of a name.
    pub quote: String,
    /// The column of time.
    pub time: String,
    /// Ns in a unit of the database's own type of time, `native_time`, which layouts with `time = "native"` have.
    pub native_unit_ns: Option<i64>,
    /// A table's name on the server, where databases are a part of it: `{database}.{table}`.
    pub table: Option<String>,
    /// The table that bears the owner's mark, where it is there for something else too.
    #[serde(default = "owner_table")]
    pub owner: String,
    /// Whether tags are always in a table of their own.
    #[serde(default)]
    pub tags_apart: bool,
    /// Whether tags are usually in each row, also where series have several.
    #[serde(default)]
    pub inline_tags: bool,
    /// Whether statements are in SQL, over `standard.sql`. Nothing comes from it in another language.
    #[serde(default = "yes")]
    pub standard: bool,
    /// Whether no field or tag may be called `time`, and none as another ([`sensormark_drivers::lines::tag_name`]).
    #[serde(default)]
    pub time_is_reserved: bool,
    /// The table of all readings, in layouts in which the schema's tables share one.
    #[serde(default)]
    pub shared: String,
    /// Characters of the longest tag that goes into an index as a whole. With longer ones, layouts with tags inline are not offered.
    pub longest_tag: Option<usize>,
}

/// How values get into a text.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slots {
    /// `?1` or `$1`: numbered, and a slot that comes twice has one number; `?`: by place.
    pub style: String,
    /// The series of a set: `json` or `array`.
    pub set: SetStyle,
    /// A question by a tag of at most so many series names them, as one about a set does; 0 leaves the tag to the database. Each can be a value of its own:
    /// templates see how many there are (`named`), and a slot's name with `nth0_` before it is that of the first.
    #[serde(default)]
    pub named: usize,
    /// The same of a question for the latest reading, where one column tells series apart.
    #[serde(default)]
    pub named_latest: usize,
    /// Whether windows are printed (`printed.width_ns`, `printed.origin_ns` in templates), so that a statement is of one width.
    #[serde(default)]
    pub printed_windows: bool,
    /// Whether templates see what the question's range and windows are like ([`crate::question::Asked::likeness`]).
    #[serde(default)]
    pub by_likeness: bool,
    /// The most values of a statement.
    pub values: usize,
}

/// How the series of a set travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetStyle {
    /// As one JSON array.
    Json,
    /// As an array of the database's.
    Array,
}

/// How readings are written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchConfig {
    /// What begins, ends and undoes a transaction.
    pub transaction: [String; 3],
    /// Encoders whose block is one statement, or one request that is a transaction by itself.
    #[serde(default)]
    pub whole: Vec<String>,
    /// Whether a commit is begun again that met changes of the same rows (a conflict), until the time is over; what is said then.
    pub again: Option<String>,
    /// The most readings of one transaction.
    pub most: usize,
    /// The most bytes of one transaction, about.
    pub most_bytes: Option<usize>,
    /// Readings of a write, as its documentation advises.
    pub readings: usize,
    /// Bytes of a write at most.
    pub bytes: usize,
    /// About how many bytes a row takes: `row`, `series`, `bool`, `text`, `number`, or a type of number.
    pub row_bytes: HashMap<String, usize>,
    /// What the documentation advises.
    pub advice: String,
    /// Where it says so.
    pub link: String,
}

/// What each session begins with.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionConfig {
    /// Statements.
    #[serde(default)]
    pub always: Vec<String>,
    /// Memory that the sessions share: `all_kib`, `least_kib` of each, given to statements as `{cache_kib}`.
    pub cache: Option<Cache>,
    /// What has to be so.
    #[serde(default)]
    pub checks: Vec<Check>,
}

/// Memory that sessions share.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Of all sessions together.
    pub all_kib: u32,
    /// The least of each.
    pub least_kib: u32,
}

/// A statement whose first value has to be this one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// The statement.
    pub sql: String,
    /// The value; of several, with bars between them, one.
    pub is: String,
    /// What failure it is where it is another; without one the report says it, and nothing fails.
    pub kind: Option<Kind>,
    /// The same in words, with `{value}`.
    pub otherwise: String,
}

/// Durability classes.
#[derive(Debug, Clone, Deserialize)]
pub struct DurabilityConfig {
    /// Those that the database has.
    #[serde(flatten)]
    pub classes: BTreeMap<Durability, Class>,
    /// Why there is no other.
    pub others: String,
}

/// A durability class.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// What it promises, in the database's own words.
    pub promise: String,
    /// Statements of each session.
    #[serde(default)]
    pub session: Vec<String>,
    /// Statements that set it on a server that sensormark started; others are checked.
    #[serde(default)]
    pub own: Vec<String>,
    /// What holds a server of the user's to it.
    pub check: Option<Check>,
}

/// Names of logs, and the setting that bounds them; see [`sensormark_store::Logs`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogsConfig {
    /// Names of files and folders.
    #[serde(default)]
    pub names: Vec<String>,
    /// The setting.
    pub bound: Option<String>,
}

/// Statements of administration. `{database}`, `{owner}` (the owner's table) and `{table}` stand for names, `:database`, `:mark` for values.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Admin {
    /// Rows where the database is there; empty where `names` says it.
    pub exists: String,
    /// The names of databases that may be sensormark's.
    pub names: String,
    /// Makes the database, on the server's own one.
    pub create: Vec<String>,
    /// Makes the owner's table and fills it.
    pub mark: Vec<String>,
    /// The owner's mark.
    pub marked: String,
    /// The name of the plan's database, where it may have another one on the server; the mark has it as `:plan`.
    pub marked_plan: String,
    /// Names of tables.
    pub contents: String,
    /// After all tables are made.
    pub created: Vec<String>,
    /// For each table, before the database goes; that it fails does no harm.
    pub leave: String,
    /// Removes the database, on the server's own one. With `{table}`, it removes each table, the owner's last.
    pub drop: String,
    /// Brings the database to rest.
    pub settle: Vec<String>,
    /// What follows on a server that sensormark started, whose settings may be changed.
    pub settle_own: Vec<String>,
    /// What follows on another one.
    pub settle_others: Vec<String>,
    /// What has to be so when it is at rest.
    pub settled: Option<Check>,
    /// Bytes of the database.
    pub size: String,
    /// How many documents `{table}` has, and their bytes.
    pub documents: String,
    /// Bytes of its logs.
    pub log_size: String,
    /// The server's version.
    pub version: String,
    /// What the database that a user's URL names has to be: who names one means that sensormark should use it.
    pub named: Option<Check>,
    /// What each of two connections to a server by URL has to take. It fails where a pooler shares their sessions, so that nobody has what it asked for.
    pub pooled: String,
    /// The plan of `{statement}`.
    pub explain: String,
    /// How statements begin that have a plan.
    pub planned: Vec<String>,
    /// The statements that make what is there. With `{table}`, it is asked of each table, and answers in its second column.
    pub schema: String,
}

/// Settings that are read back: an allow-list.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SettingsConfig {
    /// The value of `{name}`.
    pub each: String,
    /// Names and values of `:names`.
    pub sql: String,
    /// The names. Others that the server shows are left out, if there are any.
    pub list: Vec<String>,
    /// Words for values that are numbers from 0 on.
    pub words: BTreeMap<String, Vec<String>>,
    /// Options of the library, each `NAME` or `NAME=VALUE`.
    pub options: Option<Options>,
}

/// Options of a library.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The statement that lists them.
    pub sql: String,
    /// What stands before their names.
    pub prefix: String,
    /// How those begin that matter.
    pub starts: Vec<String>,
}

impl Config {
    /// Reads the file, over those of the stores that this one extends. Tables are joined, and a list that begins with "+" goes on. All else replaces what was
    /// there.
    ///
    /// # Errors
    /// What is wrong with them, in words.
    pub fn read<'a>(layers: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let said = |cause: toml::de::Error| cause.to_string();
        let mut table = toml::Table::new();
        for text in layers {
            join(&mut table, toml::from_str(text).map_err(said)?);
        }
        table.remove("extends");
        let config: Self = table.try_into().map_err(said)?;
        if config.format != 1 {
            return Err(format!("its format is {}; this version reads format 1", config.format));
        }
        for name in ["time", "series", "bool", "i64", "u16", "f64", "text", "tag_text", "tag_integer"] {
            if !config.types.contains_key(name) {
                return Err(format!("[types] lacks {name:?}"));
            }
        }
        Ok(config)
    }

    /// The name of a type.
    pub fn type_name(&self, name: &str) -> &str {
        self.types.get(name).map_or("", String::as_str)
    }

    /// What `[types]` calls a field's type.
    pub const fn field_word(kind: FieldType) -> &'static str {
        match kind {
            FieldType::Bool => "bool",
            FieldType::I64 => "i64",
            FieldType::U16 => "u16",
            FieldType::F64 => "f64",
            FieldType::Text => "text",
        }
    }

    /// The name of a field's type.
    pub fn field_type(&self, kind: FieldType) -> &str {
        self.type_name(Self::field_word(kind))
    }

    /// The type of a column of tags.
    pub fn tag_type(&self, column: &TagColumn) -> String {
        let name =
            self.type_name(if matches!(column, TagColumn::Text(_)) { "tag_text" } else { "tag_integer" });
        let length = if name.contains("{}") { longest(column) } else { 0 };
        name.replace("{}", &length.to_string())
    }

    /// Whether a tag has a value that is too long for an index.
    pub fn is_long(&self, column: &TagColumn) -> bool {
        self.text.longest_tag.is_some_and(|most| longest(column) > most)
    }

    /// The type of a field's sum.
    pub fn sum_type(&self, kind: FieldType) -> &str {
        self.type_name(if kind == FieldType::F64 { "f64" } else { "i64" })
    }

    /// The type of the column of time.
    pub fn time_type(&self, time: TimeKey) -> &str {
        self.type_name(if time == TimeKey::Native { "native_time" } else { "time" })
    }

    /// Ns in a unit of the column of time.
    pub fn unit_ns(&self, time: TimeKey) -> i64 {
        self.text.native_unit_ns.filter(|_| time == TimeKey::Native).unwrap_or(1)
    }

    /// The type of arrays of these elements.
    pub fn array_type(&self, element: &str) -> String {
        self.types.get("array").map_or_else(|| element.to_owned(), |array| array.replace("{}", element))
    }

    /// The most readings of one transaction of a table.
    pub fn most(&self, table: &Table, own_tags: bool) -> usize {
        let bytes = self.batch.most_bytes.unwrap_or(usize::MAX);
        self.batch.most.min(bytes / self.reading_bytes(table, own_tags).max(1)).max(1)
    }

    /// About how many bytes a reading takes on its way.
    pub fn reading_bytes(&self, table: &Table, own_tags: bool) -> usize {
        use sensormark_store::write_size::{field_value_bytes, tag_value_bytes};
        let known = |name: &str| self.batch.row_bytes.get(name).copied();
        let of = |name: &str| known(name).unwrap_or(8);
        let tags = if own_tags { of("series") } else { tag_value_bytes(table) };
        let value = |kind| known(Self::field_word(kind)).unwrap_or_else(|| of("number"));
        of("row") + tags + field_value_bytes(table, value)
    }
}

/// Characters of a tag's longest value, at least 1; 0 of numbers.
fn longest(column: &TagColumn) -> usize {
    match column {
        TagColumn::Text(values) => values.iter().map(|value| value.chars().count()).fold(1, usize::max),
        TagColumn::Integer(_) => 0,
    }
}

/// Puts a table over another one.
fn join(base: &mut toml::Table, own: toml::Table) {
    for (key, value) in own {
        match (base.get_mut(&key), value) {
            (Some(toml::Value::Table(base)), toml::Value::Table(own)) => join(base, own),
            (Some(toml::Value::Array(base)), toml::Value::Array(own))
                if own.first().and_then(toml::Value::as_str) == Some("+") =>
            {
                base.extend(own.into_iter().skip(1));
            }
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// A kind of failure.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub struct Kind {
    /// The kind.
    pub kind: ErrorKind,
    /// Whether it is not known whether the write was done: a `?` behind the kind's name.
    pub in_doubt: bool,
}

impl TryFrom<String> for Kind {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let name = text.strip_suffix('?').unwrap_or(&text);
        let kind = serde_json::from_value(name.into());
        let kind = kind.map_err(|_| format!("{text:?} is no kind of failure"))?;
        Ok(Self { kind, in_doubt: name != text })
    }
}
