//! `--prices`: the money of the tutorial's run at the prices that docs/how-to shows, and files that hold none.

use crate::support::{Place, errors, said};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").canonicalize().expect("the pages")
}

#[test]
fn the_examples_price_the_tutorials_run() {
    let place = Place::new();
    let (run, prices) = (docs().join("results/which-database"), docs().join("how-to/prices.toml"));
    let [run, prices] = [run, prices].map(|path| path.to_string_lossy().into_owned());
    let output =
        place.run(&["report", &run, "--prices", &prices, "--html", "money.html", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let sections = report["sections"].as_array().expect("sections");
    let money = sections.iter().find(|section| section["id"] == "prices").expect("money");
    let tables = money["blocks"].as_array().expect("blocks").iter().filter(|one| one["kind"] == "table");
    let tables: Vec<&Value> = tables.collect();
    let lives: Vec<bool> = tables.iter().map(|table| table.to_string().contains("card lives")).collect();
    assert_eq!(lives, [true, true, false, false], "a card lives where its rated bytes are known");
    for table in tables {
        let months = table["rows"].as_array().expect("rows").iter().map(|row| row[2]["value"].as_f64());
        let months: Vec<f64> = months.map(|month| month.expect("a month is known")).collect();
        assert!(months.len() == 3 && months.is_sorted() && months[0] > 0.0, "{months:?}");
    }
    let page = fs::read_to_string(place.path().join("money.html")).expect("a page");
    assert!(page.contains("\"prices\":{\"load\":{\"days\":90.0,\"questions\":100.0,\"readings\":100.0}"));
    let plain = place.run(&["report", &run, "--format", "json"]);
    assert!(!said(&plain).contains("\"prices\""), "without prices there is no money");
}

#[test]
fn a_file_without_prices_gets_one_message() {
    let place = Place::new();
    let run = docs().join("results/which-database").to_string_lossy().into_owned();
    fs::write(place.path().join("wrong.toml"), "[[offers]]\nname = \"mine\"\n").expect("ours");
    for (file, message) in
        [("none.toml", "--prices: none.toml cannot be read"), ("wrong.toml", "wrong.toml: TOML parse error")]
    {
        let output = place.run(&["report", &run, "--prices", file]);
        assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
        assert!(errors(&output).contains(message), "{}", errors(&output));
        let output = place.run(&["run", "machine-tool", "--prices", file]);
        assert_eq!(output.status.code(), Some(2), "before anything is measured: {}", errors(&output));
    }
}
