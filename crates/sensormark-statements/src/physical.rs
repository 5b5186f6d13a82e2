//! A plan's schema in a layout of a store's file: tables, templates, and the statements that were rendered of them, shared by all sessions.

use crate::files::Files;
use crate::layouts;
use crate::question::{Asked, Statement};
use crate::table::{OWNER_TABLE, TableShape};
use crate::template::Templates;
use crate::text;
use minijinja::context;
use sensormark_drivers::RowShape;
use sensormark_kit::tagged::TaggedSeries;
use sensormark_kit::{Key, MOST_SHAPES};
use sensormark_store::{
    Ask, DaySplit, ErrorKind, Layout, Plan, Query, Schema, Selection, Shape as LayoutShape, StoreError,
};
use std::sync::{Arc, Mutex, PoisonError};

/// A plan's schema as a database keeps it.
pub struct Physical {
    /// The store's files.
    pub files: Arc<Files>,
    /// The layout's block.
    pub block: String,
    /// Its templates.
    pub templates: Arc<Templates>,
    /// The database's name.
    pub database: String,
    /// What readings look like.
    pub schema: Arc<Schema>,
    /// How they are kept.
    pub layout: Layout,
    /// How readings become rows.
    pub rows: RowShape,
    /// One a table of the schema.
    pub tables: Vec<TableShape>,
    tagged: TaggedSeries,
    planned: Mutex<Vec<(Query, Arc<[Statement]>)>>,
}

impl Physical {
    /// What a plan's schema becomes.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a layout that the store does not offer for it; [`ErrorKind::Configuration`] for a table that is named as the owner's.
    pub fn new(files: &Arc<Files>, plan: &Plan) -> Result<Self, StoreError> {
        let offers = layouts::offers(files, &plan.schema, layouts::family_of(plan.layout.shape));
        let block = files.block_of(plan.layout);
        let Some(block) = block.filter(|_| offers.iter().any(|offer| offer.layout == plan.layout)) else {
            let title = &files.config.title;
            let reason = format!("{title} does not offer it for this schema; see `sensormark list`");
            return Err(StoreError::unsupported("use a layout", reason));
        };
        if plan.schema.tables.iter().any(|table| table.name == OWNER_TABLE) {
            return Err(StoreError::new(
                ErrorKind::Configuration,
                "use a schema",
                format!("a table may not be named {OWNER_TABLE}: that is where the owner's mark is kept"),
            ));
        }
        let rows = match (layouts::option(&files.file.lineage(&block.name), "rows"), plan.layout.shape) {
            (Some("fields"), _) => RowShape::Fields,
            (Some("records"), LayoutShape::RecordPerSpan { span_ns, .. }) => RowShape::Records(span_ns),
            (Some("records"), LayoutShape::GrowingArray) => RowShape::Records(i64::MAX),
            _ => RowShape::Readings,
        };
        let tables = 0..plan.schema.tables.len();
        Ok(Self {
            block: block.name.clone(),
            templates: files.templates(&block.name),
            files: Arc::clone(files),
            database: plan.database.as_str().to_owned(),
            schema: Arc::clone(&plan.schema),
            layout: plan.layout,
            rows,
            tables: tables.map(|table| TableShape::new(&files.config, plan, table, rows)).collect(),
            tagged: TaggedSeries::new(&plan.schema),
            planned: Mutex::default(),
        })
    }

    /// The question about a tag's series in place of the one about the tag, where the store wants it.
    pub fn named(&self, query: &Query) -> Option<Query> {
        let (slots, keys) = (&self.files.config.slots, self.tables.get(query.table)?.series.keys().len());
        let said = self
            .option("named")
            .map(|text| text.split_once(" of latest").map_or((text, false), |one| (one.0, true)));
        let (said, of_latest) =
            said.map_or((None, false), |(number, of_latest)| (number.parse().ok(), of_latest));
        let begins =
            |tag| matches!(self.tables[query.table].series.keys(), [Key::Tag(key), ..] if *key == tag);
        let most = match query.ask {
            Ask::LastReading { .. } if said.is_some() => said.unwrap_or_default(),
            // An index that begins with the tag finds its series by itself.
            _ if !of_latest && matches!(query.series, Selection::Tagged { tag, .. } if !begins(tag)) => {
                said.unwrap_or(slots.named / keys.max(1))
            }
            Ask::LastReading { .. } if keys == 1 => slots.named.max(slots.named_latest),
            _ => slots.named / keys.max(1),
        };
        self.tagged.named(query, most)
    }

