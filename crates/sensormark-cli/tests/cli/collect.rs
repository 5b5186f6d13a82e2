//! The collection of runs: every run is in it, the newest first, whatever lies beside it. Each run makes that of its results folder.

use crate::support::{Place, errors, runs, said};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const WORKLOAD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/page/own.toml");
const HOSTILE: &str = "<img src=x onerror=alert(1)>&\"'#?%41";

/// Measures a small workload into this results folder; what the program said.
fn measure(place: &Place, workload: &str, results: &str) -> String {
    let set = ["--set", "layouts=bulk", "--set", "repetitions=1", "--set", "mixed.duration=200ms"];
    let common = ["--results", results, "--tolerate-disturbance", "--progress=quiet"];
    let output = place.run(&[&["run", workload], &set[..], &common[..]].concat());
    assert!(output.status.code().is_some_and(|code| code < 2), "{}", errors(&output));
    said(&output)
}

/// Has the page of this results folder written anew; what the program said, in one line.
fn again(place: &Place, results: &str) -> String {
    let output = place.run(&["collect", results]);
    said(&output).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The table of a list, without the rows as data.
fn table(results: &Path) -> String {
    let page = fs::read_to_string(results.join("index.html")).expect("a list");
    let (_, rest) = page.split_once("<tbody>\n").expect("a table");
    rest.split_once("\n</tbody>").expect("its end").0.to_owned()
}

/// The rows, from the first to the last.
fn rows(results: &Path) -> Vec<String> {
    table(results).lines().map(str::to_owned).collect()
}

fn name(run: &Path) -> String {
    run.file_name().expect("a name").to_string_lossy().into_owned()
}

/// The files that the links of these rows lead to.
fn linked(results: &Path, rows: &[String]) -> Vec<PathBuf> {
    let base = url::Url::from_directory_path(results).expect("a whole path");
    let links = rows.iter().filter_map(|row| row.split("<a href=\"").nth(1)?.split('"').next());
    links.map(|link| base.join(link).expect("a link").to_file_path().expect("a file")).collect()
}

fn copy(run: &Path, to: &Path) {
    fs::create_dir_all(to.join("trials")).expect("ours");
    for part in ["", "trials"] {
        for file in
            fs::read_dir(run.join(part)).expect("a run").flatten().filter(|file| file.path().is_file())
        {
            fs::copy(file.path(), to.join(part).join(file.file_name())).expect("a copy");
        }
    }
}

#[test]
fn runs_are_listed_newest_first_with_winner_states_and_pages() {
    let place = Place::new();
    let first = measure(&place, WORKLOAD, "results");
    assert!(!first.contains("index.html"), "there is one run: {first}");
    let second = measure(&place, WORKLOAD, "results");
    assert!(second.contains("\n  all runs    results/index.html\n"), "{second}");
    let (results, rows) = (place.results(), rows(&place.results()));
    let [earlier, later] = runs(&results).try_into().expect("two runs");
    assert_eq!(rows.len(), 2);
    for (row, run) in rows.iter().zip([&later, &earlier]) {
        assert!(row.contains(&format!(">{}</a>", name(run))), "the newest first: {rows:?}");
        let report = place.run(&["report", &run.to_string_lossy(), "--format", "json"]);
        let report: Value = serde_json::from_slice(&report.stdout).expect("JSON");
        let (winner, states) = (&report["summary"]["winner"], &report["summary"]["states"]);
        let winner = winner.as_str().expect("a winner");
        assert!(row.contains(&format!(">{winner}, alone in its ranking<details>")), "{row}");
        for state in ["valid", "disturbed", "invalid"] {
            let count = &states[state];
            assert_eq!(row.contains(&format!("{count} {state}")), *count != 0, "{state}: {row}");
        }
        for told in ["own.toml", "<td>SQLite 3.", "<summary>ranking of 1 layout<", "sensormark 0."] {
            assert!(row.contains(told), "{told}: {row}");
        }
    }
    assert_eq!(linked(&results, &rows), [later.join("report.html"), earlier.join("report.html")]);
}

/// Its row went on: ", alone in its ranking".
#[test]
fn who_misses_a_requirement_has_won_nothing() {
    let (place, kept) = (Place::new(), "../../docs/results/one-database/greenhouse-postgresql");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join(kept), &place.results().join("greenhouse"));
    let output = place.run(&["collect", "results"]);
    let rows = rows(&place.results());
    let told = ">no winner: The layout does not meet all 8 requirements.<details>";
    assert!(rows[0].contains(told), "{rows:?} {}", said(&output));
}

