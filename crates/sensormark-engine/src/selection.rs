//! What the user asked to measure: `--on STORE[#NAME][:LAYOUT[/STRATEGY]][=URL],…`, or `all[:LAYOUT[/STRATEGY]]` for every store.
//!
//! A layout's name is that layout alone; with a * at its end it is every layout whose name begins so.
//! Names are checked against the registry here; which layouts there are is known only when the workload has spoken. Several servers of one store
//! are told apart by the names that the user gives them, or by numbers in the order in which they were asked for.

use crate::connection::Registry;
use sensormark_data::nearest::unknown;
use sensormark_result::probe::{HIDDEN, redact};
use sensormark_store::{Durability, Secret, Store};
use std::sync::Arc;

/// One store that was asked for.
#[derive(Clone)]
pub struct Choice {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The layout's name, or the beginning of several names and a *; none for all that are usual.
    pub layout: Option<String>,
    /// Whether a store without that layout is left out, instead of being an error: it was not named itself.
    pub optional: bool,
    /// The reading strategy's name, when only one is wanted.
    pub strategy: Option<String>,
    /// An existing server, or a folder for an embedded store, instead of one that sensormark starts.
    pub url: Option<Secret>,
    /// What tells the server from others of its store in the same run: letters, digits, - and _; none where there are no others.
    pub server: Option<String>,
    /// What an acknowledged write promises, where it is not as in the rest of the run: a study's own (see [`super::study_protocol`]).
    pub durability: Option<Durability>,
}

impl Choice {
    /// The store alone, with every layout, on a server that sensormark starts.
    pub const fn of(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            layout: None,
            optional: false,
            strategy: None,
            url: None,
            server: None,
            durability: None,
        }
    }

    /// Whether a layout of this name was named.
    pub fn names(&self, layout: &str) -> bool {
        let wanted = self.layout.as_deref();
        wanted.is_some_and(|wanted| match wanted.strip_suffix('*') {
            Some(beginning) => layout.starts_with(beginning),
            None => layout == wanted,
        })
    }

    /// The database in words, with its server where there are several ("PostgreSQL #fast").
    pub fn title(&self) -> String {
        let title = self.store.description().title;
        match &self.server {
            Some(server) => format!("{title} #{server}"),
            None => title,
        }
    }

    /// The same in the names of files, with a class of durability of its own: no store's name has a dot.
    pub fn file_name(&self) -> String {
        let mut name = self.store.description().name;
        let class = self.durability.map(|class| class.text().to_owned());
        for part in self.server.iter().chain(&class) {
            name.push('.');
            name.push_str(part);
        }
        name
    }

    fn is_same_server(&self, other: &Self) -> bool {
        let url = |of: &Self| of.url.as_ref().map(|url| url.expose().to_owned());
        self.store.description().name == other.store.description().name
            && self.server == other.server
            && url(self) == url(other)
    }

    fn is_same(&self, other: &Self) -> bool {
        self.is_same_server(other) && self.layout == other.layout && self.strategy == other.strategy
    }
}

/// Reads the value of `--on`. `all` stands for every store that the registry has, and `all:LAYOUT` for every one that has the layout.
///
/// A comma ends an item only where a store's name follows, so that a URL may hold commas (several contact points).
///
/// # Errors
/// A store that there is not, with the nearest right name.
pub fn parse(text: &str, registry: &Registry) -> Result<Vec<Choice>, String> {
    let mut choices = Vec::new();
    for item in items(text, registry) {
        if let Some(rest) = of_all(&item) {
            for store in registry.stores() {
                let item = format!("{}{rest}", store.name());
                choices.push(Choice { optional: true, ..parse_item(&item, registry)? });
            }
            continue;
        }
        choices.push(parse_item(&item, registry)?);
    }
    let mut choices = distinct(choices);
    tell_servers_apart(&mut choices)?;
    Ok(choices)
}

/// The value of `--on` as a result may keep it: users and passwords are [`HIDDEN`], each in its own item. The name of a server after an @ is no secret.
pub fn redacted(text: &str, registry: &Registry) -> String {
    let items = items(text, registry).into_iter();
    let redacted = items.map(|item| match item.split_once("=@") {
        Some((store, name)) if !store.contains('=') && !name.contains('@') => item,
        _ => redact(&item),
    });
    redacted.collect::<Vec<_>>().join(",")
}

