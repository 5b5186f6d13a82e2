//! The money as tables, one an offer.

use super::{
    Offer,
    uses::{Load, Use},
};
use crate::prelude::*;

/// Hours and days of a month, and seconds of a day.
const MONTH_HOURS: f64 = 730.0;
const MONTH_DAYS: f64 = MONTH_HOURS / 24.0;
const DAY: f64 = 86_400.0;
const NOT_MEASURED: &str = "a part of it was not measured";

/// The smallest power of two of the smallest that is enough.
fn step(smallest: f64, needed: f64) -> f64 {
    if needed <= smallest { smallest } else { smallest * (needed / smallest).log2().ceil().exp2() }
}

/// What a layout costs: a month, a million readings, a thousand questions, and the years that a card lives. Cores, memory and disk of its machine follow, both in
/// GB. Nothing comes of what was not measured.
fn money(offer: &Offer, load: Load, of: &Use) -> [Known; 7] {
    let known = |value: Known| value.unwrap_or(f64::NAN);
    let [load_cpu, question_cpu, wire] = [of.load_cpu, of.question_cpu, of.wire].map(known);
    let [fixed, bytes] = of.disk.unwrap_or([f64::NAN; 2]);
    let thousand = question_cpu / 3.6e6 * offer.cpu_hour;
    let kept = bytes / 1e3 * load.days / MONTH_DAYS * offer.disk_gb_month;
    let million = load_cpu / 3.6e3 * offer.cpu_hour + wire / 1e3 * offer.traffic_gb + kept;
    let years = known(offer.rated_tb) * 1e12 / (known(of.written) * load.readings * 365.0 * DAY);
    // At most half busy.
    let cores = step(0.25, 2.0 * (load_cpu * load.readings + question_cpu * load.questions) / 1e6);
    let memory = step(0.5, known(of.memory) / 1e3);
    let disk = (fixed + bytes * load.readings * load.days * DAY) / 1e9;
    let held =
        cores * MONTH_HOURS * offer.cpu_hour + memory * offer.memory_gb_month + disk * offer.disk_gb_month;
    let month = held + wire * load.readings * MONTH_DAYS * DAY / 1e9 * offer.traffic_gb;
    let all = [month, million, thousand, years, cores, memory, disk];
    all.map(|value| Some(value).filter(|value| value.is_finite()))
}

/// The section; empty where no prices were given.
pub(crate) fn section(prices: Option<&Prices>) -> Section {
    let mut section = Section::new("prices", "Money");
    let Some(Prices { offers, uses, load }) = prices else { return section };
    let [readings, questions, days] =
        [load.readings, load.questions, load.days].map(|number| significant(number, 3));
    section.paragraph(format!(
        "At {readings} readings and {questions} questions a second, readings kept for {days} days."
    ));
    section.paragraph("A month is the smallest machine that is at most half busy and has the peak memory, with the disk for what is kept, and what is sent to the database. A million readings and a thousand questions are the CPU time of both sides; readings also what they send, and their disk for the time kept. Where every phase that asks also writes, questions have the CPU that is left when each reading costs what it costs in the load.");
    for (number, offer) in offers.iter().enumerate() {
        section.table(table(number, offer, uses, *load));
    }
    section
}

