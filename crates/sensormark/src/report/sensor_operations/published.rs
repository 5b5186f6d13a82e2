//! The study's tables IV and V, with our figures and the ratios beside its own.

use super::rates::{Rates, ratios};
use crate::published::{Clients, Environment as Place, Rates as Published, SensorOperations};
use crate::report::field::Arm;
use crate::report::sections::cells::geometric_mean;
use crate::report::sections::surroundings::inventory;
use crate::report::tables::{Cell, Digits, Number, Section, Spread, Table};
use crate::report::versions;
use crate::workload::sensor_operations::Operation;

/// The section; empty when nothing was measured.
pub fn section(rates: &Rates<'_>, study: &SensorOperations) -> Section {
    let mut section = Section::new("published", "The study's figures beside ours");
    let single = table(
        rates,
        study,
        (
            "published_single",
            "Single operations a second: the study's table IV and ours",
        ),
        [Operation::SingleWrite, Operation::SingleRead],
    );
    let multi = table(
        rates,
        study,
        (
            "published_multi",
            "Multi operations a second, each reading counted: the study's table V and ours",
        ),
        [Operation::MultiWrite, Operation::MultiRead],
    );
    if single.rows.is_empty() && multi.rows.is_empty() {
        return section;
    }
    section.paragraph(format!(
        "Study: {}. Its server: {}; its client, over a network of its own: {}. Ours is {}. Ratios tell of the machines, the versions and what an acknowledged write promises as much as of the databases.",
        study.source.title,
        study.hardware.server,
        study.hardware.client.as_deref().unwrap_or("–"),
        place(rates),
    ));
    versions::put(&mut section, rates.field, &study.software);
    section.table(single);
    section.table(multi);
    section.paragraph("What the study leaves open or says twice differently:");
    section.list(study.notes.clone());
    section
}

/// What kind of machine this is.
fn place(rates: &Rates<'_>) -> String {
    match inventory(rates.field) {
        None => "unknown: the run recorded no inventory of its machine".to_owned(),
        Some(environment) => match &environment.hypervisor {
            Some(name) => format!("a virtual machine ({name}), client and server on one"),
            None => "a physical machine, as far as it shows, client and server on one".to_owned(),
        },
    }
}

/// The study's rates of an operation.
pub fn of_study(row: &Published, operation: Operation) -> Clients {
    match operation {
        Operation::SingleWrite => row.single_write,
        Operation::SingleRead => row.single_read,
        Operation::MultiWrite => row.multi_write,
        Operation::MultiRead => row.multi_read,
    }
}

fn table(
    rates: &Rates<'_>,
    study: &SensorOperations,
    (id, title): (&str, &str),
    operations: [Operation; 2],
) -> Table {
    let most = rates.multi_client(operations[0]).map(|test| test.clients);
    let several = most.map_or_else(|| "several".to_owned(), |most| format!("{most} clients"));
    let names = [
        "write, 1 client".to_owned(),
        format!("write, {several}"),
        "read, 1 client".to_owned(),
        format!("read, {several}"),
    ];
    let mut columns = vec![("database", ""), ("figures", "")];
    columns.extend(names.iter().map(|name| (name.as_str(), "1/s")));
    let mut table = Table::new(id, title, &columns);
    table.keys = 2;
    let mut titles: Vec<&str> = study
        .operations_per_second
        .iter()
        .map(|row| row.store.as_str())
        .chain(
            rates
                .believed()
                .map(|arm| arm.implementation.title.as_str()),
        )
        .collect();
    let mut seen = Vec::new();
    titles.retain(|title| {
        let new = !seen.contains(title);
        seen.push(*title);
        new
    });
    for title in titles {
        rows(&mut table, rates, study, title, operations);
    }
    table.note("The study does not say how many clients its \"multi client\" is; ours are as many as the columns say.");
    table
}

/// The rows of one database: the study's, ours, the ratios.
fn rows(
    table: &mut Table,
    rates: &Rates<'_>,
    study: &SensorOperations,
    title: &str,
    operations: [Operation; 2],
) {
    let here = operations.map(|operation| ours(rates, title, operation));
    let here = here.concat();
    if here.iter().all(|values| values.iter().all(Option::is_none)) {
        return;
    }
    let mut row = vec![Cell::text(title), Cell::text("here")];
    row.extend(
        here.iter()
            .map(|values| geometric_mean(values, "not measured")),
    );
    table.row(row);
    for published in study
        .operations_per_second
        .iter()
        .filter(|row| row.store == title)
    {
        let place = match published.environment {
            Place::Physical => "physical",
            Place::Virtual => "virtual",
        };
        let theirs: Vec<f64> = operations
            .into_iter()
            .map(|operation| of_study(published, operation))
            .flat_map(|clients| [clients.single_client, clients.multi_client])
            .collect();
        let mut row = vec![Cell::text(title), Cell::text(format!("study, {place}"))];
        row.extend(theirs.iter().map(|value| exact(*value)));
        table.row(row);
        let mut row = vec![Cell::text(title), Cell::text(format!("here / {place}"))];
        row.extend(here.iter().zip(&theirs).map(|(here, theirs)| {
            let theirs = vec![Some(*theirs); here.len()];
            geometric_mean(&ratios(here, &theirs), "not measured")
        }));
        table.row(row);
    }
    for note in stand_ins(rates, title, operations) {
        table.note(note);
    }
}

/// What stands for a database, where it is not the layout that everybody has.
fn stand_ins(rates: &Rates<'_>, title: &str, operations: [Operation; 2]) -> Vec<String> {
    let arms = operations.map(|operation| rates.counterpart(title, operation));
    let label = |arm: Option<&Arm>| {
        arm.filter(|arm| arm.label != format!("{title} individual"))
            .map(|arm| arm.label.clone())
    };
    match arms.map(label) {
        [None, None] => Vec::new(),
        [Some(one), Some(other)] if one == other => vec![format!("{title}: here {one}.")],
        labels => labels
            .into_iter()
            .zip(operations)
            .filter_map(|(label, operation)| {
                Some(format!("{title}, {}: here {}.", operation.name(), label?))
            })
            .collect(),
    }
}

/// A printed figure.
const fn exact(value: f64) -> Cell {
    Cell::Number(Number {
        value,
        spread: Spread::None,
        digits: Digits::Decimals(0),
    })
}

/// Our rates with one client and with most.
fn ours(rates: &Rates<'_>, title: &str, operation: Operation) -> [Vec<Option<f64>>; 2] {
    let tests = [
        rates.single_client(operation),
        rates.multi_client(operation),
    ];
    tests.map(|test| match (rates.counterpart(title, operation), test) {
        (Some(arm), Some(test)) => rates.rate(arm, operation, test),
        _ => Vec::new(),
    })
}