    /// Whether it is what this plan's schema becomes.
    pub fn is_of(&self, plan: &Plan) -> bool {
        let is_same = self.layout == plan.layout && self.database == plan.database.as_str();
        is_same && Arc::ptr_eq(&self.schema, &plan.schema)
    }

    /// What is said of the layout with this word.
    pub fn option(&self, word: &str) -> Option<&str> {
        layouts::option(&self.files.file.lineage(&self.block), word)
    }

    /// Ns in a unit of the column of time.
    pub fn unit_ns(&self) -> i64 {
        self.files.config.unit_ns(self.layout.time)
    }

    /// A bound of a range in the unit of the column of time: the first that is not before it.
    pub fn in_unit(&self, time_ns: i64) -> i64 {
        let unit = self.unit_ns();
        if unit == 1 { time_ns } else { time_ns.div_euclid(unit) + i64::from(time_ns.rem_euclid(unit) > 0) }
    }

    /// The length of a record's or bucket's span in ns.
    pub const fn span_ns(&self) -> Option<i64> {
        match self.layout.shape {
            LayoutShape::RecordPerSpan { span_ns, .. } | LayoutShape::Bucketed { per_ns: span_ns, .. } => {
                Some(span_ns)
            }
            _ => None,
        }
    }

    /// The period of sums in ns and how they split the day, in layouts with sums or buckets.
    pub const fn summary(&self) -> Option<(i64, DaySplit)> {
        match self.layout.shape {
            LayoutShape::Summary { per_ns, split } | LayoutShape::Bucketed { per_ns, split, .. } => {
                Some((per_ns, split))
            }
            _ => None,
        }
    }

    /// A statement that is no question, with placeholders, and the names of its slots; empty where there is none.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] when its template is wrong.
    pub fn rendered(&self, table: usize, statement: &str) -> Result<(String, Vec<String>), StoreError> {
        let text = self.text(table, statement)?;
        Ok(text::numbered(&text, &self.files.config.slots.style))
    }

    /// The same with the slots' names in it.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] when its template is wrong.
    pub fn text(&self, table: usize, statement: &str) -> Result<String, StoreError> {
        let table = &self.tables[table];
        let context = context! { chosen => table.fields, of => "all", ..table.context.clone() };
        self.templates.render(statement, &context).map_err(wrong_template)
    }

    /// The statements that make tables and indexes, entities first: readings may refer to them.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] when a template is wrong.
    pub fn made(&self) -> Result<Vec<String>, StoreError> {
        let mut made = Vec::new();
        for (number, table) in self.schema.tables.iter().enumerate() {
            for statement in
                ["create_entities", "create", "index", "create_tags", "index_tags", "create_sums"]
            {
                let is_there = match statement {
                    "create_entities" => table.entity.is_some(),
                    "create_tags" | "index_tags" => self.tables[number].own_tags,
                    _ => true,
                };
                if is_there {
                    let texts = text::statements(&self.text(number, statement)?);
                    let is_new = |text: &String| !made.contains(text);
                    let new: Vec<String> = texts.into_iter().filter(is_new).collect();
                    made.extend(new);
                }
            }
        }
        Ok(made)
    }

    /// The statements for a question of this shape, rendered when the first of it is asked.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for what the layout cannot answer.
    pub fn planned(&self, shape: &Query, asked: &Asked<'_>) -> Result<Arc<[Statement]>, StoreError> {
        let mut all = self.planned.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = all.iter().find(|(other, _)| other == shape) {
            return Ok(Arc::clone(known));
        }
        let planned: Arc<[Statement]> = asked.planned()?.into();
        if all.len() >= MOST_SHAPES {
            all.clear();
        }
        all.push((shape.clone(), Arc::clone(&planned)));
        Ok(planned)
    }
}

/// A template that does not render.
pub fn wrong_template(cause: String) -> StoreError {
    StoreError::new(ErrorKind::Configuration, "render a statement", cause)
}
