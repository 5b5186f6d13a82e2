//! The contract's store, made of a store's files and a driver.

use crate::admin::FileAdministrator;
use crate::files::Files;
use crate::layouts::{block_of, offers, option};
use crate::link::Link;
use crate::physical::Physical;
use crate::question::{NO_SUMS, derived_statement};
use crate::server;
use crate::session::FileSession;
use crate::write::{TWO_COMMITS, sizes};
use sensormark_drivers::{Databases, Driver, Place, Purpose};
use sensormark_kit::administrator;
use sensormark_kit::folder;
use sensormark_store::client_side::IN_THE_CLIENT;
use sensormark_store::server::{KEEPS_TO_LOOPBACK, ServerFolder};
use sensormark_store::{
    Administrator, Capability, Clusters, Description, Endpoint, Family, Installation, Launch, Layout,
    LayoutOption, Limits, LocalFuture, Logs, ONE_SERVER, Operation, Plan, RepeatedWrite, Schema,
    ServerOptions, Session, Store, StoreError, Table, TagPlacement, TimeKey, TimeResolution, WriteSize,
};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Why nothing is updated beside a reading.
const NO_ENTITY: &str = "the table has no entity";
/// How long the question for the version may take.
const VERSION: Duration = Duration::from_secs(10);

/// A store that is files.
pub struct FileStore {
    files: Arc<Files>,
    driver: Arc<dyn Driver>,
    /// What the schema of the latest plan became.
    latest: Mutex<Option<Arc<Physical>>>,
}

impl FileStore {
    /// The store of these files, `store.toml` and statements, over those of the stores that it extends, the farthest first. It connects to nothing by itself.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn new(layers: &[(&str, &str)], driver: Arc<dyn Driver>) -> Result<Self, String> {
        Ok(Self { files: Arc::new(Files::read(layers)?), driver, latest: Mutex::default() })
    }

    /// What a plan's schema becomes, which all of its sessions share.
    ///
    /// # Errors
    /// As [`Physical::new`].
    pub fn physical(&self, plan: &Plan) -> Result<Arc<Physical>, StoreError> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        match latest.as_ref().filter(|known| known.is_of(plan)) {
            Some(known) => Ok(Arc::clone(known)),
            None => Ok(Arc::clone(latest.insert(Arc::new(Physical::new(&self.files, plan)?)))),
        }
    }

    /// What is said of a layout with this word.
    fn option(&self, layout: &Layout, word: &str) -> Option<&str> {
        let block = block_of(&self.files.file, *layout)?;
        option(&self.files.file.lineage(&block.name), word)
    }

    /// Why the client does what a statement is for.
    fn in_the_client(&self, layout: &Layout, statement: &str) -> Option<String> {
        let block = block_of(&self.files.file, *layout)?;
        self.files.templates(&block.name).in_the_client(statement).map(str::to_owned)
    }

    /// Whether a layout has a statement; where it has none, why the client answers.
    fn answers(&self, layout: &Layout, statement: &str) -> Capability {
        let Some(block) = block_of(&self.files.file, *layout) else {
            let reason = format!("{} does not have this layout", self.files.config.title);
            return Capability::Unsupported(reason);
        };
        if let Some(reason) = self.in_the_client(layout, statement) {
            return Capability::ClientSide(reason);
        }
        let templates = self.files.templates(&block.name);
        if templates.defines(statement) || (statement == "latest" && templates.defines("latest_times")) {
            return Capability::Native;
        }
        Capability::ClientSide(self.option(layout, "in the client").unwrap_or(IN_THE_CLIENT).to_owned())
    }
}

impl Store for FileStore {
    fn description(&self) -> Description {
        let config = &self.files.config;
        let classes = config.durability.classes.iter();
        Description {
            name: config.name.clone(),
            title: config.title.clone(),
            embedded: self.driver.databases() != Databases::Server,
            session: self.driver.session(),
            durability: classes.map(|(&name, class)| (name, class.promise.clone())).collect(),
            url_example: config.url.clone(),
            repeated_write: config.repeated,
            logs: Logs { names: config.logs.names.clone(), bound: config.logs.bound.clone() },
        }
    }