fn table(number: usize, offer: &Offer, uses: &[Use], load: Load) -> Table {
    let title = format!("{}, prices of {}", offer.name, offer.date);
    let mut table = Table::new(&format!("prices_{number}"), &title, "implementation; meets");
    let figures = ["a month", "a million readings", "a thousand questions"];
    table.columns.extend(figures.map(|name| (name, &*offer.currency).into()));
    table.columns.extend(offer.rated_tb.map(|_| "card lives [years]".into()));
    table.columns.extend(["cores", "memory [GB]", "disk [GB]"].map(Into::into));
    let mut rows = uses.iter().map(|of| (of, money(offer, load, of))).collect_vec();
    let month = |found: &[Known; 7]| found[0].unwrap_or(f64::INFINITY);
    rows.sort_by(|(_, one), (_, other)| month(one).total_cmp(&month(other)));
    for (of, found) in rows {
        let is_shown = |place: &usize| *place != 3 || offer.rated_tb.is_some();
        let cells = (0..7).filter(is_shown).map(|place| Cell::maybe(found[place], NOT_MEASURED));
        table.row(row![&of.label, of.mark].into_iter().chain(cells).collect());
    }
    if let Some(rated) = offer.rated_tb {
        table.note(format!(
            "card lives: until {} TB are written to the device, at the bytes a reading of the load.",
            significant(rated, 3)
        ));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 readings a second that each take 1 ms of CPU: a tenth of a core, so a quarter of one is at most half busy.
    #[test]
    fn the_money_by_hand() {
        let offer = Offer {
            name: "mine".to_owned(),
            date: "2026-11-28".to_owned(),
            currency: "EUR".to_owned(),
            cpu_hour: 0.04,
            memory_gb_month: 3.0,
            disk_gb_month: 0.1,
            traffic_gb: 0.01,
            rated_tb: Some(10.0),
        };
        let of = Use {
            label: String::new(),
            mark: "",
            load_cpu: Some(1000.0),
            question_cpu: Some(3_600.0),
            disk: Some([1e9, 10.0]),
            memory: Some(600.0),
            written: Some(20.0),
            wire: Some(50.0),
        };
        let load = Load { readings: 100.0, questions: 1.0, days: 365.0 };
        let [month, million, thousand, years, cores, memory, disk] = money(&offer, load, &of);
        let near = |found: Option<f64>, expected: f64| {
            assert!(
                found.is_some_and(|found| (found / expected - 1.0).abs() < 1e-9),
                "{found:?}: {expected}"
            );
        };
        assert_eq!((cores, memory), (Some(0.25), Some(1.0)));
        near(disk, 1.0 + 31.536);
        near(thousand, 0.001 * 0.04);
        // 1,000 s of CPU, 50 MB sent, 10 MB for twelve months.
        near(million, 0.04 / 3.6 + 0.05 * 0.01 + 0.01 * 12.0 * 0.1);
        near(month, 0.25 * 29.2 + 3.0 + 3.2536 + 13.14 * 0.01);
        near(years, 10e12 / (2000.0 * 31_536_000.0));
        let unknown = money(&offer, load, &Use { wire: None, question_cpu: None, ..of });
        assert_eq!(unknown[..3], [None; 3]);
        assert_eq!(unknown[3..], [years, None, memory, disk]);
    }

    #[test]
    fn machines_double() {
        let steps = [0.01, 0.25, 0.26, 0.9, 3.0].map(|cores| step(0.25, cores));
        assert_eq!(steps, [0.25, 0.25, 0.5, 1.0, 4.0]);
    }

    #[test]
    fn a_wrong_file_says_what_is_wrong() {
        let file = |rest: &str| {
            format!(
                "[[offers]]\nname = \"a\"\ndate = \"2026-11-28\"\ncurrency = \"EUR\"\ncpu_hour = 1\nmemory_gb_month = 1\ndisk_gb_month = 1\n{rest}\n"
            )
        };
        assert_eq!(super::super::offers(&file("traffic_gb = 0")).map(|offers| offers.len()), Ok(1));
        for (text, message) in [
            (file(""), "missing field `traffic_gb`"),
            (file("traffic_gb = -1"), "traffic_gb of the offer \"a\" is no price"),
            (file("traffic_gb = 0\nrated_tb = 0"), "rated_tb of the offer \"a\" is no price"),
            (file("traffic_gb = 0\ncolour = 1"), "unknown field `colour`"),
            ("offers = []".to_owned(), "it has no [[offers]]"),
        ] {
            let error = super::super::offers(&text).expect_err(message);
            assert!(error.contains(message), "{error}");
        }
    }
}
