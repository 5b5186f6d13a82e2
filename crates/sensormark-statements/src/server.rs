//! `[server]` of `store.toml`: how the database's server is found, configured, started and stopped. Texts are templates.
//!
//! They see:
//!
//! - paths: `folder`, `data`, `logs` (empty where there are none), `programs` (the folder of the programs, or the jar), `jars` (the folder above), `java`
//! - the network: `address`, `loopback`, `ports`, `password`
//! - sizes: `clients`, `memory_kib`, `log_mib`, `machine_mib`
//! - what was asked for: `durability`, `version` (its first number), `linux`
//! - texts: `profile` of `[profiles]`, and `more` of a store that extends this one
//! - whether it is a start on loopback before others reach the server: `set_up`
//!
//! `newest(before, after)` is the file beside the jar whose name is a version between these texts. The filter `quoted` puts a text in quotes, as TOML and JSON have it; `sha256` is its digest.

use crate::config::Config;
use minijinja::{Environment, UndefinedBehavior, Value, context};
use sensormark_kit::url::own_server;
use sensormark_server::files::{path_text, write_private};
use sensormark_server::find::{Search, install_advice, program_version};
use sensormark_server::java::find_java;
use sensormark_store::server::{Command, ServerFolder, SetUp, StopSignal, machine_memory_bytes};
use sensormark_store::{Endpoint, ErrorKind, Installation, Launch, ServerOptions, StoreError};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

/// `[server]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerConfig {
    /// What has to be in a folder, below it; the first is the server, and its version is asked for. With a `*` it is one of these files (jars), and what the star stands
    /// for is the version.
    pub programs: Vec<String>,
    /// What the server is asked for its version with.
    #[serde(default = "version")]
    pub asked: String,
    /// How its version begins, and what is said of others.
    pub only: Option<[String; 2]>,
    /// Whether it is started on loopback first, and asked for its version there, where other hosts are to reach it.
    #[serde(default)]
    pub set_up: bool,
    /// Which of the folder's ports are the server's, where its URL does not say all of them.
    #[serde(default)]
    pub ports: Vec<usize>,
    /// The same in words.
    pub wanted: String,
    /// Folders below a home or an installed server in which they may be.
    pub inside: Vec<String>,
    /// Folders where packages put them; `*` stands for one name, and the highest number comes first. One may begin with a variable of the environment (`$HOME`).
    #[serde(default)]
    pub packages: Vec<PathBuf>,
    /// The versions of Java that the server runs on, `17 or later` or `17 or 11`: `java` in templates is the program.
    pub java: Option<String>,
    /// How to get it, where `sensormark install-servers` does not.
    pub advice: Option<String>,
    /// Why its logs cannot be in a folder of their own, where they cannot; a template.
    pub no_logs: Option<String>,
    /// Whether `PATH` is looked into.
    #[serde(default = "yes")]
    pub on_path: bool,
    /// Files that are written, by name, which is a template too; those without text are not.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Programs that run to their end before the server starts, with their arguments; empty arguments are left out.
    #[serde(default)]
    pub before: Vec<Vec<String>>,
    /// The server's program and arguments.
    pub start: Vec<String>,
    /// Variables of its environment.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// `interrupt` or `terminate`.
    pub stop: String,
    /// The URL of the started server.
    pub url: String,
    /// How long it may take to start.
    pub start_seconds: u64,
    /// What a reader of the results should know; those without text are left out.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Whether every way in asks for the password, so that it may listen on an address that other hosts reach.
    #[serde(default)]
    pub any_address: bool,
    /// What a store that extends another one adds to its configuration: `more` in templates.
    #[serde(default)]
    pub more: String,
}

const fn yes() -> bool {
    true
}

fn version() -> String {
    "--version".to_owned()
}

fn wrong(config: &Config, text: impl Into<String>) -> StoreError {
    StoreError::new(ErrorKind::Configuration, format!("configure {}", config.title), text)
}

/// The server's part of the file.
///
/// # Errors
/// [`ErrorKind::Configuration`] where it has none.
pub fn of(config: &Config) -> Result<&ServerConfig, StoreError> {
    config.server.as_ref().ok_or_else(|| wrong(config, "its store.toml says of no server how it starts"))
}