    fn layouts(&self, schema: &Schema, family: Family) -> Vec<LayoutOption> {
        offers(&self.files, schema, family)
    }

    fn capability(&self, operation: Operation, layout: &Layout, table: &Table) -> Capability {
        let refused = match operation {
            Operation::UpsertAtomically => {
                self.option(layout, TWO_COMMITS).or_else(|| self.driver.two_commits())
            }
            Operation::SearchWithoutBound => self.option(layout, "search without a bound"),
            _ => None,
        };
        if let Some(reason) = refused {
            return Capability::Unsupported(reason.to_owned());
        }
        let part = match operation {
            Operation::AggregateByWindow => "windows",
            Operation::AggregateByDayPart => "day_parts",
            Operation::AggregateAcrossSeries => "across_series",
            _ => "",
        };
        let statement = match operation {
            _ if self.in_the_client(layout, part).is_some() => part,
            Operation::UpsertSeparately | Operation::UpsertAtomically if table.entity.is_none() => {
                return Capability::Unsupported(NO_ENTITY.to_owned());
            }
            Operation::FromSums | Operation::ExtremesOfPartsFromSums => {
                return match self.answers(layout, "sums") {
                    Capability::ClientSide(_) => Capability::Unsupported(NO_SUMS.to_owned()),
                    other => other,
                };
            }
            Operation::RangeOfSomeFields => {
                if let Some(reason) = self.option(layout, "some fields") {
                    return Capability::ClientSide(reason.to_owned());
                }
                "range"
            }
            Operation::Write | Operation::UpsertSeparately | Operation::UpsertAtomically => "insert",
            Operation::Point => "point",
            Operation::Range => "range",
            Operation::Search | Operation::SearchWithoutBound => "first",
            Operation::Minimum => "minimum",
            Operation::TimeWeightedShare => "shares",
            Operation::MostFrequent => "most_frequent_values",
            Operation::LastReading => "latest",
            Operation::SeriesMatching => "matching",
            derived if derived.is_derived() => &derived_statement(derived),
            _ => "aggregate",
        };
        self.answers(layout, statement)
    }

    fn limits(&self, layout: &Layout, table: &Table) -> Limits {
        let config = &self.files.config;
        let own_tags = layout.tags == TagPlacement::OwnTable;
        let keys = if own_tags { table.tags.len().min(1) } else { table.tags.len() };
        let width = keys + table.fields.len() + 1;
        let number = |word: &str| self.option(layout, word).and_then(|text| text.parse().ok());
        let (rows, most) = sizes(number, config.slots.values, config.most(table, own_tags), width);
        Limits { readings_per_statement: if rows > 1 { rows } else { most } }
    }

    fn write_size(&self, layout: &Layout, table: &Table) -> WriteSize {
        let batch = &self.files.config.batch;
        let own_tags = layout.tags == TagPlacement::OwnTable;
        let said = |word| self.option(layout, word).and_then(|text| text.parse().ok());
        let advised = WriteSize {
            readings: said("readings in a write").unwrap_or(batch.readings),
            bytes: said("bytes in a write").unwrap_or(batch.bytes),
            reading_bytes: self.files.config.reading_bytes(table, own_tags),
            advice: self.files.advice.0,
            link: self.files.advice.1,
        };
        advised.within(self.limits(layout, table).readings_per_statement)
    }

    fn repeated_write(&self, layout: &Layout, _: &Table) -> RepeatedWrite {
        let said = self.option(layout, "repeated").and_then(|word| serde_json::from_value(word.into()).ok());
        said.unwrap_or_else(|| self.files.config.repeated.in_layout(layout))
    }