/// The items of the value of `--on`.
fn items(text: &str, registry: &Registry) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for piece in text.split(',') {
        let starts_item =
            items.last().is_none_or(|last| !last.contains('=')) || store_name(piece, registry).is_some();
        match items.last_mut() {
            Some(last) if !starts_item => {
                last.push(',');
                last.push_str(piece);
            }
            _ => items.push(piece.trim().to_owned()),
        }
    }
    items
}

/// The choices without those that are there twice. What was named itself, besides among all, has to be there.
fn distinct(choices: Vec<Choice>) -> Vec<Choice> {
    let mut distinct: Vec<Choice> = Vec::new();
    for choice in choices {
        match distinct.iter_mut().find(|one| one.is_same(&choice)) {
            None => distinct.push(choice),
            Some(one) => one.optional &= choice.optional,
        }
    }
    distinct
}

/// What stands behind `all`, where the item is for all stores: nothing, or ":LAYOUT".
pub fn of_all(item: &str) -> Option<&str> {
    let rest = item.trim().strip_prefix("all")?;
    (rest.is_empty() || (rest.starts_with(':') && !rest.contains('='))).then_some(rest)
}

/// Gives each server a name of its own where a store has several, and takes names away that tell nothing apart.
///
/// # Errors
/// Two servers of one store with one name.
fn tell_servers_apart(choices: &mut [Choice]) -> Result<(), String> {
    let asked: Vec<Choice> = choices.to_vec();
    for choice in choices {
        let name = choice.store.description().name;
        let mut servers: Vec<&Choice> = Vec::new();
        for one in asked.iter().filter(|one| one.store.description().name == name) {
            if !servers.iter().any(|known| known.is_same_server(one)) {
                servers.push(one);
            }
        }
        let called = |place: usize, server: &Choice| {
            let number = || (place + 1).to_string();
            server.server.clone().unwrap_or_else(number)
        };
        let place = servers.iter().position(|one| one.is_same_server(choice));
        let own = called(place.unwrap_or_default(), choice);
        let named = servers.iter().enumerate();
        if named.filter(|(place, one)| called(*place, one) == own).count() > 1 {
            return Err(format!(
                "--on names two servers of {name} that are called {own}; give each a name of its own: {name}#NAME=URL"
            ));
        }
        choice.server = (servers.len() > 1).then_some(own);
    }
    Ok(())
}

fn store_name<'a>(piece: &'a str, registry: &Registry) -> Option<&'a str> {
    let name = piece.trim().split(['#', ':', '=']).next();
    let name = name.unwrap_or_default();
    (name == "all" || registry.find(name).is_some()).then_some(name)
}

fn parse_item(item: &str, registry: &Registry) -> Result<Choice, String> {
    let (left, url) = match item.split_once('=') {
        Some((left, url)) => (left, Some(Secret::new(url))),
        None => (item, None),
    };
    if url.as_ref().is_some_and(|url| is_hidden(url.expose())) {
        return Err(format!(
            "--on {item}: {HIDDEN} stands for what no result keeps, a user and a password; write them in its place"
        ));
    }
    let (name, layout) = left.split_once(':').map_or((left, None), |(name, layout)| (name, Some(layout)));
    let (name, server) = match name.split_once('#') {
        Some((name, server)) => (name, Some(server_name(item, server)?)),
        None => (name, None),
    };
    let (layout, strategy) = match layout.map(|layout| layout.split_once('/')) {
        Some(Some((layout, strategy))) => (Some(layout), Some(strategy)),
        Some(None) => (layout, None),
        None => (None, None),
    };
    let store = find_store(name, registry)?;
    if !store.description().embedded && url.as_ref().is_some_and(|url| is_cut(url.expose())) {
        return Err(format!(
            "--on {left}=…: a sign of the URL's user or password is read as their end; write @ as %40, / as %2F, ? as %3F and # as %23"
        ));
    }
    Ok(Choice {
        store: Arc::clone(store),
        layout: layout.filter(|layout| !layout.is_empty()).map(str::to_owned),
        optional: false,
        strategy: strategy.map(str::to_owned),
        url,
        server,
        durability: None,
    })
}

