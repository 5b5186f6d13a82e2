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
/// The smallest machine: cores, and GB of memory.
const SMALLEST: [f64; 2] = [0.25, 0.5];
const NOT_MEASURED: &str = "a part of it was not measured";

/// What a layout costs.
#[derive(Debug, Default)]
struct Money {
    /// Cores, GB of memory and GB of disk.
    machine: Option<[f64; 3]>,
    month: Option<f64>,
    million: Option<f64>,
    thousand: Option<f64>,
    card_years: Option<f64>,
}

/// The smallest power of two of the smallest that is enough.
fn step(smallest: f64, needed: f64) -> f64 {
    smallest * (needed / smallest).log2().ceil().max(0.0).exp2()
}

impl Money {
    fn of(offer: &Offer, load: Load, of: &Use) -> Self {
        let thousand = of.question_cpu.map(|us| us * 1e3 / 3.6e9 * offer.cpu_hour);
        let million = || {
            let [_, bytes] = of.disk?;
            let kept = bytes / 1e3 * load.days / MONTH_DAYS * offer.disk_gb_month;
            Some(of.load_cpu? / 3.6e3 * offer.cpu_hour + of.wire? / 1e3 * offer.traffic_gb + kept)
        };
        let machine = || {
            let cores = (of.load_cpu? * load.readings + of.question_cpu? * load.questions) / 1e6;
            let [fixed, bytes] = of.disk?;
            let disk = (fixed + bytes * load.readings * load.days * DAY) / 1e9;
            Some([step(SMALLEST[0], 2.0 * cores), step(SMALLEST[1], of.memory? / 1e3), disk])
        };
        let month = || {
            let [cores, memory, disk] = machine()?;
            let traffic = of.wire? * load.readings * MONTH_DAYS * DAY / 1e9 * offer.traffic_gb;
            let held = cores * MONTH_HOURS * offer.cpu_hour + memory * offer.memory_gb_month;
            Some(held + disk * offer.disk_gb_month + traffic)
        };
        let card_years = || Some(offer.rated_tb? * 1e12 / (of.written? * load.readings * 365.0 * DAY));
        Self { machine: machine(), month: month(), million: million(), thousand, card_years: card_years() }
    }
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
    let money = offer.currency.as_str();
    let mut columns = vec![
        ("implementation", ""),
        ("meets", ""),
        ("a month", money),
        ("a million readings", money),
        ("a thousand questions", money),
    ];
    if offer.rated_tb.is_some() {
        columns.push(("card lives", "years"));
    }
    columns.extend([("cores", ""), ("memory", "GB"), ("disk", "GB")]);
    let mut table = Table::new(
        &format!("prices_{number}"),
        &format!("{}, prices of {}", offer.name, offer.date),
        &columns,
    );
    let mut rows: Vec<(&Use, Money)> = uses.iter().map(|of| (of, Money::of(offer, load, of))).collect();
    rows.sort_by(|(_, one), (_, other)| {
        let cost = |money: &Money| money.month.unwrap_or(f64::INFINITY);
        cost(one).total_cmp(&cost(other))
    });
    for (of, money) in rows {
        let mut row = row![&of.label, of.mark];
        row.extend([money.month, money.million, money.thousand].map(|one| Cell::maybe(one, NOT_MEASURED)));
        if offer.rated_tb.is_some() {
            row.push(Cell::maybe(money.card_years, "what was written to the device was not measured"));
        }
        row.extend((0..3).map(|place| Cell::maybe(money.machine.map(|all| all[place]), NOT_MEASURED)));
        table.row(row);
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
        let money = Money::of(&offer, load, &of);
        let near = |found: Option<f64>, expected: f64| {
            assert!(
                found.is_some_and(|found| (found / expected - 1.0).abs() < 1e-9),
                "{found:?}: {expected}"
            );
        };
        let [cores, memory, disk] = money.machine.expect("a machine");
        assert_eq!((cores, memory), (0.25, 1.0));
        near(Some(disk), 1.0 + 31.536);
        near(money.thousand, 0.001 * 0.04);
        // 1,000 s of CPU, 50 MB sent, 10 MB for twelve months.
        near(money.million, 0.04 / 3.6 + 0.05 * 0.01 + 0.01 * 12.0 * 0.1);
        near(money.month, 0.25 * 29.2 + 3.0 + 3.2536 + 13.14 * 0.01);
        near(money.card_years, 10e12 / (2000.0 * 31_536_000.0));
        let unknown = Money::of(&offer, load, &Use { wire: None, question_cpu: None, ..of });
        assert!(unknown.month.is_none() && unknown.million.is_none() && unknown.thousand.is_none());
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