/// The server on this machine.
///
/// # Errors
/// [`ErrorKind::NotInstalled`], with how to get it.
pub fn installation(config: &Config) -> Result<Installation, StoreError> {
    let server = of(config)?;
    let inside: Vec<&str> = server.inside.iter().map(String::as_str).collect();
    let search = Search {
        name: &config.name,
        title: &config.title,
        wanted: &server.wanted,
        inside: &inside,
        on_path: server.on_path,
        packages: server.packages.iter().flat_map(|pattern| folders(pattern)).collect(),
        advice: server.advice.clone().unwrap_or_else(|| install_advice(&config.name, &config.url)),
    };
    if server.programs[0].contains('*') {
        let patterns = || server.programs.iter().filter_map(|pattern| pattern.split_once('*'));
        let found =
            search.find(|folder| patterns().find_map(|(before, after)| newest(folder, before, after)))?;
        java(config)?;
        let (file, version) = found.what.clone();
        return Ok(found.installation(file, version));
    }
    let is_complete = |folder: &Path| server.programs.iter().all(|program| folder.join(program).is_file());
    let found = search.find(|folder| is_complete(folder).then_some(()))?;
    let folder = found.folder.clone();
    let version = program_version(&config.title, &folder.join(&server.programs[0]), &server.asked)?;
    if let Some([start, otherwise]) = &server.only
        && !version.starts_with(start)
    {
        let text = format!("{version} {otherwise}");
        return Err(StoreError::new(ErrorKind::NotInstalled, format!("find {}", config.title), text));
    }
    Ok(found.installation(folder, version))
}

/// The newest file of a folder whose name is a version between these texts.
fn newest(folder: &Path, before: &str, after: &str) -> Option<(PathBuf, String)> {
    let version = |path: PathBuf| {
        let version = path.file_name()?.to_str()?.strip_prefix(before)?.strip_suffix(after)?.to_owned();
        version.starts_with(|first: char| first.is_ascii_digit()).then_some((path, version))
    };
    std::fs::read_dir(folder).ok()?.flatten().filter_map(|entry| version(entry.path())).max()
}

/// The Java that the server runs on, where it runs on one.
fn java(config: &Config) -> Result<Option<PathBuf>, StoreError> {
    let Some(wanted) = &of(config)?.java else { return Ok(None) };
    let fits = |version: u32| {
        let mut named = wanted.split(' ').filter_map(|word| word.parse().ok());
        named.any(|one| version == one || version > one && wanted.ends_with("later"))
    };
    find_java(&config.title, &format!("Java {wanted}"), fits).map(Some)
}

/// The folders that a pattern stands for: with one `*`, the highest number first.
fn folders(pattern: &Path) -> Vec<PathBuf> {
    if let Some((variable, rest)) = pattern.to_str().and_then(|text| text.strip_prefix('$')?.split_once('/'))
    {
        return std::env::var_os(variable).map(|folder| Path::new(&folder).join(rest)).into_iter().collect();
    }
    let (before, after) = {
        let mut parts = pattern.components();
        let before: PathBuf = parts.by_ref().take_while(|part| part.as_os_str() != "*").collect();
        (before, parts.as_path().to_path_buf())
    };
    if before == pattern {
        return vec![before];
    }
    let entries = std::fs::read_dir(before).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    let number = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    found.sort_by_key(|path| std::cmp::Reverse(number(path)));
    found.iter().map(|folder| folder.join(&after)).collect()
}

/// Renders the texts of a file.
struct Texts<'a> {
    config: &'a Config,
    environment: Environment<'static>,
    context: Value,
}

impl<'a> Texts<'a> {
    fn new(
        config: &'a Config,
        installation: &Installation,
        folder: &ServerFolder,
        options: &ServerOptions,
        set_up: bool,
    ) -> Result<Self, StoreError> {
        let profile = options.profile.as_deref().unwrap_or("default");
        let known: Vec<&str> =
            config.profiles.keys().map(String::as_str).filter(|one| *one != "default").collect();
        let text = config.profiles.get(profile).ok_or_else(|| {
            wrong(config, format!("there is no profile {profile:?}; there are: {}", known.join(", ")))
        })?;
        let logs = folder.logs.as_ref().map(|logs| path_text(logs)).transpose()?;
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let beside = installation.path.parent().map(Path::to_path_buf).unwrap_or_default();
        let beside = move |before: String, after: String| {
            newest(&beside, &before, &after).map(|(file, _)| file.to_string_lossy().into_owned())
        };
        environment.add_function("newest", beside);
        environment.add_filter("sha256", |text: String| {
            let digest = Sha256::digest(text.as_bytes());
            digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
        });
        environment.add_filter("quoted", |text: String| serde_json::Value::from(text).to_string());
        let context = context! {
            folder => path_text(&folder.root)?,
            data => path_text(&folder.data.join(&config.name))?,
            logs,
            programs => path_text(&installation.path)?,
            jars => installation.path.parent().map(path_text).transpose()?,
            machine_mib => machine_memory_bytes() >> 20,
            java => java(config)?.map(|java| path_text(&java)).transpose()?,
            set_up,
            address => folder.address.to_string(),
            loopback => folder.address.is_loopback(),
            ports => folder.ports,
            password => folder.password.expose(),
            clients => options.clients,
            memory_kib => (options.memory_bytes / 1024).max(128),
            log_mib => options.log_bytes() >> 20,
            durability => options.durability,
            version => installation.version.split('.').next().and_then(|one| one.parse::<u32>().ok()),
            linux => cfg!(target_os = "linux"),
            default_profile => options.profile.is_none(),
        };
        let mut texts = Self { config, environment, context };
        let profile = texts.of(text)?;
        let more = texts.of(&of(config)?.more)?;
        texts.context = context! { profile, more, ..texts.context.clone() };
        Ok(texts)
    }