/// Whether a URL is one of a result's, without its user and password.
fn is_hidden(url: &str) -> bool {
    let after = url.split_once("://").map_or(url, |(_, after)| after);
    after.starts_with(&format!("{HIDDEN}@"))
}

/// Whether a user or password ends before its own end: one @ too many, or one behind the host.
fn is_cut(url: &str) -> bool {
    let after = url.split_once("://").map_or("", |(_, after)| after);
    let (authority, rest) = after.split_at(after.find(['/', '?', '#']).unwrap_or(after.len()));
    authority.matches('@').count() > 1 || rest.split('=').next().is_some_and(|path| path.contains('@'))
}

/// The longest name of a server, in characters.
const LONGEST_NAME: usize = 32;

/// A server's name, which is to be part of files' names.
fn server_name(item: &str, name: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(fits) {
        let before = item.split('#').next().unwrap_or_default();
        return Err(format!(
            "--on {before}#…: a server's name has 1 to {LONGEST_NAME} letters, digits, - or _, as in {before}#fast"
        ));
    }
    Ok(name.to_owned())
}

/// The store of this name.
///
/// # Errors
/// That there is none, with the nearest right name; or that the program was built without it.
pub fn find_store<'a>(name: &str, registry: &'a Registry) -> Result<&'a Arc<dyn Store>, String> {
    registry.find(name).ok_or_else(|| {
        if let Some((name, why)) = registry.find_left_out(name) {
            return format!("{name}: {why}");
        }
        let known = registry.stores().iter();
        unknown("store", name, known.map(|store| store.name()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_conformance::memory::MemoryStore;
    use sensormark_store::RepeatedWrite;

    #[test]
    fn a_store_that_was_left_out_of_the_program_is_no_unknown_one() {
        let registry = Registry::default().without(vec!["mongodb".to_owned()]);
        let said = |on| parse(on, &registry).err().unwrap_or_default();
        assert!(said("mongodb:individual").contains("mongodb: this program was built without it"));
        assert!(said("mongo").contains("mongodb: this program was built without it"));
        assert!(said("mo").contains("there is no store"), "too few letters");
    }

    #[test]
    fn a_store_has_the_names_that_people_use_and_all_may_have_a_layout() {
        let store = MemoryStore::new(RepeatedWrite::KeepsBoth);
        let name = store.description().name;
        let stores: Vec<Arc<dyn Store>> = vec![Arc::new(store)];
        let registry = Registry::new(stores).with_aliases(vec![("m", "memory")]);
        assert_eq!(name, "memory");
        for called in ["memory", "mem", "m"] {
            let found = parse(&format!("{called}:bulk"), &registry).expect(called);
            assert_eq!(found[0].layout.as_deref(), Some("bulk"));
            assert!(!found[0].optional);
        }
        assert!(parse("me", &registry).is_err(), "too few letters");
        let all = parse("all:bulk/bulk-1", &registry).expect("all");
        assert!(all[0].optional && all[0].strategy.as_deref() == Some("bulk-1"));
        assert!(parse("all", &registry).is_ok() && parse("allx", &registry).is_err());
        assert!(parse("all:bulk=@x", &registry).is_err(), "one server for all");
    }

    #[test]
    fn a_name_is_one_layout_and_a_star_is_every_name_that_begins_so() {
        let stores: Vec<Arc<dyn Store>> = vec![Arc::new(MemoryStore::new(RepeatedWrite::KeepsBoth))];
        let registry = Registry::new(stores);
        let named = |on: &str, layout: &str| parse(on, &registry).expect(on)[0].names(layout);
        for (on, layout, is_named) in [
            ("memory:bulk", "bulk", true),
            ("memory:bulk", "bulk-arrays", false),
            ("memory:bulk*", "bulk", true),
            ("memory:bulk*", "bulk-arrays", true),
            ("memory:bulk*", "individual", false),
            ("memory:bulk-*", "bulk", false),
            ("memory:*", "individual", true),
            ("all:bulk*", "bulk-arrays", true),
            ("memory:bulk*/bulk-1", "bulk-arrays", true),
        ] {
            assert_eq!(named(on, layout), is_named, "{on} {layout}");
        }
    }

    #[test]
    fn a_list_of_servers_is_redacted_item_by_item_and_says_what_to_fill_in() {
        let store = MemoryStore::new(RepeatedWrite::KeepsBoth);
        let registry = Registry::new(vec![Arc::new(store)]).with_aliases(vec![("m", "memory")]);
        for (given, kept) in [
            ("memory=@a,m:bulk=@b", "memory=@a,m:bulk=@b"),
            ("memory=x://u:p@h:1/,m#b=@id,memory", "memory=x://***@h:1/,m#b=@id,memory"),
            ("memory=x://u:p,q=@r@h/", "memory=x://***@h/"),
            ("memory=@a@b", "memory=***@b"),
            ("memory:bulk=@a", "memory:bulk=@a"),
        ] {
            assert_eq!(redacted(given, &registry), kept);
        }
        let servers = parse("memory=@a,m:bulk=@b", &registry).expect("two").len();
        let again = redacted("memory=@a,m:bulk=@b", &registry);
        assert_eq!(parse(&again, &registry).expect("the same").len(), servers);
        let said = parse("memory=x://***@h:1/", &registry).err();
        assert!(said.is_some_and(|said| said.contains("write them in its place")));
    }

    #[test]
    fn what_is_named_twice_is_chosen_once() {
        let stores: Vec<Arc<dyn Store>> = vec![Arc::new(MemoryStore::new(RepeatedWrite::KeepsBoth))];
        let registry = Registry::new(stores).with_aliases(vec![("m", "memory")]);
        let chosen = |on: &str| parse(on, &registry).expect(on);
        assert_eq!(chosen("memory,m,mem").len(), 1);
        assert_eq!(chosen("memory:bulk,memory:bulk").len(), 1);
        assert_eq!(chosen("memory:bulk,memory:bulk*").len(), 2, "told apart later");
        assert_eq!(chosen("memory:bulk/a,memory:bulk/b").len(), 2);
        assert_eq!(chosen("memory=@x,memory=@x").len(), 1);
        let both = chosen("all,memory");
        assert!(both.len() == 1 && !both[0].optional, "it was named itself");
    }

    #[test]
    fn servers_of_one_store_are_told_apart() {
        let store = MemoryStore::new(RepeatedWrite::KeepsBoth);
        let name = store.description().name;
        let stores: Vec<Arc<dyn Store>> = vec![Arc::new(store)];
        let registry = Registry::new(stores);
        let titles = |on: &str| -> Result<Vec<String>, String> {
            let choices = parse(&on.replace("NAME", &name), &registry)?;
            let names = choices.iter().map(Choice::file_name);
            Ok(names.map(|file| file.replace(&name, "memory")).collect())
        };
        let told = |on| titles(on).expect(on);
        assert_eq!(told("NAME:a,NAME:b"), ["memory", "memory"]);
        assert_eq!(told("NAME:a=@x,NAME:b=@x"), ["memory", "memory"]);
        assert_eq!(told("NAME:a=@x,NAME:a=@y"), ["memory.1", "memory.2"]);
        assert_eq!(told("NAME,NAME=@y,NAME:a"), ["memory.1", "memory.2", "memory.1"]);
        assert_eq!(told("NAME#old=@x,NAME#new:a=@x"), ["memory.old", "memory.new"]);
        assert_eq!(told("NAME=@x,NAME#fast=@y"), ["memory.1", "memory.fast"]);
        assert_eq!(told("NAME#fast=@y"), ["memory"], "nothing to tell it from");
        let wrong = |on| titles(on).expect_err(on);
        assert!(wrong("NAME#fast=@x,NAME#fast=@y").contains("called fast"));
        assert!(wrong("NAME#2=@x,NAME=@y").contains("called 2"));
        assert!(wrong("NAME#a/b=@x").contains("letters, digits"));
    }
}
