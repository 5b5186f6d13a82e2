//! A plan's schema in a layout of a store's file: tables, templates, and the statements that were rendered of them, shared by all sessions.

use crate::files::Files;
use crate::layouts;
use crate::question::{Asked, Planned, Shape};
use crate::table::{OWNER_TABLE, TableShape};
use crate::template::Templates;
use crate::text;
use sensormark_drivers::RowShape;
use sensormark_kit::MOST_SHAPES;
use sensormark_store::{
    DaySplit, ErrorKind, Layout, Plan, Schema, Shape as LayoutShape, StoreError, TagPlacement, TimeKey,
};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A plan's schema as a database keeps it.
pub struct Physical {
    /// The store's files.
    pub files: Arc<Files>,
    /// The layout's block.
    pub block: String,
    /// Its templates.
    pub templates: Arc<Templates>,
    /// What readings look like.
    pub schema: Arc<Schema>,
    /// How they are kept.
    pub layout: Layout,
    /// One a table of the schema.
    pub tables: Vec<TableShape>,
    planned: Mutex<HashMap<Shape, Arc<Planned>>>,
    row_shape: OnceLock<RowShape>,
}

impl Physical {
    /// What a plan's schema becomes.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a layout that the store does not offer for it; [`ErrorKind::Configuration`] for a table that is named as the owner's.
    pub fn new(files: &Arc<Files>, plan: &Plan) -> Result<Self, StoreError> {
        let offers = layouts::offers(&files.file, &plan.schema, layouts::family_of(plan.layout.shape));
        let block = layouts::block_of(&files.file, plan.layout);
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
        let own_tags = plan.layout.tags == TagPlacement::OwnTable;
        let table = |number| {
            let (config, database) = (&files.config, plan.database.as_str());
            let mut table =
                TableShape::new(config, database, &plan.schema, number, own_tags, plan.layout.shape);
            if plan.layout.time == TimeKey::Native {
                table.context.insert("time_type".to_owned(), config.type_name("native_time").into());
            }
            table
        };
        Ok(Self {
            block: block.name.clone(),
            templates: files.templates(&block.name),
            files: Arc::clone(files),
            schema: Arc::clone(&plan.schema),
            layout: plan.layout,
            tables: (0..plan.schema.tables.len()).map(table).collect(),
            planned: Mutex::default(),
            row_shape: OnceLock::new(),
        })
    }

    /// What is said of the layout with this word.
    pub fn option(&self, word: &str) -> Option<&str> {
        layouts::option(&self.files.file.lineage(&self.block), word)
    }

    /// Ns in a unit of the column of time.
    pub fn unit_ns(&self) -> i64 {
        match self.layout.time {
            TimeKey::Native => self.files.config.text.native_unit_ns.unwrap_or(1),
            TimeKey::Nanoseconds => 1,
        }
    }

    /// A bound of a range in the unit of the column of time: the first that is not before it.
    pub fn in_unit(&self, time_ns: i64) -> i64 {
        let unit = self.unit_ns();
        if unit == 1 { time_ns } else { time_ns.div_euclid(unit) + i64::from(time_ns.rem_euclid(unit) > 0) }
    }

    /// The name of the type of the column of time.
    pub fn time_type(&self) -> &str {
        let name = if self.layout.time == TimeKey::Native { "native_time" } else { "time" };
        self.files.config.type_name(name)
    }

    /// The length of a record's span in ns, in layouts with records.
    pub const fn span_ns(&self) -> Option<i64> {
        match self.layout.shape {
            LayoutShape::RecordPerSpan { span_ns, .. } => Some(span_ns),
            _ => None,
        }
    }

    /// The period of sums in ns and how they split the day, in layouts with sums.
    pub const fn summary(&self) -> Option<(i64, DaySplit)> {
        match self.layout.shape {
            LayoutShape::Summary { per_ns, split } => Some((per_ns, split)),
            _ => None,
        }
    }

    /// How readings become rows.
    pub fn row_shape(&self) -> RowShape {
        *self.row_shape.get_or_init(|| match self.option("rows") {
            Some("fields") => RowShape::Fields,
            Some("records") => RowShape::Records(self.span_ns().unwrap_or(1)),
            _ => RowShape::Readings,
        })
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
        let mut context = self.tables[table].context.clone();
        context.insert("chosen".to_owned(), context["fields"].clone());
        context.insert("of".to_owned(), "all".into());
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
                if is_there && self.templates.defines(statement) {
                    made.extend(text::statements(&self.text(number, statement)?));
                }
            }
        }
        Ok(made)
    }

    /// The statements for a question, rendered when the first of its shape is asked.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for what the layout cannot answer.
    pub fn planned(&self, shape: &Shape, asked: &Asked<'_>) -> Result<Arc<Planned>, StoreError> {
        let lock = || self.planned.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(shape) {
            return Ok(Arc::clone(known));
        }
        let planned = Arc::new(Planned::new(asked)?);
        let mut all = lock();
        if all.len() >= MOST_SHAPES {
            all.clear();
        }
        all.insert(shape.clone(), Arc::clone(&planned));
        Ok(planned)
    }
}

/// A template that does not render.
pub fn wrong_template(cause: String) -> StoreError {
    StoreError::new(ErrorKind::Configuration, "render a statement", cause)
}