    fn of(&self, text: &str) -> Result<String, StoreError> {
        let rendered = self.environment.render_str(text, &self.context);
        rendered.map_err(|cause| wrong(self.config, format!("{cause:#}")))
    }

    fn all<'b>(&self, texts: impl IntoIterator<Item = &'b String>) -> Result<Vec<String>, StoreError> {
        let rendered = texts.into_iter().map(|text| self.of(text));
        let mut rendered: Vec<String> = rendered.collect::<Result<_, _>>()?;
        rendered.retain(|text| !text.trim().is_empty());
        Ok(rendered)
    }

    fn command(&self, programs: &Path, words: &[String]) -> Result<Command, StoreError> {
        let mut words = self.all(words)?;
        if words.is_empty() {
            return Err(wrong(self.config, "a command has no program"));
        }
        let program = programs.join(words.remove(0));
        Ok(Command { program, arguments: words, ..Command::default() })
    }

    /// Writes the server's files, and says how it is started.
    fn server(
        &self,
        server: &ServerConfig,
        programs: &Path,
        folder: &ServerFolder,
    ) -> Result<Command, StoreError> {
        for (name, text) in &server.files {
            let text = self.of(text)?;
            if !text.trim().is_empty() {
                write_private(folder, &self.of(name)?, &text)?;
            }
        }
        let mut command = self.command(programs, &server.start)?;
        for (name, text) in &server.environment {
            command.environment.push((name.clone(), self.of(text)?));
        }
        Ok(command)
    }
}

/// How the server is started in this folder: files are written, nothing is started.
///
/// # Errors
/// When a file cannot be written, or an option is not offered.
pub fn launch(
    config: &Config,
    installation: &Installation,
    folder: &ServerFolder,
    options: &ServerOptions,
) -> Result<Launch, StoreError> {
    let server = of(config)?;
    let endpoint = |texts: &Texts<'_>| {
        let ports = server.ports.iter().map(|&port| folder.ports[port]);
        let own = own_server(&config.name, texts.of(&server.url)?, folder.ports[0]);
        Ok::<_, StoreError>(Endpoint { ports: ports.collect(), ..own })
    };
    let set_up = match server.set_up && !folder.address.is_loopback() {
        true => {
            let folder = ServerFolder { address: Ipv4Addr::LOCALHOST, ..folder.clone() };
            let texts = Texts::new(config, installation, &folder, options, true)?;
            let server = texts.server(server, &installation.path, &folder)?;
            Some(Box::new(SetUp { server, endpoint: endpoint(&texts)? }))
        }
        false => None,
    };
    let texts = Texts::new(config, installation, folder, options, false)?;
    let reasons = texts.all(server.no_logs.iter().filter(|_| folder.logs.is_some()))?;
    if let Some(reason) = reasons.first() {
        return Err(StoreError::unsupported("keep the logs apart", reason.as_str()));
    }
    let before = server.before.iter().map(|words| texts.command(&installation.path, words));
    Ok(Launch {
        before: before.collect::<Result<_, _>>()?,
        set_up,
        server: texts.server(server, &installation.path, folder)?,
        after: Vec::new(),
        endpoint: endpoint(&texts)?,
        stop: if server.stop == "interrupt" { StopSignal::Interrupt } else { StopSignal::Terminate },
        start_seconds: server.start_seconds,
        notes: texts.all(&server.notes)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_package_comes_first() {
        let root = tempfile::tempdir().expect("a folder");
        for version in ["9", "15", "14"] {
            std::fs::create_dir_all(root.path().join(version).join("bin")).expect("a folder");
        }
        let found = folders(&root.path().join("*/bin"));
        assert_eq!(found[0], root.path().join("15/bin"));
        assert_eq!(found.len(), 3);
        assert_eq!(folders(Path::new("/usr/local/bin")), [Path::new("/usr/local/bin")]);
    }
}