    fn one_process(&self) -> Option<&'static str> {
        self.driver.one_process()
    }

    fn momentary_misses(&self) -> Option<&'static str> {
        self.driver.momentary_misses()
    }

    fn refuses_least_number(&self) -> Option<&'static str> {
        self.driver.refuses_least_number()
    }

    fn runs_on_java(&self) -> bool {
        self.files.config.server.as_ref().is_some_and(|server| server.java.is_some())
    }

    fn installation(&self) -> Result<Installation, StoreError> {
        match self.driver.installation() {
            Some(library) if self.driver.databases() != Databases::Server => library,
            library => library.transpose().and_then(|_| server::installation(&self.files.config)),
        }
    }

    fn keeps_to_loopback(&self) -> Option<&'static str> {
        let any = self.files.config.server.as_ref().is_some_and(|server| server.any_address);
        self.driver.keeps_to_loopback().or((!any).then_some(KEEPS_TO_LOOPBACK))
    }

    fn clusters(&self) -> Result<Clusters, String> {
        Err(self.files.config.clusters.clone().unwrap_or_else(|| ONE_SERVER.to_owned()))
    }

    fn time_resolution(&self, layout: &Layout, _: &Table) -> TimeResolution {
        match (layout.time, self.files.config.text.native_unit_ns) {
            (TimeKey::Nanoseconds, _) | (_, None | Some(1)) => TimeResolution::Nanoseconds,
            (_, Some(1_000)) => TimeResolution::Microseconds,
            _ => TimeResolution::Milliseconds,
        }
    }

    fn launch(
        &self,
        installation: &Installation,
        folder: &ServerFolder,
        options: &ServerOptions,
    ) -> Result<Launch, StoreError> {
        if self.driver.databases() == Databases::Server {
            let note = self.driver.check_start()?;
            let mut launch = server::launch(&self.files.config, installation, folder, options)?;
            launch.notes.extend(note);
            if launch.endpoint.ports.is_empty() {
                launch.endpoint.ports = self.endpoint(launch.endpoint.url.expose())?.ports;
            }
            return Ok(launch);
        }
        let title = &self.files.config.title;
        let text = format!("{title} runs inside the client's process; give it a folder instead");
        Err(StoreError::unsupported("start a server", text))
    }

    fn endpoint(&self, url: &str) -> Result<Endpoint, StoreError> {
        self.driver.endpoint(&self.files.named(), url)
    }

    fn version<'a>(&'a self, endpoint: &'a Endpoint) -> LocalFuture<'a, Result<String, StoreError>> {
        Box::pin(async move {
            if let Some(library) =
                self.driver.installation().filter(|_| self.driver.databases() != Databases::Server)
            {
                folder::check_there(&self.files.config.name, endpoint)?;
                return Ok(library?.version);
            }
            let place = Place {
                endpoint: endpoint.clone(),
                database: None,
                file: PathBuf::new(),
                timeout: VERSION,
                purpose: Purpose::Look,
            };
            let mut link = Link::bare(&self.files, &*self.driver, &place).await?;
            let admin = &self.files.config.admin;
            let version = link.value("ask for the version", &admin.version, &[]).await?;
            if let Some(check) = admin.named.as_ref().filter(|_| !endpoint.managed) {
                link.check("look into the URL's database", check).await?;
            }
            if !admin.pooled.is_empty() && !endpoint.managed {
                let mut other = Link::bare(&self.files, &*self.driver, &place).await?;
                for session in [&mut link, &mut other] {
                    session.run("begin a session", &admin.pooled).await?;
                }
                other.close().await?;
            }
            link.close().await?;
            Ok(version.unwrap_or_default())
        })
    }

    fn administrator<'a>(
        &'a self,
        plan: &'a Plan,
    ) -> LocalFuture<'a, Result<Box<dyn Administrator>, StoreError>> {
        Box::pin(async move {
            Ok(administrator(FileAdministrator::new(plan, self.physical(plan)?, &self.driver)?, plan))
        })
    }

    fn connect<'a>(&'a self, plan: &'a Plan) -> LocalFuture<'a, Result<Box<dyn Session>, StoreError>> {
        Box::pin(async move {
            let physical = self.physical(plan)?;
            FileAdministrator::new(plan, Arc::clone(&physical), &self.driver)?.is_ready().await?;
            let link = Link::open(&self.files, &*self.driver, plan, Purpose::Work).await?;
            let time = Duration::from_millis(plan.timeout_ms);
            let session: Box<dyn Session> = Box::new(FileSession::new(link, physical, time));
            Ok(session)
        })
    }
}
