//! Making, settling, inspecting and dropping a plan's database: files by the file system, databases of a server by its statements.

use crate::config::Config;
use crate::link::{Link, class_of, file, place};
use crate::physical::Physical;
use crate::session::SHOWN;
use crate::table::OWNER_TABLE;
use crate::write::fill_tags;
use sensormark_drivers::{Cell, Databases, Driver, Place, Purpose};
use sensormark_kit::folder::{self, file_error};
use sensormark_kit::{BackendAdministrator, Found, Mark, Row};
use sensormark_store::{DatabaseName, Documents, ErrorKind, Plan, Setting, Size, StoreError};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How long leaving a database waits for a writer.
const LEAVE: Duration = Duration::from_secs(1);

/// How long making, settling and dropping may take, which is more than an operation.
const PATIENCE: Duration = Duration::from_secs(600);

/// What looks after a plan's database, which need not exist.
pub struct FileAdministrator {
    /// The plan.
    pub plan: Plan,
    /// What its schema becomes.
    pub physical: Arc<Physical>,
    /// What speaks to its database.
    pub driver: Arc<dyn Driver>,
    /// The name that its database has on the server, where it is not its own.
    pub other_name: Option<String>,
    /// What a reader of the results has to know.
    pub notes: Vec<String>,
}

impl FileAdministrator {
    /// What looks after this plan's database.
    ///
    /// # Errors
    /// What the driver does not offer.
    pub fn new(plan: &Plan, physical: Arc<Physical>, driver: &Arc<dyn Driver>) -> Result<Self, StoreError> {
        let (other_name, driver) = (driver.name_there(plan)?, Arc::clone(driver));
        Ok(Self { plan: plan.clone(), physical, driver, other_name, notes: Vec::new() })
    }

    /// Fails where the database has another name on the server, under which another one is: a write would not say so.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`], and when it cannot be looked into.
    pub async fn is_ready(&mut self) -> Result<(), StoreError> {
        let Some(there) = self.other_name.clone() else { return Ok(()) };
        match self.found(&there).await? {
            Found::Marked(mark) if mark.is_of(&self.plan) => Ok(()),
            _ => {
                let text = format!(
                    "{} is not in {there}; make it first, and drop what has its place",
                    self.plan.database
                );
                Err(StoreError::new(ErrorKind::NotFound, self.operation("open"), text))
            }
        }
    }

    /// The database's name on the server.
    fn database(&self) -> &str {
        self.other_name.as_deref().unwrap_or(self.plan.database.as_str())
    }

    fn config(&self) -> &Config {
        &self.physical.files.config
    }

    fn is_on_server(&self) -> bool {
        self.driver.databases() == Databases::Server
    }

    fn operation(&self, what: &str) -> String {
        format!("{what} the {} database", self.config().title)
    }

    fn file(&self, name: &str) -> PathBuf {
        file(&self.physical.files, &*self.driver, &self.plan, name)
    }

    fn folder(&self) -> PathBuf {
        folder::path(&self.config().name, &self.plan.endpoint)
    }

    /// A database of the server or the folder; the server's own one without a name.
    fn place(&self, database: Option<&str>) -> Place {
        place(&self.physical.files, &*self.driver, &self.plan, database)
    }

    async fn bare(&self, place: &Place) -> Result<Link, StoreError> {
        Link::bare(&self.physical.files, &*self.driver, place).await
    }

    async fn open(&self) -> Result<Link, StoreError> {
        let files = &self.physical.files;
        let mut link = Link::open(files, &*self.driver, &self.plan, Purpose::Administer).await?;
        link.connection.within(Some(PATIENCE));
        Ok(link)
    }

    /// One of the databases, whatever the user's role has by default.
    async fn look(&self, place: &Place) -> Result<Link, StoreError> {
        let files = &self.physical.files;
        let mut link = Link::bare(files, &*self.driver, place).await?;
        if self.driver.databases() == Databases::Server {
            for text in &files.config.session.always {
                link.run("begin a session", text).await?;
            }
        }
        Ok(link)
    }

    /// The server's own database.
    async fn server(&self) -> Result<Link, StoreError> {
        let mut link = self.bare(&self.place(None)).await?;
        link.connection.within(Some(PATIENCE));
        Ok(link)
    }

    /// Runs each of these statements with names put in.
    async fn run_each(&self, link: &mut Link, what: &str, texts: &[String]) -> Result<(), StoreError> {
        for text in texts {
            let plan = Cell::Text(self.plan.database.as_str());
            let values = [("mark", Cell::Text(&self.plan.owner)), ("plan", plan)];
            let text = self.named(text);
            link.ask(&self.operation(what), &text, &values, &mut |_| Ok(true)).await?;
        }
        Ok(())
    }

