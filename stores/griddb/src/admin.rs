//! What makes, settles, inspects and drops one sensormark database: the containers of its name.
//!
//! GridDB's C client cannot make databases, so a database is a prefix of containers' names, with an owner's mark in a container of its own. Only
//! containers of a name that starts so, and of a database that bears the plan's mark, are touched.

use crate::client::{Connection, Failure, Row};
use crate::config::Options;
use crate::containers::open;
use crate::error::{mapped, unexpected};
use crate::rest::Rest;
use crate::schema::{
    PhysicalSchema, Rows, SPAN, belongs, entities_shape, owned, owner, owner_shape, tags_shape,
};
use crate::session::check_durability;
use sensormark_kit::{BackendAdministrator, Found};
use sensormark_store::{DatabaseName, Endpoint, ErrorKind, Plan, Setting, Size, StoreError, TagColumn};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a checkpoint may take.
const SETTLE: Duration = Duration::from_secs(300);

/// The settings that matter for speed and durability, by group and name. None of them holds a path, a host or a secret.
const SETTINGS: [(&str, &str); 24] = [
    ("dataStore", "partitionNum"),
    ("dataStore", "storeBlockSize"),
    ("dataStore", "storeMemoryLimit"),
    ("dataStore", "storeCompressionMode"),
    ("dataStore", "storeWarmStart"),
    ("dataStore", "concurrency"),
    ("dataStore", "logWriteMode"),
    ("dataStore", "logMemoryLimit"),
    ("dataStore", "persistencyMode"),
    ("dataStore", "affinityGroupSize"),
    ("dataStore", "dbFileSplitCount"),
    ("dataStore", "resultSetMemoryLimit"),
    ("checkpoint", "checkpointInterval"),
    ("checkpoint", "checkpointMemoryLimit"),
    ("checkpoint", "partialCheckpointInterval"),
    ("checkpoint", "useParallelMode"),
    ("transaction", "connectionLimit"),
    ("transaction", "totalMemoryLimit"),
    ("transaction", "transactionTimeoutLimit"),
    ("transaction", "replicationMode"),
    ("transaction", "workMemoryLimit"),
    ("sql", "storeMemoryLimit"),
    ("sql", "workMemoryLimit"),
    ("sql", "concurrency"),
];

/// The administrator of a plan's database.
pub struct GriddbAdministrator {
    connection: Connection,
    options: Options,
    plan: Plan,
    physical: Arc<PhysicalSchema>,
}

/// The server's version. A server of our own joins its cluster when it is first asked.
pub(crate) fn version(endpoint: &Endpoint) -> Result<String, StoreError> {
    const OPERATION: &str = "ask GridDB for its version";
    let time_out = Duration::from_secs(5);
    let options = Options::parse(endpoint.url.expose())?;
    let rest = Rest::new(&options, time_out);
    let state = rest.state()?;
    rest.check(OPERATION, &state)?;
    let status = &state["cluster"]["nodeStatus"];
    if endpoint.managed && status == "INACTIVE" {
        rest.join()?;
    }
    if status != "ACTIVE" {
        let text = format!(
            "the node is {status}, not ACTIVE: it is joining its cluster, or must be told to (gs_joincluster)"
        );
        return Err(StoreError::new(ErrorKind::Unavailable, OPERATION, text).with_doubt(false));
    }
    let failed = |failure| mapped(OPERATION, failure);
    let connection = open(&options, time_out)?;
    // says why nobody is reached, which a question to all partitions does not
    let asked = connection.container(&owner(DatabaseName::PREFIX));
    asked.map_err(failed)?;
    // an active node may not serve all of its partitions yet
    connection.ask_all_partitions().map_err(failed)?;
    let version = state["version"].as_str();
    let version = version.ok_or_else(|| unexpected(OPERATION, "it states none"))?;
    Ok(version.to_owned())
}

