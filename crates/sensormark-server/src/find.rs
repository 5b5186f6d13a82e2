//! Finding a server's programs: one order of places for all stores.
//!
//! 1. The folder that `$SENSORMARK_NAME_HOME` names. Where it is set, no other place counts.
//! 2. What `sensormark install-servers` installs: the store's folder in `$SENSORMARK_SERVERS`, in `/opt/sensormark/servers`, and (unless
//!    sensormark runs as root, whose home servers cannot read) in `~/.local/share/sensormark/servers`.
//! 3. The folders of `PATH`.
//! 4. Where packages put it. Each store lists these folders ([`Search::packages`]).
//!
//! It starts nothing but a program that is asked for its version.

use crate::user::is_root;
use sensormark_store::{ErrorKind, Installation, StoreError};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What is looked for, and where besides the places that all stores have.
#[derive(Debug, Clone)]
pub struct Search<'a> {
    /// The store's name on the command line, which is also the name of its folder among installed servers.
    pub name: &'a str,
    /// The database's name as people write it.
    pub title: &'a str,
    /// What has to be there, in words: "the programs postgres and initdb".
    pub wanted: &'a str,
    /// Folders below a home or an installed server in which it may be; an empty text is the folder itself.
    pub inside: &'a [&'a str],
    /// Whether the folders of `PATH` are looked into: not for what is no program.
    pub on_path: bool,
    /// Folders where packages put it.
    pub packages: Vec<PathBuf>,
    /// How to get it.
    pub advice: String,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<T> {
    /// The folder.
    pub folder: PathBuf,
    /// What the store took in it.
    pub what: T,
    origin: String,
}

impl<T> Found<T> {
    /// The installation of this version at this path.
    pub fn installation(self, path: PathBuf, version: String) -> Installation {
        Installation { path, version, origin: self.origin }
    }
}

/// The origin of what a folder of `PATH` has.
const ON_PATH: &str = "found on PATH";

/// Whether a folder is there that this user may not look into: one that root installed for itself, say.
fn is_closed(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
}

/// How to get a server that `sensormark install-servers` installs.
pub fn install_advice(name: &str, url_example: &str) -> String {
    format!(
        "install it with `sensormark install-servers {name}`, or name a server by --on '{name}={url_example}'"
    )
}

/// A variable of the environment that is not empty.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

impl Search<'_> {
    /// The first folder in which `accept` finds what it wants.
    ///
    /// # Errors
    /// [`ErrorKind::NotInstalled`], with how to get it.
    pub fn find<T>(&self, accept: impl FnMut(&Path) -> Option<T>) -> Result<Found<T>, StoreError> {
        self.find_among(&variable, is_root(), accept)
    }

    fn find_among<T>(
        &self,
        variable: &dyn Fn(&str) -> Option<OsString>,
        as_root: bool,
        mut accept: impl FnMut(&Path) -> Option<T>,
    ) -> Result<Found<T>, StoreError> {
        let home = format!("SENSORMARK_{}_HOME", self.name.to_uppercase());
        let chosen = variable(&home).map(PathBuf::from);
        let places = match &chosen {
            Some(folder) => self.within(folder, &format!("named by ${home}")),
            None => self.places(variable, as_root),
        };
        let mut taken = |(folder, origin): (PathBuf, String)| {
            let what = accept(&folder)?;
            Some(Found { folder, what, origin })
        };
        places.iter().cloned().find_map(&mut taken).ok_or_else(|| {
            let (wanted, advice) = (self.wanted, &self.advice);
            let closed = places.iter().find(|(folder, origin)| origin != ON_PATH && is_closed(folder));
            let text = if let Some((folder, _)) = closed {
                format!(
                    "{} may have {wanted}, and this user may not read it. Let all users read it (chmod -R a+rX, and a+x for the folders above it), or install it in another place",
                    folder.display()
                )
            } else if chosen.is_some() {
                format!("${home} names a folder without {wanted}; correct or unset it")
            } else {
                let path = if self.on_path { ", PATH" } else { "" };
                format!(
                    "neither ${home}, the servers' folder{path} nor a package's folder has {wanted}; {advice}"
                )
            };
            StoreError::new(
                ErrorKind::NotInstalled,
                format!("find {}", self.title),
                text,
            )
        })
    }

    /// The folders inside one folder, of this origin.
    fn within(&self, folder: &Path, origin: &str) -> Vec<(PathBuf, String)> {
        let inside = |inner: &&str| {
            let path = match *inner {
                "" => folder.to_owned(),
                inner => folder.join(inner),
            };
            (path, origin.to_owned())
        };
        self.inside.iter().map(inside).collect()
    }

    /// All places in their order, where the user chose none.
    fn places(&self, variable: &dyn Fn(&str) -> Option<OsString>, as_root: bool) -> Vec<(PathBuf, String)> {
        let own = variable("HOME")
            .filter(|_| !as_root)
            .map(|home| PathBuf::from(home).join(".local/share/sensormark/servers"));
        let prefixes = [
            variable("SENSORMARK_SERVERS").map(PathBuf::from),
            Some(PathBuf::from("/opt/sensormark/servers")),
            own,
        ];
        let mut places: Vec<(PathBuf, String)> = prefixes
            .into_iter()
            .flatten()
            .flat_map(|prefix| {
                // In the words of results that were stored before the program could do it itself.
                let origin = "installed by scripts/install-servers.sh";
                self.within(&prefix.join(self.name), origin)
            })
            .collect();
        if self.on_path {
            let path = variable("PATH").unwrap_or_default();
            let folders = std::env::split_paths(&path);
            places.extend(folders.map(|folder| (folder, ON_PATH.to_owned())));
        }
        let packages = self.packages.iter().cloned();
        places.extend(packages.map(|folder| (folder, "installed package".to_owned())));
        places
    }
}