    fn named(&self, text: &str) -> String {
        self.named_as(text, self.database())
    }

    /// A statement with the names of a database and its owner's table.
    fn named_as(&self, text: &str, database: &str) -> String {
        text.replace("{owner}", &self.config().text.owner).replace("{database}", database)
    }

    async fn fill(&self) -> Result<(), StoreError> {
        let config = self.config();
        let [begin, commit, _] = &config.batch.transaction;
        let mut link = self.open().await?;
        link.run("create tables", begin).await?;
        self.run_each(&mut link, "mark", &config.admin.mark).await?;
        for statement in self.physical.made()? {
            link.run("create tables", &statement).await?;
        }
        fill_tags(&mut link, &self.physical).await?;
        link.run("create tables", commit).await?;
        self.run_each(&mut link, "create", &config.admin.created).await?;
        link.close().await
    }

    /// Gives tables other names, so that sessions that are still open find them no longer.
    async fn leave(&self) -> Result<(), StoreError> {
        let text = &self.config().admin.leave;
        if text.is_empty() {
            return Ok(());
        }
        let place = Place { timeout: LEAVE, ..self.place(Some(self.database())) };
        let mut link = self.look(&place).await?;
        for table in self.expected().iter().filter(|table| *table != OWNER_TABLE) {
            link.run("leave the database", &text.replace("{table}", table)).await?;
        }
        Ok(())
    }

    /// What stands under this name, to be looked at.
    async fn there(&self, name: &str) -> Result<Link, StoreError> {
        let purpose = if self.is_on_server() { Purpose::Administer } else { Purpose::Look };
        self.look(&Place { purpose, ..self.place(Some(name)) }).await
    }

    /// The owner's mark of what stands under this name; none where there is no mark.
    async fn mark(&self, name: &str) -> Result<Option<Mark>, StoreError> {
        let marked = async {
            let admin = &self.config().admin;
            let mut link = self.there(name).await?;
            let mut value =
                async |text: &str| link.value("read the owner's mark", &self.named_as(text, name), &[]).await;
            // A table without a comment has an empty one.
            let owner = value(&admin.marked).await?.filter(|mark| !mark.is_empty());
            let Some(owner) = owner else { return Ok(None) };
            let database = match &*admin.marked_plan {
                "" => None,
                text => value(text).await?,
            };
            Ok::<_, StoreError>(Some(Mark { owner, database: database.unwrap_or_else(|| name.to_owned()) }))
        };
        match marked.await {
            Err(failure) => match failure.kind() {
                ErrorKind::NotFound | ErrorKind::Foreign | ErrorKind::Rejected => Ok(None),
                _ => Err(failure),
            },
            mark => mark,
        }
    }
}

impl BackendAdministrator for FileAdministrator {
    async fn check(&mut self) -> Result<(), StoreError> {
        let physical = Arc::clone(&self.physical);
        let class = class_of(&physical.files, &self.plan)?;
        let own: &[String] = if self.plan.endpoint.managed { &class.own } else { &[] };
        let check = class.check.as_ref().filter(|check| check.kind.is_some());
        if own.is_empty() && check.is_none() {
            return Ok(());
        }
        let mut link = self.server().await?;
        for text in own {
            link.run("set the durability class", text).await?;
        }
        if let Some(check) = check {
            link.check("set the durability class", check).await?;
        }
        link.close().await
    }

    async fn found(&mut self, name: &str) -> Result<Found, StoreError> {
        let is_there = if self.is_on_server() && self.config().admin.exists.is_empty() {
            self.names().await?.iter().any(|there| there == name)
        } else if self.is_on_server() {
            let mut link = self.server().await?;
            let values = [("database", Cell::Text(name))];
            let exists = &self.config().admin.exists;
            let found = link.value("look for a database", exists, &values).await?;
            link.close().await?;
            found.is_some()
        } else {
            self.file(name).exists()
        };
        if !is_there {
            return Ok(Found::Nothing);
        }
        // It was made, and not begun.
        if !self.is_on_server() && matches!(folder::blocks(&self.file(name)), Ok(0)) {
            return Ok(Found::Empty);
        }
        let mark = self.mark(name).await?;
        if mark.is_none() {
            let contents = self.named_as(&self.config().admin.contents, name);
            let mut link = self.there(name).await?;
            match link.list("look at the tables that are there", &contents, &[]).await {
                // One that was there before is taken where nothing is in it.
                Ok(contents) if contents.is_empty() && self.other_name.as_deref() == Some(name) => {
                    return Ok(Found::Nothing);
                }
                Ok(contents) if contents.is_empty() => return Ok(Found::Empty),
                Err(error) if self.is_on_server() => return Err(error),
                // A file of another kind has none.
                _ => {}
            }
        }
        Ok(mark.map_or(Found::Unmarked, Found::Marked))
    }