impl GriddbAdministrator {
    /// Connects.
    pub(crate) fn open(plan: &Plan, physical: Arc<PhysicalSchema>) -> Result<Self, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        check_durability(plan, &options)?;
        Ok(Self {
            connection: open(&options, Duration::from_millis(plan.timeout_ms))?,
            options,
            plan: plan.clone(),
            physical,
        })
    }

    fn name(&self) -> &str {
        self.plan.database.as_str()
    }

    /// The mark in a database's container for it; none where the container is not there, or is dropped meanwhile (the client remembers containers).
    fn mark(&self, database: &str) -> Result<Option<String>, StoreError> {
        match self.read_mark(&owner(database)) {
            Ok(mark) => Ok(mark),
            Err(failure) => {
                let error = mapped("read the owner's mark", failure);
                if error.kind() == ErrorKind::NotFound {
                    return Ok(None);
                }
                Err(error)
            }
        }
    }

    fn read_mark(&self, container: &str) -> Result<Option<String>, Failure> {
        let Some(container) = self.connection.container(container)? else {
            return Ok(None);
        };
        let mut rows = container.rows(1)?;
        let row = &mut rows[0];
        if !container.row_by_integer(0, row)? {
            return Ok(None);
        }
        Ok(Some(row.cells().text(1)?.to_owned()))
    }

    /// The containers of a database.
    fn containers(&self, database: &str) -> Result<Vec<String>, StoreError> {
        let mut names = self.connection.names().map_err(|failure| mapped("list containers", failure))?;
        names.retain(|name| belongs(name, database));
        Ok(names)
    }

    fn make_table(&self, number: usize) -> Result<(), StoreError> {
        let failed = |failure: Failure| mapped("make a table's containers", failure);
        let table = &self.physical.schema.tables[number];
        let shape = self.physical.readings_shape(table);
        for series in 0..table.series.len() {
            let name = self.physical.readings(self.name(), number, series);
            let container = self.connection.put_container(&name, &shape).map_err(failed)?;
            if let Rows::Record { .. } = self.physical.rows {
                container.create_index(SPAN).map_err(failed)?;
            }
        }
        if let Some(shape) = entities_shape(table) {
            let name = self.physical.entities(self.name(), number);
            self.connection.put_container(&name, &shape).map_err(failed)?;
        }
        if table.tags.is_empty() {
            return Ok(());
        }
        self.fill_tags(number).map_err(failed)
    }

    /// Makes a table's container of tags, a row a series.
    fn fill_tags(&self, number: usize) -> Result<(), Failure> {
        const TOGETHER: usize = 1_000;
        let table = &self.physical.schema.tables[number];
        let name = self.physical.tags(self.name(), number);
        let container = self.connection.put_container(&name, &tags_shape(table))?;
        for tag in &table.tags {
            container.create_index(&tag.name)?;
        }
        let fill = |row: &mut Row, series: u32| -> Result<(), Failure> {
            row.set_integer(0, series.cast_signed())?;
            for (at, values) in (1..).zip(table.series.columns()) {
                match values {
                    TagColumn::Text(values) => row.set_text(at, &values[series as usize])?,
                    TagColumn::Integer(values) => row.set_long(at, values[series as usize])?,
                }
            }
            Ok(())
        };
        let all: Vec<u32> = (0..table.series.len()).collect();
        for part in all.chunks(TOGETHER) {
            let mut rows = container.rows(part.len())?;
            for (row, &series) in rows.iter_mut().zip(part) {
                fill(row, series)?;
            }
            container.put_rows(&rows)?;
        }
        Ok(())
    }

    /// Drops these containers, that of the mark last, so that what a crash leaves still bears it.
    fn drop_containers(&self, containers: &[String]) -> Result<(), StoreError> {
        let own = owner(self.name());
        let others = containers.iter().filter(|name| **name != own);
        for name in others.chain(std::iter::once(&own)) {
            let dropped = self.connection.drop_container(name);
            dropped.map_err(|failure| mapped("drop a container", failure))?;
        }
        Ok(())
    }

    fn rest(&self) -> Rest<'_> {
        Rest::new(&self.options, Duration::from_secs(30))
    }

    /// A manual checkpoint, to its end.
    fn checkpoint(&self) -> Result<(), StoreError> {
        const OPERATION: &str = "settle GridDB";
        let count = || -> Result<Option<i64>, StoreError> {
            let state = self.rest().state()?;
            // a node that has given up takes the order, and never follows it
            self.rest().check(OPERATION, &state)?;
            Ok(state["checkpoint"]["requestedCheckpointOperation"].as_i64())
        };
        let before =
            count()?.ok_or_else(|| unexpected(OPERATION, "the server does not count its checkpoints"))?;
        self.rest().checkpoint()?;
        let started = Instant::now();
        while started.elapsed() < SETTLE {
            std::thread::sleep(Duration::from_millis(50));
            if count()?.is_some_and(|count| count > before) {
                return Ok(());
            }
        }
        let text = format!("the checkpoint is not done after {} s", SETTLE.as_secs());
        Err(StoreError::new(ErrorKind::Timeout, OPERATION, text))
    }

    fn read_settings(&self) -> Result<Vec<Setting>, StoreError> {
        let all = self.rest().settings()?;
        let setting = |&(group, name): &(&str, &str)| {
            let value = match &all[group][name] {
                Value::Null => return None,
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            Some(Setting { name: format!("{group}.{name}"), value })
        };
        Ok(SETTINGS.iter().filter_map(setting).collect())
    }

    /// The server's description of a container of each kind.
    fn describe(&self) -> Result<Vec<String>, StoreError> {
        let mut texts = Vec::new();
        for (number, table) in self.physical.schema.tables.iter().enumerate() {
            let series = table.series.len();
            let first = self.physical.readings(self.name(), number, 0);
            let others = (series > 1).then(|| format!("\n  and {} more like it, one a series", series - 1));
            let own = [
                (first, others.unwrap_or_default()),
                (self.physical.tags(self.name(), number), String::new()),
                (self.physical.entities(self.name(), number), String::new()),
            ];
            for (name, more) in own {
                let described = self.connection.described(&name);
                let described = described.map_err(|failure| mapped("show the schema", failure))?;
                texts.extend(described.map(|text| text + &more));
            }
        }
        Ok(texts)
    }

    /// The files of the node's store, and its log.
    fn occupied(&self) -> Result<Size, StoreError> {
        let state = self.rest().state()?;
        let bytes = |name: &str| state["performance"][name].as_u64();
        // Blocks in use: files keep the blocks of what was dropped, and grow only when those are used up.
        let total_bytes =
            bytes("storeTotalUse").ok_or_else(|| unexpected("read the size", "the server states none"))?;
        Ok(Size { total_bytes, log_bytes: None })
    }
}

