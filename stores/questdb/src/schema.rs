//! The layouts on offer, and what the others lack; tables under the plan's database's name.
//!
//! How a layout becomes tables is the relational planner's, with the choices in [`crate::dialect`].

pub(crate) mod missing;

use crate::dialect::QuestdbDialect;
use missing::missing;
use sensormark_kit::offer;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_store::lines::Lines;
use sensormark_store::text::Page;
use sensormark_store::{
    Capability, DefaultSelection, Family, Index, Layout, LayoutOption, Operation, Schema, SeriesKey,
    StoreError, Table, TimeKey,
};
use std::sync::Arc;

#[cfg(test)]
mod pins;

/// Stands for the plan's database in names of tables until a statement is sent, because a physical schema is shared among plans.
pub(crate) const DATABASE: &str = "{database}";

/// What this store offers for a schema and a family.
pub(crate) fn layouts(schema: &Schema, family: Family) -> Vec<LayoutOption> {
    if family != Family::PerReading {
        return Vec::new();
    }
    let usual = Layout::row_per_reading().with_time(TimeKey::Native);
    let mut offers = vec![offer(
        "",
        usual,
        DefaultSelection::Usual,
        "row a reading in the order of its TIMESTAMP_NS, a partition a month, day or hour by their number a day, tags SYMBOL with an INDEX on those that tell series apart, DEDUP UPSERT KEYS",
    )];
    if schema.has_tags() {
        let layout = usual.with_index(Index::None);
        offers.push(offer(
            "no-index",
            layout,
            DefaultSelection::Further,
            "the same without an index on symbols: a question reads its range of time",
        ));
    }
    offers
}

/// Why an entity and its reading are two commits.
pub(crate) const NO_COMMON_COMMIT: &str = "a transaction of QuestDB's is of one table; choose two commits";

/// How the store does an operation.
pub(crate) fn capability(operation: Operation, layout: &Layout, _: &Table) -> Capability {
    if let Some(missing) = missing(layout) {
        return Capability::Unsupported(missing);
    }
    match operation {
        Operation::UpsertAtomically => Capability::Unsupported(NO_COMMON_COMMIT.to_owned()),
        Operation::FromSums | Operation::ExtremesOfPartsFromSums => {
            Capability::Unsupported("no sums are kept at write time".to_owned())
        }
        _ => Capability::Native,
    }
}

/// A plan's tables: as the relational planner has them, and as lines name them.
pub struct Tables {
    /// The tables.
    pub(crate) physical: PhysicalSchema,
    /// One a table.
    pub(crate) lines: Vec<TableLines>,
}

/// A table's lines.
pub(crate) struct TableLines {
    /// What follows the head.
    pub(crate) lines: Lines,
    /// For each series, what stands between the database's name and the fields.
    pub(crate) heads: Vec<Box<[u8]>>,
    /// The same of the entities' lines, where the table has entities.
    pub(crate) entity_heads: Vec<Box<[u8]>>,
}

/// What is escaped in names and values of symbols.
const IN_SYMBOLS: &[u8] = b",= \n\r\\";

impl Tables {
    /// The tables for a schema and a layout.
    pub(crate) fn new(schema: &Arc<Schema>, layout: Layout) -> Result<Self, StoreError> {
        let mut physical = PhysicalSchema::new(&QuestdbDialect, schema, layout)?;
        for table in &mut physical.tables {
            let bare = table.name.trim_matches('"');
            table.name = format!("\"{DATABASE}.{bare}\"");
            if let Some(entity) = &mut table.entity {
                let bare = entity.name.trim_matches('"');
                entity.name = format!("\"{DATABASE}.{bare}\"");
            }
        }
        Ok(Self { physical, lines: schema.tables.iter().map(TableLines::new).collect() })
    }
}

impl TableLines {
    fn new(table: &Table) -> Self {
        let all: Vec<usize> = (0..table.tags.len()).collect();
        let key = SeriesKey::of(table);
        let entity = table.entity.as_ref();
        let entity_heads = entity.map(|entity| heads(table, &entity.name, key.tags()));
        let fields = table.fields.iter().map(|field| &field.name);
        Self {
            lines: Lines::new(fields, false).with_escaped_breaks(),
            heads: heads(table, &table.name, &all),
            entity_heads: entity_heads.unwrap_or_default(),
        }
    }
}

/// For each series, a table's name, the symbols of these tags, and a blank.
fn heads(table: &Table, name: &str, tags: &[usize]) -> Vec<Box<[u8]>> {
    let head = |series: u32| {
        let mut page = Page::default();
        page.put(name.as_bytes());
        for &tag in tags {
            page.put_byte(b',');
            page.put(table.tags[tag].name.as_bytes());
            page.put_byte(b'=');
            page.put_escaped(&table.series.columns()[tag].text(series), IN_SYMBOLS);
        }
        page.put_byte(b' ');
        page.written().into()
    };
    (0..table.series.len()).map(head).collect()
}

/// A statement with the database's name in it.
pub(crate) fn in_database(text: &str, database: &str) -> String {
    text.replace(DATABASE, database)
}

/// The name of a table of this database, without quotes.
pub(crate) fn table_name(database: &str, table: &str) -> String {
    format!("{database}.{table}")
}

/// The tables of a database that are written to: readings, and entities where there are some. Without quotes.
pub(crate) fn written_tables(database: &str, table: &Table) -> Vec<String> {
    let entity = table.entity.as_ref().map(|entity| &entity.name);
    let names = [Some(&table.name), entity].into_iter().flatten();
    names.map(|name| table_name(database, name)).collect()
}
