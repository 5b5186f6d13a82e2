//! What the report says of durability trials: what survived of what had been acknowledged when the server was killed.

use crate::prelude::*;

/// The section: what happened, a line for each class, and the table.
pub fn section(field: &Field) -> Section {
    let is_power_cut = is_power_cut(&field.run);
    let mut section = Section::new("survival", "What survived");
    let (with, tried) = if is_power_cut {
        (
            "Its disk lost all that was not flushed, and it",
            "This tries a power cut. What was there at the first acknowledged write counts as flushed, and names of files are not lost. A disk that keeps half a block was not tried.",
        )
    } else {
        (
            "It",
            "This tries a crash of the database's process alone: what the operating system had taken over survives that. A power cut was not tried; --power-cut does.",
        )
    };
    section.paragraph(format!(
        "Each server (or the program that holds an embedded database) was killed (SIGKILL) while clients wrote. {with} was started again on the same data folder, and everything in it was read back. {tried}"
    ));
    section.list(field.mixed.iter().map(|arm| in_a_line(field, arm)).collect());
    section.table(survival(field));
    section
}

/// Whether a run cut the power.
pub fn is_power_cut(run: &RunRecord) -> bool {
    run.workload == sensormark_workload::durability::NAME
        && run.parameters.get("kill").is_some_and(|victim| victim == "power")
}

/// What acknowledgements promised in a run, and what power cuts on the same machine showed of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promise {
    /// In words.
    pub said: String,
    /// The stores of class durable whose power was never cut here.
    pub untried: Vec<String>,
}

impl Promise {
    /// Of a run, by the trials of power cuts here. A cut of another version of a server says nothing.
    pub fn new(field: &Field, cuts: &[TrialRecord]) -> Self {
        let classes = field
            .trials
            .iter()
            .map(|it| it.implementation.durability)
            .sorted()
            .dedup()
            .map(Durability::text)
            .join(", ");
        let mut untried = vec![];
        // In the order of their letters.
        let mut parts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let subject = |of: &TrialRecord| {
            let version = of.server.as_ref().map(|server| server.version.clone());
            (of.implementation.store.clone(), of.implementation.durability, version)
        };
        for trial in field.trials.iter().filter(|it| it.implementation.durability == Durability::Durable) {
            let own = &trial.implementation;
            let ledger = together(cuts.iter().filter(|cut| subject(cut) == subject(trial)));
            let counts = ledger.as_ref().map_or((0, 0), |it| (it.acknowledged, it.lost));
            let (part, how_many) = match counts {
                (0, _) => ("no power cut was tried here on", String::new()),
                (_, 0) => ("a power cut here took nothing of it from", String::new()),
                (of, some) => ("it took some from", format!(" ({} of {})", thousands(some), thousands(of))),
            };
            let is_ours = trial.server.as_ref().is_none_or(|server| server.managed);
            if ledger.is_none() && is_ours {
                untried.push(own.store.clone());
            }
            parts.entry(part).or_default().push(own.title.clone() + &how_many);
        }
        let shown: String = parts
            .into_iter()
            .map(|(what, names)| format!("; {what} {}", each_once(names).join(", ")))
            .collect();
        let meaning = if shown.is_empty() { "" } else { " (what is acknowledged is on disk)" };
        Self { said: format!("Durability: {classes}{meaning}{shown}."), untried: each_once(untried) }
    }
}

/// What was counted in all of these trials; none where nothing was.
fn together<'a>(trials: impl Iterator<Item = &'a TrialRecord>) -> Option<LedgerRecord> {
    trials.filter_map(|trial| trial.ledger.clone()).reduce(|mut all, more| {
        all.add(&more);
        all
    })
}

/// What was promised, and what was lost.
fn in_a_line(field: &Field, arm: &Arm) -> String {
    let class = arm.implementation.durability;
    let promise = match class {
        Durability::Durable => "promised to keep all that it acknowledges",
        Durability::Default => "promised what the database does as it comes",
        Durability::Relaxed => "promised all but the last second or so",
        Durability::Unacknowledged => "promised nothing",
    };
    let trials = field.trials_of(arm).collect_vec();
    let found = match together(trials.iter().copied()) {
        None => "what it kept could not be counted: see the verdicts".to_owned(),
        Some(it) if it.acknowledged == 0 => {
            format!("{} of {} sent are there", thousands(it.stored), thousands(it.in_doubt))
        }
        Some(it) if it.lost == 0 => format!("lost none of {}", thousands(it.acknowledged)),
        Some(it) => format!("lost {} of {}", thousands(it.lost), thousands(it.acknowledged)),
    };
    let of_disk: f64 = trials.iter().filter_map(|trial| figure(trial, names::DISK_LOST_BYTES)).sum();
    let disk = if of_disk > 0.0 { format!(" (the disk: {})", size_text(of_disk)) } else { String::new() };
    format!("{}, {}: {promise}, {found}{disk}.", label(arm), class.text())
}

fn survival(field: &Field) -> Table {
    let mut table = Table::new(
        "survival",
        "Acknowledged readings after a kill, exact counts, summed over repetitions",
        "implementation; class; acknowledged; survived; lost; in doubt; of these stored; killed after [s]; ready again after [s]",
    );
    for arm in &field.mixed {
        table.row(row(field, arm));
    }
    table.note("acknowledged: the database had said that they are stored, in the sense of the class. In class durable all of them have to survive, else the trial is invalid; the other classes promise less.");
    table.note("An embedded database ends with the program that writes: acknowledged is what that had told five times a second until then.");
    table.note(
        "in doubt: sent when the server was killed, and never acknowledged; stored or not, both are right.",
    );
    table
}

fn row(field: &Field, arm: &Arm) -> Vec<Cell> {
    let trials = field.trials_of(arm).collect_vec();
    let ledger = together(trials.iter().copied());
    let reason = trials.iter().flat_map(|trial| &trial.loads).find_map(|load| load.not_supported.as_deref());
    let missing = reason.map_or_else(
        || "nothing was counted: see the verdicts".to_owned(),
        |reason| format!("not supported: {reason}"),
    );
    let count = |count: fn(&LedgerRecord) -> u64| Cell::count(ledger.as_ref().map(count), &missing);
    let longest = |name: &str, missing: &str| {
        let values = trials.iter().filter_map(|trial| figure(trial, name));
        Cell::maybe(values.reduce(f64::max), missing)
    };
    row![
        label(arm),
        arm.implementation.durability.text(),
        count(|ledger| ledger.acknowledged),
        count(|ledger| ledger.acknowledged.saturating_sub(ledger.lost)),
        count(|ledger| ledger.lost),
        count(|ledger| ledger.in_doubt),
        count(|ledger| ledger.in_doubt.saturating_sub(ledger.in_doubt_not_stored)),
        longest(names::KILLED_AFTER, &missing),
        longest(names::RESTART, &missing),
    ]
}

/// The implementation's name without the class, which is said beside it.
fn label(arm: &Arm) -> String {
    clean(&Implementation { durability: Durability::Default, ..arm.implementation.clone() }.label())
}