impl BackendAdministrator for GriddbAdministrator {
    async fn found(&mut self, name: &str) -> Result<Found, StoreError> {
        if let Some(owner) = self.mark(name)? {
            return Ok(Found::with_mark(Some(owner), name));
        }
        Ok(match self.containers(name)?.as_slice() {
            [] => Found::Nothing,
            // The one that its mark was to be in.
            [only] if *only == owner(name) => Found::Empty,
            _ => Found::Unmarked,
        })
    }

    async fn contents(&mut self) -> Result<Vec<String>, StoreError> {
        self.containers(self.name())
    }

    fn expected(&self) -> Vec<String> {
        let mut names = vec![owner(self.name())];
        for (number, table) in self.physical.schema.tables.iter().enumerate() {
            let series = 0..table.series.len();
            names.extend(series.map(|series| self.physical.readings(self.name(), number, series)));
            names.push(self.physical.tags(self.name(), number));
            names.push(self.physical.entities(self.name(), number));
        }
        names
    }

    async fn make(&mut self) -> Result<(), StoreError> {
        let failed = |failure: Failure| mapped("make a database", failure);
        let container = self.connection.put_container(&owner(self.name()), &owner_shape()).map_err(failed)?;
        let mut rows = container.rows(1).map_err(failed)?;
        rows[0].set_integer(0, 0).map_err(failed)?;
        rows[0].set_text(1, &self.plan.owner).map_err(failed)?;
        container.put(&rows[0]).map_err(failed)?;
        (0..self.physical.schema.tables.len()).try_for_each(|table| self.make_table(table))
    }

    async fn remove(&mut self) -> Result<(), StoreError> {
        let containers = self.containers(self.name())?;
        self.drop_containers(&containers)
    }

    async fn names(&mut self) -> Result<Vec<String>, StoreError> {
        let names = self.connection.names();
        let names = names.map_err(|failure| mapped("list containers", failure))?;
        Ok(names.iter().filter_map(|name| owned(name).map(str::to_owned)).collect())
    }

    async fn settle(&mut self) -> Result<(), StoreError> {
        self.checkpoint()
    }

    async fn settings(&mut self) -> Result<Vec<Setting>, StoreError> {
        self.read_settings()
    }

    async fn schema_text(&mut self) -> Result<Vec<String>, StoreError> {
        self.describe()
    }

    async fn size(&mut self) -> Result<Size, StoreError> {
        self.occupied()
    }
}
