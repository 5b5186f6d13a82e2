//! No circle between files: what two files need of each other stands in a file below both.

use crate::modules::{Arrows, arrows};
use crate::{crates, repository};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Circles that are there, each by its files under its crate's `src`. The list may only shrink: where a circle is opened, strike it.
const KNOWN: &[(&str, &[&str])] = &[
    (
        "crates/sensormark",
        &[
            "dataset/export/line_protocol.rs",
            "dataset/export/mod.rs",
            "dataset/export/output.rs",
            "dataset/export/source.rs",
        ],
    ),
    (
        "crates/sensormark",
        &[
            "engine/trial/coordinator/together.rs",
            "engine/trial/coordinator.rs",
        ],
    ),
    (
        "crates/sensormark",
        &[
            "report/brief.rs",
            "report/html/data.rs",
            "report/html/front.rs",
            "report/html/mod.rs",
            "report/html/reads.rs",
            "report/mod.rs",
            "report/requirements/words.rs",
            "report/requirements.rs",
            "report/sections/mod.rs",
            "report/sections/projection.rs",
            "report/sections/surroundings.rs",
            "report/summary/figures.rs",
            "report/summary.rs",
            "studies/mod.rs",
            "studies/sensor_operations/printed.rs",
            "studies/sensor_operations.rs",
        ],
    ),
    (
        "crates/sensormark",
        &[
            "report/compare/forest.rs",
            "report/compare/mod.rs",
            "report/compare/tables.rs",
        ],
    ),
    (
        "crates/sensormark",
        &[
            "workload/machine_tool/queue/ownership.rs",
            "workload/machine_tool/queue.rs",
        ],
    ),
    (
        "crates/sensormark",
        &[
            "workload/own/file/disagreement.rs",
            "workload/own/file/fields.rs",
            "workload/own/file/mod.rs",
            "workload/own/file/queries.rs",
            "workload/own/file/section.rs",
            "workload/own/file/whole.rs",
        ],
    ),
    (
        "crates/sensormark",
        &[
            "workload/own/questionnaire/answer.rs",
            "workload/own/questionnaire/draft.rs",
            "workload/own/questionnaire/measure.rs",
            "workload/own/questionnaire/mod.rs",
        ],
    ),
    (
        "crates/sensormark-cli",
        &[
            "arguments/cluster.rs",
            "arguments/common.rs",
            "arguments/hosts.rs",
            "arguments/init.rs",
            "arguments/measuring.rs",
            "arguments/probing.rs",
            "arguments.rs",
        ],
    ),
    ("crates/sensormark-cli", &["init/terminal.rs", "init.rs"]),
    (
        "crates/sensormark-server",
        &[
            "cluster.rs",
            "inner.rs",
            "lib.rs",
            "managed.rs",
            "ready.rs",
            "start.rs",
        ],
    ),
    (
        "stores/griddb",
        &["client/row.rs", "client/rows.rs", "client.rs"],
    ),
    ("stores/mariadb", &["write/rows.rs", "write.rs"]),
];

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

/// The paths of a circle's files under this folder.
fn below(source: &Path, circle: &BTreeSet<&PathBuf>) -> Vec<String> {
    let short = |file: &&PathBuf| {
        file.strip_prefix(source)
            .unwrap_or(file)
            .display()
            .to_string()
    };
    circle.iter().map(short).collect()
}

#[test]
fn files_make_no_circle() {
    let mut wrong = String::new();
    let mut open: Vec<_> = KNOWN.iter().collect();
    for folder in crates() {
        let source = repository().join(&folder).join("src");
        let roots = ["lib.rs", "main.rs"].map(|name| source.join(name));
        for root in roots.iter().filter(|root| root.exists()) {
            let arrows = arrows(root);
            for circle in circles(&arrows) {
                let files = below(&source, &circle);
                let is_known = |known: &&(&str, &[&str])| {
                    known.0 == folder && files.iter().all(|file| known.1.contains(&&**file))
                };
                if KNOWN.iter().any(|known| is_known(&known)) {
                    open.retain(|known| !is_known(known));
                } else {
                    wrong += &format!("(\"{folder}\", &{files:?}),\n{}", told(&arrows, &circle));
                }
            }
        }
    }
    for (folder, files) in open {
        eprintln!("a circle of {folder} is open now; strike it from the list: {files:?}");
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
