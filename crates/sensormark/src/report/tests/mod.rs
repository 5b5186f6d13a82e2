//! Tests of the report on records with known numbers: what is printed, who is ranked, and that nothing hostile gets out.

mod fixture;

use super::*;
use fixture::*;

fn report(trials: Vec<TrialRecord>) -> Report {
    Report::new(run(), trials, &ReportOptions::default()).unwrap()
}

#[test]
fn look() {
    let mut trials: Vec<TrialRecord> = Vec::new();
    trials.extend(pair("MariaDB", "individual", 0, COSTLY, COSTLY));
    trials.extend(pair("MariaDB", "bulk", 0, CHEAP, CHEAP));
    trials.extend(pair("SQLite", "individual", 0, CHEAP, CHEAP));
    println!("{}", report(trials).text(80));
}