#[test]
fn hostile_names_and_runs_that_cannot_be_read_harm_no_other_row() {
    let place = Place::new();
    let file = "<b>x&\"y.toml";
    fs::copy(WORKLOAD, place.path().join(file)).expect("a copy");
    measure(&place, file, "other results");
    assert!(!place.results().exists());
    let results = place.path().join("other results");
    let [run] = runs(&results).try_into().expect("one run");
    copy(&run, &results.join(HOSTILE));
    for (name, text) in [("damaged", "{"), ("newer", "{\"schema_version\": 99}")] {
        fs::create_dir_all(results.join(name).join("trials")).expect("ours");
        fs::write(results.join(name).join("run.json"), text).expect("ours");
    }
    let changed = results.join("changed");
    copy(&run, &changed);
    let trial = fs::read_dir(changed.join("trials")).expect("trials").flatten().next().expect("a trial");
    fs::write(trial.path(), "{").expect("ours");
    // The report refuses them, and the next run lists them all.
    measure(&place, WORKLOAD, "other results");

    let rows = rows(&results);
    assert_eq!(rows.len(), 6, "{rows:?}");
    let of =
        |name: &str| rows.iter().find(|row| row.contains(name)).unwrap_or_else(|| panic!("{name}: {rows:?}"));
    assert!(of(">damaged</tr>").contains(">damaged/run.json is damaged: "), "{rows:?}");
    assert!(of(">newer</tr>").contains("use a newer sensormark"), "{rows:?}");
    assert!(of(">changed</a>").contains("restore it"), "{rows:?}");
    let table = table(&results);
    for hostile in ["<img", "<b>", "\"y"] {
        assert!(!table.contains(hostile), "{hostile}: {table}");
    }
    assert!(table.contains("&lt;b&gt;x&amp;&quot;y.toml"), "{table}");
    let linked = linked(&results, &rows);
    assert!(linked.contains(&results.join(HOSTILE).join("report.html")), "{linked:?}");
    assert!(linked.len() == 4 && linked.iter().all(|page| page.is_file()), "{linked:?}");
}

#[test]
fn a_list_is_no_run_and_another_page_of_its_name_stays() {
    let place = Place::new();
    measure(&place, WORKLOAD, "results");
    let results = place.results();
    let run = runs(&results).remove(0);
    let run = run.to_string_lossy();
    let whole = said(&place.run(&["report", "results"]));
    assert_eq!(
        said(&place.run(&["report", "results/index.html", &run])),
        whole.replace("results/2", &run[..run.len() - name(Path::new(&*run)).len() + 1])
    );
    let refused = place.run(&["report", "results/index.html"]);
    assert_eq!(refused.status.code(), Some(2), "{}", errors(&refused));
    let refused = place.run(&["compare", "results/index.html", &run]);
    assert_eq!(refused.status.code(), Some(2), "{}", errors(&refused));

    fs::write(results.join("index.html"), "mine").expect("ours");
    let text = measure(&place, WORKLOAD, "results");
    assert!(
        text.contains("/results/index.html was not written: what is there is no page of runs; rename it"),
        "{text}"
    );
    assert_eq!(fs::read_to_string(results.join("index.html")).expect("it is there"), "mine");
    fs::remove_file(results.join("index.html")).expect("ours");
    fs::create_dir(results.join("index.html")).expect("ours");
    assert!(again(&place, "results").contains("was not written: what is there"));
    assert_eq!(fs::read_dir(&results).expect("ours").count(), 3, "nothing lies beside");
}

