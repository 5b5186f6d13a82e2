//! The modules of one crate, one a file, and which of them names what of which other.

use crate::source::{self, Words, end_of_group};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The most steps from a name to where it is defined.
const MOST_STEPS: usize = 16;

/// What one file names of others: for each file the names.
pub type Arrows = BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<String>>>;

/// A file of the crate.
struct Module {
    file: PathBuf,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    /// What it hands on under a name: the path from here.
    handed_on: BTreeMap<String, Vec<String>>,
    words: Words,
}

/// A path in the code, with the number of inline modules around it.
struct Mention {
    path: Vec<String>,
    depth: usize,
}

/// The arrows between the files of the crate with this root file.
pub fn arrows(root: &Path) -> Arrows {
    let mut modules = Vec::new();
    read(root, root.parent().unwrap_or(root), None, &mut modules);
    let mut arrows = Arrows::new();
    for (number, module) in modules.iter().enumerate() {
        for mention in mentions(module) {
            let Some((target, name)) = resolve(&modules, number, &mention) else {
                continue;
            };
            if target != number {
                let from = arrows.entry(module.file.clone()).or_default();
                let names = from.entry(modules[target].file.clone()).or_default();
                names.insert(name);
            }
        }
    }
    arrows
}

/// Reads a file, and the files of the modules that it declares.
fn read(file: &Path, folder: &Path, parent: Option<usize>, modules: &mut Vec<Module>) -> usize {
    let text = std::fs::read_to_string(file);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let (number, words) = (modules.len(), source::words(&text));
    modules.push(Module {
        file: file.to_owned(),
        parent,
        children: BTreeMap::new(),
        handed_on: BTreeMap::new(),
        words: words.clone(),
    });
    for three in words.windows(3) {
        let [keyword, name, end] = three else {
            continue;
        };
        if keyword == "mod" && end == ";" {
            let flat = folder.join(format!("{name}.rs"));
            let inside = folder.join(name);
            let path = if flat.exists() {
                flat
            } else {
                inside.join("mod.rs")
            };
            let child = read(&path, &inside, Some(number), modules);
            modules[number].children.insert(name.clone(), child);
        }
    }
    modules[number].handed_on = handed_on(&words);
    number
}

/// The names that `pub use` of a file hands on, each with its path.
fn handed_on(words: &[String]) -> BTreeMap<String, Vec<String>> {
    let mut names = BTreeMap::new();
    for (place, word) in words.iter().enumerate() {
        if word != "use" {
            continue;
        }
        let before = &words[..place];
        let is_public = before
            .last()
            .is_some_and(|word| word == "pub" || word == ")");
        if is_public {
            for (path, name) in used(words, place + 1).0 {
                names.insert(name, path);
            }
        }
    }
    names
}

/// The paths of a `use` that begins here, each with the name that it gets, and where the `use` ends.
fn used(words: &[String], start: usize) -> (Vec<(Vec<String>, String)>, usize) {
    let mut found = Vec::new();
    let end = branch(words, start, &[], &mut found);
    (found, end)
}

/// One branch of a `use`, up to its comma, brace or semicolon.
fn branch(
    words: &[String],
    start: usize,
    before: &[String],
    found: &mut Vec<(Vec<String>, String)>,
) -> usize {
    let (mut path, mut place) = (before.to_vec(), start);
    let mut name = None;
    while place < words.len() {
        match words[place].as_str() {
            "::" => place += 1,
            "{" => {
                let end = end_of_group(words, place);
                place += 1;
                while place < end - 1 {
                    place = branch(words, place, &path, found);
                    if words[place] == "," {
                        place += 1;
                    }
                }
                return end;
            }
            "as" => {
                name = Some(words[place + 1].clone());
                place += 2;
            }
            "," | "}" | ";" => break,
            word => {
                path.push(word.to_owned());
                place += 1;
            }
        }
    }
    if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
        path.pop();
    }
    let name = name.or_else(|| path.last().cloned()).unwrap_or_default();
    found.push((path, name));
    place
}

/// Every path of a file that may lead to another: those of its `use`, and those in its code that begin at a module. A name that the file hands on and does
/// not use itself is none: a module with its children is one house with one door.
fn mentions(module: &Module) -> Vec<Mention> {
    let (words, mut found) = (&module.words, Vec::new());
    let (mut place, mut inline, mut depth) = (0, Vec::new(), 0_usize);
    while place < words.len() {
        let word = words[place].as_str();
        match word {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                inline.retain(|&opened| opened <= depth);
            }
            "mod" if words.get(place + 2).is_some_and(|next| next == "{") => inline.push(depth + 1),
            "use" => {
                let (paths, end) = used(words, place + 1);
                let depth = inline.len();
                let is_public = place > 0 && matches!(words[place - 1].as_str(), "pub" | ")");
                for (path, name) in paths {
                    let times = words.iter().filter(|word| **word == name).count();
                    if !is_public || times > 1 {
                        found.push(Mention { path, depth });
                    }
                }
                place = end;
                continue;
            }
            _ => {}
        }
        let begins =
            matches!(word, "crate" | "super" | "self") || module.children.contains_key(word);
        let goes_on = words.get(place + 1).is_some_and(|next| next == "::");
        let follows = place > 0 && matches!(words[place - 1].as_str(), "::" | "." | "in");
        if begins && goes_on && !follows {
            let mut path = vec![word.to_owned()];
            while words.get(place + 1).is_some_and(|next| next == "::") {
                path.extend(words.get(place + 2).cloned());
                place += 2;
            }
            found.push(Mention {
                path,
                depth: inline.len(),
            });
        }
        place += 1;
    }
    found
}

/// The file that a path leads to, and what it names there.
fn resolve(modules: &[Module], from: usize, mention: &Mention) -> Option<(usize, String)> {
    let supers = mention
        .path
        .iter()
        .take_while(|word| *word == "super")
        .count();
    let within = supers.min(mention.depth);
    if within > 0 && supers == within {
        // It stays in this file.
        return None;
    }
    follow(modules, from, &mention.path[within..], MOST_STEPS)
}

fn follow(
    modules: &[Module],
    from: usize,
    path: &[String],
    steps: usize,
) -> Option<(usize, String)> {
    let (mut at, mut rest) = (from, path);
    let first = rest.first()?;
    let knows = |name: &String| modules[at].children.contains_key(name);
    let is_local = matches!(first.as_str(), "crate" | "super" | "self") || knows(first);
    if !is_local || steps == 0 {
        return None;
    }
    while let Some((word, behind)) = rest.split_first() {
        let module = &modules[at];
        at = match word.as_str() {
            "crate" => 0,
            "self" => at,
            "super" => module.parent?,
            name => match module.children.get(name) {
                Some(&child) => child,
                None => {
                    let defined = module.handed_on.get(name).and_then(|path| {
                        let whole: Vec<String> = path.iter().chain(behind).cloned().collect();
                        follow(modules, at, &whole, steps - 1)
                    });
                    return Some(defined.unwrap_or_else(|| (at, name.to_owned())));
                }
            },
        };
        rest = behind;
    }
    Some((at, "the module".to_owned()))
}
