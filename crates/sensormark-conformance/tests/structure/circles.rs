//! No circle between files: what two files need of each other stands in a file below both.

use crate::modules::{Arrows, arrows};
use crate::{crates, repository};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The files that each file reaches.
fn reached(arrows: &Arrows) -> BTreeMap<&PathBuf, BTreeSet<&PathBuf>> {
    let reach = |from| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(next) = open.pop() {
            let targets = arrows.get(next).into_iter().flat_map(BTreeMap::keys);
            open.extend(targets.filter(|target| seen.insert(*target)));
        }
        seen
    };
    arrows.keys().map(|from| (from, reach(from))).collect()
}

/// The circles: sets of files of which each reaches each.
fn circles(arrows: &Arrows) -> BTreeSet<BTreeSet<&PathBuf>> {
    let reached = reached(arrows);
    let mut circles = BTreeSet::new();
    for (file, all) in &reached {
        let back = all.iter().copied().filter(|other| {
            let from_there = reached.get(other);
            from_there.is_some_and(|there| there.contains(file))
        });
        circles.insert(back.collect::<BTreeSet<_>>());
    }
    circles.retain(|circle| circle.len() > 1);
    circles
}

/// What ties a circle, a line an arrow.
fn told(arrows: &Arrows, circle: &BTreeSet<&PathBuf>) -> String {
    let mut lines = String::new();
    for from in circle {
        for (to, names) in &arrows[*from] {
            if circle.contains(to) {
                let names = Vec::from_iter(names.iter().map(String::as_str)).join(", ");
                lines += &format!("  {} -> {}: {names}\n", from.display(), to.display());
            }
        }
    }
    lines
}

#[test]
fn files_make_no_circle() {
    let mut wrong = String::new();
    for folder in crates() {
        let source = repository().join(&folder).join("src");
        let roots = ["lib.rs", "main.rs"].map(|name| source.join(name));
        for root in roots.iter().filter(|root| root.exists()) {
            let arrows = arrows(root);
            for circle in circles(&arrows) {
                wrong += &format!(
                    "{folder}, {} files:\n{}",
                    circle.len(),
                    told(&arrows, &circle)
                );
            }
        }
    }
    let prefix = format!("{}/", repository().display());
    assert!(
        wrong.is_empty(),
        "files name each other in a circle; move what both need into a file below them:\n{}",
        wrong.replace(&prefix, "")
    );
}

#[test]
fn a_circle_is_found_through_a_name_that_is_handed_on() {
    let folder = std::env::temp_dir().join(format!("sensormark-circles-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("above")).expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
    write(
        "lib.rs",
        "mod above; mod below; mod beside; pub use above::lower::Name;",
    );
    write(
        "above.rs",
        "pub mod lower; fn f() { below() } fn below() {}",
    );
    write(
        "above/lower.rs",
        "pub struct Name; #[cfg(test)] mod tests { use super::super::f; }",
    );
    write(
        "below.rs",
        "use crate::Name; mod inside { use super::Name; }",
    );
    write("beside.rs", "use crate::below::{self, Other};");
    let root = folder.join("lib.rs");
    assert_eq!(circles(&arrows(&root)).len(), 0);
    write(
        "above/lower.rs",
        "pub struct Name; use crate::below::Other;",
    );
    let arrows = arrows(&root);
    let found = circles(&arrows);
    let expected = BTreeSet::from(
        [&folder.join("above/lower.rs"), &folder.join("below.rs")].map(Clone::clone),
    );
    let found: Vec<BTreeSet<PathBuf>> = found
        .iter()
        .map(|one| one.iter().map(|it| (*it).clone()).collect())
        .collect();
    assert_eq!(found, [expected]);
    std::fs::remove_dir_all(folder).expect("the folder goes");
}