#[test]
fn a_run_is_read_again_only_if_its_files_changed() {
    let place = Place::new();
    measure(&place, WORKLOAD, "results");
    let (results, run) = (place.results(), runs(&place.results()).remove(0));
    let list = results.join("index.html");
    let page = fs::read_to_string(&list).expect("a list");
    fs::write(&list, page.replace("SQLite bulk", "an earlier winner")).expect("ours");
    again(&place, "results");
    assert!(table(&results).contains("an earlier winner"));
    let record = fs::read(run.join("run.json")).expect("a record");
    fs::write(run.join("run.json"), record).expect("ours");
    again(&place, "results");
    assert!(!table(&results).contains("an earlier winner") && table(&results).contains("SQLite bulk"));

    fs::remove_file(&list).expect("ours");
    let page = run.join("report.html");
    place.run(&["report", &run.to_string_lossy(), "--html", "elsewhere.html"]);
    assert!(!list.exists(), "nothing of the folder was written");
    place.run(&["report", &run.to_string_lossy(), "--html", &page.to_string_lossy()]);
    assert!(!list.exists(), "collect alone writes it");
    assert_eq!(again(&place, "results"), "wrote results/index.html, runs: 1");
    assert_eq!(rows(&results).len(), 1);
}

/// A kept result, which lies deeper, and a folder elsewhere with two that are alike but for their names.
#[test]
fn folders_far_apart_are_on_one_page_and_its_links_lead_to_them() {
    let place = Place::new();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results").canonicalize().expect("kept");
    let submitted = place.path().join("submitted/by somebody");
    for name in ["a", "{{data}}"] {
        copy(&kept.join("which-database"), &submitted.join(name));
    }
    fs::create_dir(place.path().join("pages")).expect("ours");
    let survived = kept.join("durability");
    let output =
        place.run(&["collect", &survived.to_string_lossy(), "submitted", "--html", "pages/index.html"]);
    assert_eq!(said(&output).trim(), "wrote pages/index.html, runs: 3", "{}", errors(&output));
    let pages = place.path().join("pages");
    let rows = rows(&pages);
    assert_eq!(rows.len(), 3, "{rows:?}");
    let linked = linked(&pages, &rows);
    for run in [survived.join("power-cut"), submitted.join("a")] {
        assert!(linked.contains(&run.join("report.html")), "{run:?}: {linked:?}");
    }
    assert!(linked.iter().all(|page| page.is_file()), "{linked:?}");
    let page = fs::read_to_string(pages.join("index.html")).expect("a page");
    assert!(page.len() < 6_000_000 && page.matches("\"rows\":").count() == 1, "{}", page.len());
    for told in [
        "PostgreSQL 15.",
        "MongoDB 6.0.5",
        "2 × AMD EPYC",
        "<td class=\"long\">none: it asks what survives<td>",
    ] {
        assert!(page.contains(told), "{told}");
    }
}

#[test]
fn a_folder_that_holds_no_run_gets_one_message() {
    let place = Place::new();
    fs::create_dir(place.path().join("empty")).expect("ours");
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/billing");
    for (arguments, message) in [
        (&["empty"][..], "empty has no run in it or below: a run's folder has a run.json"),
        (&["nowhere"], "there is no folder nowhere"),
        (&[kept, "empty"], "empty has no run in it or below"),
        (&[kept], "sensormark collect FOLDER… --html FILE"),
        (&[kept, kept], "sensormark collect FOLDER… --html FILE"),
    ] {
        let output = place.run(&[&["collect"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
        let said = errors(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(message) && said.matches("sensormark: ").count() == 1, "{said}");
    }
    assert!(!place.path().join("empty/index.html").exists());
    let output = place.run(&["collect", kept, "--html", "no/where.html"]);
    assert_eq!(output.status.code(), Some(4), "{}", errors(&output));
}

#[test]
fn runs_that_end_together_are_all_listed() {
    let place = Place::new();
    let set = ["--set", "layouts=bulk", "--set", "repetitions=1", "--set", "mixed.duration=200ms"];
    let common = ["--results", "results", "--tolerate-disturbance", "--progress=quiet"];
    let arguments = [&["run", WORKLOAD], &set[..], &common[..]].concat();
    let children: Vec<_> = (0..3).map(|_| place.command(&arguments).spawn().expect("it starts")).collect();
    for mut child in children {
        child.wait().expect("it ends");
    }
    let rows = rows(&place.results());
    assert_eq!(linked(&place.results(), &rows).len(), 3, "{rows:?}");
}