    fn name_there(&self) -> Option<&str> {
        self.other_name.as_deref()
    }

    async fn contents(&mut self) -> Result<Vec<String>, StoreError> {
        let mut link = self.open().await?;
        let text = self.named(&self.config().admin.contents);
        link.list("look at the tables that are there", &text, &[]).await
    }

    fn expected(&self) -> Vec<String> {
        let tables = self.physical.tables.iter().flat_map(|table| table.names.iter().cloned());
        [self.config().text.owner.clone()].into_iter().chain(tables).collect()
    }

    async fn make(&mut self) -> Result<(), StoreError> {
        if self.is_on_server() {
            let mut link = self.server().await?;
            for text in &self.config().admin.create {
                link.run(&self.operation("create"), &self.named(text)).await?;
            }
            link.close().await?;
            return self.fill().await;
        }
        let file = self.file(self.plan.database.as_str());
        let wrong = |cause| file_error(&self.operation("create"), cause);
        fs::create_dir_all(self.folder()).map_err(wrong)?;
        File::create_new(&file).map_err(wrong)?;
        let made = self.fill().await;
        if made.is_err() {
            // The file was made a moment ago and holds nothing; what failed is reported.
            drop(folder::remove_files(&file));
        }
        made
    }

    async fn remove(&mut self) -> Result<(), StoreError> {
        // Best effort: the database goes in any case, also when the disk is full or a writer hangs.
        drop(self.leave().await);
        if self.is_on_server() {
            let text = self.named(&self.config().admin.drop);
            let mut tables = vec![OWNER_TABLE.to_owned()];
            if text.contains("{table}") {
                tables.splice(0..0, self.contents().await?);
            }
            let mut link = self.server().await?;
            for table in tables {
                link.run(&self.operation("drop"), &text.replace("{table}", &table)).await?;
            }
            return link.close().await;
        }
        let file = self.file(self.plan.database.as_str());
        self.driver.forget(&file);
        folder::drop_database(&self.config().title, &self.plan.endpoint, &file)
    }

    async fn names(&mut self) -> Result<Vec<String>, StoreError> {
        match self.driver.databases() {
            Databases::Files { ending, .. } => folder::names(&self.folder(), ending)
                .map_err(|cause| file_error(&format!("list the {} databases", self.config().title), cause)),
            Databases::Server => {
                let mut link = self.server().await?;
                let text = &self.config().admin.names;
                let mut names = link.list("list databases", text, &[]).await?;
                names.retain(|name| name.starts_with(DatabaseName::PREFIX));
                Ok(names)
            }
        }
    }

    async fn settle(&mut self) -> Result<(), StoreError> {
        let physical = Arc::clone(&self.physical);
        let admin = &physical.files.config.admin;
        let operation = self.operation("settle");
        let mut link = self.open().await?;
        for table in 0..self.physical.tables.len() {
            for statement in [SHOWN, "settle"] {
                link.run(&operation, &self.physical.text(table, statement)?).await?;
            }
        }
        let further = if self.plan.endpoint.managed { &admin.settle_own } else { &admin.settle_others };
        for text in admin.settle.iter().chain(further) {
            // A right that the user lacks (a checkpoint) leaves the rest to be done.
            match link.run(&operation, &self.named(text)).await {
                Err(error) if error.kind() == ErrorKind::Authentication => {
                    self.notes.push(format!("no {text} before the disk was measured: the user may not"));
                }
                done => done?,
            }
        }
        if let Some(check) = &admin.settled {
            link.check(&operation, check).await?;
        }
        Ok(())
    }

    fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    async fn settings(&mut self) -> Result<Vec<Setting>, StoreError> {
        const OPERATION: &str = "read settings back";
        let files = Arc::clone(&self.physical.files);
        let config = &files.config.settings;
        let mut link = self.open().await?;
        let mut found = link.connection.own_settings();
        if !config.each.is_empty() {
            for name in &config.list {
                let value = link.value(OPERATION, &config.each.replace("{name}", name), &[]).await?;
                let value = value.unwrap_or_default();
                let word = config.words.get(name).and_then(|words| words.get(value.parse::<usize>().ok()?));
                found.push((name.clone(), word.cloned().unwrap_or(value)));
            }
        }
        if !config.sql.is_empty() {
            let names: Vec<&str> = config.list.iter().map(String::as_str).collect();
            // A statement that takes the names knows what else it shows.
            let is_chosen = names.is_empty() || config.sql.contains(":names");
            let each = &mut |row: &dyn Row| {
                let name = row.printed(0)?;
                if is_chosen || names.contains(&&*name) {
                    found.push((name, row.printed(1)?));
                }
                Ok(true)
            };
            match link.ask(OPERATION, &config.sql, &[("names", Cell::Texts(&names))], each).await {
                Err(error) if error.kind() == ErrorKind::Authentication => {
                    let note =
                        "settings are missing: the user may not read them (one with all privileges may)";
                    self.notes.push(note.to_owned());
                }
                done => done?,
            }
        }
        if let Some(options) = &config.options {
            for option in link.list(OPERATION, &options.sql, &[]).await? {
                if options.starts.iter().any(|start| option.starts_with(start.as_str())) {
                    let (name, value) = option.split_once('=').unwrap_or((&option, "1"));
                    found.push((format!("{}{name}", options.prefix), value.to_owned()));
                }
            }
        }
        let class = files.config.durability.classes.get(&self.plan.durability);
        if let Some(check) = class.and_then(|class| class.check.as_ref()).filter(|check| check.kind.is_none())
        {
            self.notes.extend(link.check(OPERATION, check).await?);
        }
        Ok(found.into_iter().map(|(name, value)| Setting { name, value }).collect())
    }

    async fn documents(&mut self) -> Result<Option<Documents>, StoreError> {
        let text = self.config().admin.documents.clone();
        if text.is_empty() {
            return Ok(None);
        }
        let (mut link, mut all) = (self.open().await?, Documents::default());
        let names: BTreeSet<String> =
            self.expected().into_iter().filter(|name| name != OWNER_TABLE).collect();
        for name in names {
            let each = &mut |row: &dyn Row| {
                let number = |place| Ok::<u64, StoreError>(row.integer(place)?.max(0).cast_unsigned());
                (all.count, all.bytes) = (all.count + number(0)?, all.bytes + number(1)?);
                Ok(true)
            };
            match link.ask("count documents", &text.replace("{table}", &name), &[], each).await {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                done => done?,
            }
        }
        Ok(Some(all))
    }

    async fn schema_text(&mut self) -> Result<Vec<String>, StoreError> {
        const OPERATION: &str = "show the schema";
        let text = self.named(&self.config().admin.schema);
        if text.is_empty() {
            return self.physical.made();
        }
        let (mut link, mut texts) = (self.open().await?, Vec::new());
        let of_each = text.contains("{table}");
        let tables = match of_each {
            true => self.contents().await?,
            false => vec![String::new()],
        };
        for table in tables {
            let each = &mut |row: &dyn Row| {
                texts.push(row.printed(usize::from(of_each))?);
                Ok(true)
            };
            link.ask(OPERATION, &text.replace("{table}", &table), &[], each).await?;
        }
        texts.retain(|text| !text.contains(OWNER_TABLE));
        Ok(texts)
    }

    async fn perform(&mut self, statement: &str) -> Result<Vec<String>, StoreError> {
        let mut link = self.open().await?;
        let (operation, mut found) = (self.operation("administer"), Vec::new());
        let prepared = link.prepared(&operation, statement, &[]).await?;
        let each = &mut |row: &dyn Row| {
            found.extend((0..row.columns()).map(|place| row.printed(place).unwrap_or_default()));
            Ok(true)
        };
        let done = link.connection.query(prepared, &[], each).await;
        link.outcome(&operation, done)?;
        Ok(found)
    }

    async fn size(&mut self) -> Result<Size, StoreError> {
        let operation = self.operation("measure");
        if let Databases::Files { log, .. } = self.driver.databases() {
            let file = self.file(self.plan.database.as_str());
            return folder::size(&file, log).map_err(|cause| file_error(&operation, cause));
        }
        let admin = &self.config().admin;
        let mut link = self.open().await?;
        let values = [("database", Cell::Text(self.database()))];
        let mut bytes = async |text: &str| {
            let value = link.value(&operation, text, &values).await?;
            Ok::<Option<u64>, StoreError>(value.and_then(|value| value.parse().ok()))
        };
        let total_bytes = bytes(&admin.size).await?.unwrap_or_default();
        // Who may not see the logs learns the size without them.
        let log_bytes = match admin.log_size.as_str() {
            "" => None,
            text => match bytes(text).await {
                Err(error) if error.kind() == ErrorKind::Authentication => None,
                found => found?,
            },
        };
        Ok(Size { total_bytes: total_bytes + log_bytes.unwrap_or_default(), log_bytes })
    }
}
