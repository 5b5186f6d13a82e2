//! Tables and indexes to be made, as definitions that a dialect writes down.

/// What a table is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Readings, or records of a span.
    Readings,
    /// Tags of series.
    Tags,
    /// Sums kept at write time.
    Sums,
    /// Entities.
    Entity,
}

/// A table to be made. Names are quoted.
#[derive(Debug)]
pub struct TableDefinition {
    /// What it is for.
    pub purpose: Purpose,
    /// Its name.
    pub name: String,
    /// Its columns.
    pub columns: Vec<ColumnDefinition>,
    /// The columns of its primary key, as an index takes them; rows are kept in its order. Empty where it has none.
    pub primary_key: Vec<String>,
    /// Its indexes.
    pub indexes: Vec<IndexDefinition>,
    /// The columns that tell its rows apart, of readings those of the series and the time.
    pub key: Vec<String>,
    /// The columns that refer to the entity, and its table.
    pub foreign_key: Option<(Vec<String>, String)>,
    /// About how many readings are of one day, of a table of readings where it is known.
    pub readings_a_day: Option<f64>,
}

impl TableDefinition {
    /// The columns' definitions and the primary key's; a table of tags has its key in the column's, as `key`. `null` is said of columns that
    /// may be null.
    pub fn parts(&self, null: &str, key: &str) -> Vec<String> {
        let is_tags = self.purpose == Purpose::Tags;
        let definition = |column: &ColumnDefinition| {
            let ending = match column.nullable {
                _ if is_tags && self.primary_key == [column.name.as_str()] => key,
                true => null,
                false => " NOT NULL",
            };
            format!("{} {}{ending}", column.name, column.kind)
        };
        let mut parts: Vec<String> = self.columns.iter().map(definition).collect();
        if !is_tags && !self.primary_key.is_empty() {
            parts.push(format!("PRIMARY KEY ({})", self.primary_key.join(", ")));
        }
        parts
    }

    /// The definition of the foreign key, where there is one.
    pub fn reference(&self) -> Option<String> {
        let (columns, entity) = self.foreign_key.as_ref()?;
        let key = columns.join(", ");
        Some(format!("FOREIGN KEY ({key}) REFERENCES {entity} ({key})"))
    }
}

/// A column to be made.
#[derive(Debug)]
pub struct ColumnDefinition {
    /// Its name.
    pub name: String,
    /// Its type in the database's words.
    pub kind: String,
    /// Whether it may be null.
    pub nullable: bool,
}

/// An index to be made.
#[derive(Debug)]
pub struct IndexDefinition {
    /// What it is on.
    pub on: Indexed,
    /// Its columns.
    pub columns: Vec<String>,
    /// Whether no two rows agree in them.
    pub unique: bool,
}

/// What an index is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indexed {
    /// The series alone.
    Series,
    /// Series and time.
    SeriesTime,
    /// The tag with this number.
    Tag(usize),
}