/// What a program prints when it is asked for its version, to standard output and then to standard error. It runs without variables of the
/// environment, so that none of a user's settings changes what it says.
///
/// # Errors
/// When it cannot be run.
pub fn stated_version(program: &Path, arguments: &[&str]) -> std::io::Result<String> {
    let output = std::process::Command::new(program).args(arguments).env_clear().output()?;
    let text = [output.stdout, output.stderr].concat();
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The first word that is a version's number, without a `v` before it.
pub fn version_number(text: &str) -> Option<&str> {
    text.split_whitespace()
        .map(|word| word.strip_prefix('v').unwrap_or(word))
        .find(|word| word.starts_with(|first: char| first.is_ascii_digit()))
}

/// The version that a program states by this argument.
///
/// # Errors
/// [`ErrorKind::NotInstalled`] when it does not run or states none.
pub fn program_version(title: &str, program: &Path, argument: &str) -> Result<String, StoreError> {
    let failed = |text: String| {
        let operation = format!("ask {title} for its version");
        StoreError::new(ErrorKind::NotInstalled, operation, text)
    };
    let text = stated_version(program, &[argument])
        .map_err(|error| failed(format!("{error}; install it again")).with_source(error))?;
    let version = version_number(&text);
    let version = version.ok_or_else(|| failed("the program states none; install it again".to_owned()))?;
    Ok(version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search() -> Search<'static> {
        Search {
            name: "somedb",
            title: "SomeDB",
            wanted: "the program somed",
            inside: &["bin", ""],
            on_path: true,
            packages: vec![PathBuf::from("/usr/lib/somedb")],
            advice: "install it".to_owned(),
        }
    }

    fn environment(name: &str) -> Option<OsString> {
        let value = match name {
            "SENSORMARK_SERVERS" => "/servers",
            "HOME" => "/home/me",
            "PATH" => "/bin:/usr/bin",
            _ => return None,
        };
        Some(value.into())
    }

    /// The folders that are looked into, in order.
    fn looked_into(variable: &dyn Fn(&str) -> Option<OsString>, as_root: bool) -> (Vec<String>, StoreError) {
        let mut folders = Vec::new();
        let error = search()
            .find_among(variable, as_root, |folder| {
                folders.push(folder.display().to_string());
                None::<()>
            })
            .unwrap_err();
        (folders, error)
    }

    #[test]
    fn places_have_one_order() {
        let (folders, error) = looked_into(&environment, false);
        let expected = [
            "/servers/somedb/bin",
            "/servers/somedb",
            "/opt/sensormark/servers/somedb/bin",
            "/opt/sensormark/servers/somedb",
            "/home/me/.local/share/sensormark/servers/somedb/bin",
            "/home/me/.local/share/sensormark/servers/somedb",
            "/bin",
            "/usr/bin",
            "/usr/lib/somedb",
        ];
        assert_eq!(folders, expected);
        assert_eq!(error.kind(), ErrorKind::NotInstalled);
        assert!(error.to_string().contains("$SENSORMARK_SOMEDB_HOME"));
        let (as_root, _) = looked_into(&environment, true);
        assert!(!as_root.iter().any(|folder| folder.starts_with("/home")));
    }

    #[test]
    fn a_home_that_the_user_names_is_the_only_place() {
        let chosen = |name: &str| match name {
            "SENSORMARK_SOMEDB_HOME" => Some("/mine".into()),
            other => environment(other),
        };
        let (folders, error) = looked_into(&chosen, false);
        assert_eq!(folders, ["/mine/bin", "/mine"]);
        assert!(error.to_string().contains("correct or unset it"));
        let found = search().find_among(&chosen, false, |folder| folder.ends_with("bin").then_some(7));
        let installation = found.unwrap().installation(PathBuf::from("/mine/bin/somed"), "1".to_owned());
        assert_eq!(installation.origin, "named by $SENSORMARK_SOMEDB_HOME");
    }

    #[test]
    fn versions_are_found_in_what_programs_say() {
        for (text, version) in [
            ("postgres (PostgreSQL) 15.18 (Debian)", "15.18"),
            ("db version v7.0.2", "7.0.2"),
            ("InfluxDB v1.8.10 (git: none)", "1.8.10"),
        ] {
            assert_eq!(version_number(text), Some(version));
        }
        assert_eq!(version_number("no version at all"), None);
    }
}
