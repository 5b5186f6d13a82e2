//! The claims of the sensor-operations study.

use super::operations::{Operations, Test, clients, grouped, rate_of};
use super::printed::{PHYSICAL, TITLES, VIRTUAL, printed_rates};
use crate::claims::{Claim, Values, all, claim, is_less, is_level, mean, ratios, shown, times};
use sensormark_data::number::significant;
use sensormark_workload::sensor_operations::Operation;

/// Databases that the study ran with and without an index.
const WITH_AND_WITHOUT: [&str; 2] = ["MongoDB", "PostgreSQL"];
/// An order of magnitude.
const MAGNITUDE: f64 = 10.0;
/// The study says what an index does to reads "especially for large data structures", of up to 1,000,000 readings: with fewer than this it is not refuted.
const LARGE: u64 = 100_000;
/// Writes differ "hardly" where one rate is no more than this many times the other, and more clients gain nothing where it is no more than that either.
const HARDLY: f64 = 1.25;
/// What differs by less than this part stays the same.
const LEVEL: f64 = 0.2;
/// Clients with which the study's Cassandra was the fastest.
const PEAK: u64 = 12;
impl Operations<'_> {
    /// All of them, in the order of the study.
    pub fn claims(self) -> Vec<Claim> {
        vec![
            self.index_changes_reads(),
            self.index_hardly_changes_writes(),
            self.best(Operation::SingleWrite),
            self.best(Operation::MultiRead),
            self.best(Operation::MultiWrite),
            self.gains_steadily(),
            self.does_not_gain(
                "MongoDB's writes do not gain as clients are added",
                "MongoDB",
                &[Operation::SingleWrite, Operation::MultiWrite],
            ),
            self.does_not_gain(
                "Cassandra's multi writes do not gain as clients are added",
                "Cassandra",
                &[Operation::MultiWrite],
            ),
            self.peaks(),
            self.stays_level(),
            self.virtual_costs(),
        ]
    }

    fn index_changes_reads(self) -> Claim {
        let text = "an index changes reads by orders of magnitude (here: tenfold or more)";
        let holds = format!("{MAGNITUDE} times or more; with under {LARGE} readings less is undecided");
        claim(text, holds, |claim| {
            let operations = [Operation::SingleRead, Operation::MultiRead];
            self.judge_index(claim, operations, |with, without, size| {
                // Ten times as fast, it would still be slower than with an index.
                let holds = is_less(&times(without, MAGNITUDE), with);
                holds.filter(|holds| *holds || size >= LARGE)
            });
            Some(())
        })
    }

    fn index_hardly_changes_writes(self) -> Claim {
        let text = "an index hardly changes writes (here: by a quarter or less)";
        let holds = format!("without an index {HARDLY} times as fast or less");
        claim(text, holds, |claim| {
            let operations = [Operation::SingleWrite, Operation::MultiWrite];
            self.judge_index(claim, operations, |with, without, _| is_less(without, &times(with, HARDLY)));
            Some(())
        })
    }

    /// Judges one client's rates of these operations with and without an index, of the study's databases; those of others are an aside.
    fn judge_index(
        self,
        claim: &mut Claim,
        operations: [Operation; 2],
        holds: fn(&Values, &Values, u64) -> Option<bool>,
    ) {
        let pairs = self.pairs();
        for title in WITH_AND_WITHOUT {
            if pairs.iter().all(|[with, _]| with.implementation.title != title) {
                claim.missing(&format!("{title} with and without an index"));
            }
        }
        let mut others = Vec::new();
        for [with, without] in pairs {
            for operation in operations {
                let Some(test) = self.single_client(operation) else {
                    continue;
                };
                let [one, other] = [with, without].map(|arm| self.rates(arm, operation, test));
                let ratio = mean(&ratios(&one, &other));
                let ratio =
                    ratio.map_or_else(|| "–".to_owned(), |ratio| format!("× {}", significant(ratio, 3)));
                let words = format!(
                    "{} to {} {} {ratio} of {} readings",
                    with.label,
                    without.label,
                    operation.name(),
                    grouped(test.size)
                );
                if !WITH_AND_WITHOUT.contains(&with.implementation.title.as_str()) {
                    others.push(words);
                    continue;
                }
                claim.about(with);
                claim.about(without);
                let held = holds(&one, &other, test.size);
                let few = held.is_none() && test.size < LARGE && !operation.writes();
                let why = if few { ", too few to refute it" } else { "" };
                claim.part(held, format!("{words}{why}"));
            }
        }
        if !others.is_empty() {
            claim.aside(format!("not in the study: {}", others.join(", ")));
        }
    }

    /// One database is the best at an operation in the study, on a machine like this one. Has it the highest rate among the study's here too, with one client
    /// and with most? A run without an inventory of its machine is held against the physical column.
    fn best(self, operation: Operation) -> Claim {
        let machine = if self.is_virtual() { VIRTUAL } else { PHYSICAL };
        let leader = |place: usize| {
            let column = printed_rates(operation).filter(|(_, own, _)| *own == machine);
            let best = column.max_by(|(.., one), (.., other)| one[place].total_cmp(&other[place]));
            best.map_or("", |(title, ..)| title)
        };
        let (one, several) = (leader(0), leader(1));
        let name = operation.name();
        let who = match one == several {
            true => format!("{one} is the best at {name}s"),
            false => format!("{one} is the best at {name}s by one client, {several} by several"),
        };
        let text = format!("{who} (the study's {machine} column)");
        claim(text, "a higher rate than each other of the study's", |claim| {
            for title in TITLES {
                if self.stands_for(title, operation).is_none() {
                    claim.missing(title);
                }
            }
            let tests = [(one, self.single_client(operation)), (several, self.multi_client(operation))];
            for (title, test) in tests {
                let (Some(test), Some(own)) = (test, self.stands_for(title, operation)) else {
                    continue;
                };
                let sample = |arm| self.results.sample(arm, &rate_of(operation, test).metric);
                let unit = format!("a second by {}", clients(test));
                let others = TITLES.into_iter().filter(|other| *other != title);
                for other in others.filter_map(|other| self.stands_for(other, operation)) {
                    claim.over(&sample(own), 1.0, &sample(other), &unit);
                }
            }
            Some(())
        })
    }

    fn gains_steadily(self) -> Claim {
        let text = "PostgreSQL gains steadily as clients are added";
        claim(text, "more at each step, in all operations", |claim| {
            for operation in Operation::ALL {
                let tests = self.by_clients(operation);
                let arm = claim.needs(("PostgreSQL", self.stands_for("PostgreSQL", operation)))?;
                if tests.len() < 2 {
                    claim.missing("several clients");
                    return None;
                }
                let of = |test: &Test| self.rates(arm, operation, *test);
                let steps = tests.windows(2);
                let steps = steps.map(|pair| is_less(&of(&pair[0]), &of(&pair[1])));
                let rate = |test: &Test| format!("{} with {}", shown(&of(test)), test.clients);
                let rates = tests.iter().map(rate).collect::<Vec<_>>().join(", ");
                let text = format!("{}, {}: {rates}", arm.label, operation.name());
                claim.part(all(steps), text);
            }
            Some(())
        })
    }

    /// Rates of a database's operation by one client and by most; nothing where they are missing, which is noted.
    fn few_and_many(
        self,
        claim: &mut Claim,
        title: &str,
        operation: Operation,
    ) -> Option<(Values, Values, String)> {
        let arm = claim.needs((title, self.stands_for(title, operation)))?;
        let (Some(one), Some(most)) = (self.single_client(operation), self.multi_client(operation)) else {
            claim.missing("several clients");
            return None;
        };
        let [few, many] = [one, most].map(|test| self.rates(arm, operation, test));
        let text = format!(
            "{}, {}: {} with 1, {} with {}",
            arm.label,
            operation.name(),
            shown(&few),
            shown(&many),
            most.clients
        );
        Some((few, many, text))
    }

    fn does_not_gain(self, text: &str, title: &str, operations: &[Operation]) -> Claim {
        claim(text, format!("by most clients {HARDLY} times or less"), |claim| {
            for operation in operations {
                if let Some((few, many, text)) = self.few_and_many(claim, title, *operation) {
                    claim.part(is_less(&many, &times(&few, HARDLY)), text);
                }
            }
            Some(())
        })
    }

    fn stays_level(self) -> Claim {
        let text = "MongoDB's multi reads stay the same as clients are added";
        let holds = format!("{} to {} times", 1.0 - LEVEL, 1.0 / (1.0 - LEVEL));
        claim(text, holds, |claim| {
            let (few, many, text) = self.few_and_many(claim, "MongoDB", Operation::MultiRead)?;
            claim.part(is_level(&many, &few, LEVEL), text);
            Some(())
        })
    }

    fn peaks(self) -> Claim {
        let text = "Cassandra's single operations peak at 12 clients";
        claim(text, "by 12 clients more than by one and by most", |claim| {
            for operation in [Operation::SingleWrite, Operation::SingleRead] {
                let tests = self.by_clients(operation);
                let peak = tests.iter().find(|test| test.clients == PEAK);
                let (Some(first), Some(peak), Some(last)) = (tests.first(), peak, tests.last()) else {
                    claim.missing("12 clients (--set clients=1,12,16)");
                    return None;
                };
                if first.clients >= PEAK || last.clients <= PEAK {
                    claim.missing("fewer clients than 12, and more (--set clients=1,12,16)");
                    return None;
                }
                let arm = claim.needs(("Cassandra", self.stands_for("Cassandra", operation)))?;
                let rates = [first, peak, last].map(|test| self.rates(arm, operation, *test));
                let [one, peak, most] = &rates;
                let text = format!(
                    "{}, {}: {} with {}, {} with {PEAK}, {} with {}",
                    arm.label,
                    operation.name(),
                    shown(one),
                    first.clients,
                    shown(peak),
                    shown(most),
                    last.clients
                );
                claim.part(all([is_less(one, peak), is_less(most, peak)]), text);
            }
            Some(())
        })
    }

    fn virtual_costs(self) -> Claim {
        let text = "a virtual machine costs up to 16× on reads (Cassandra, single) and sometimes gains";
        let holds = "see `sensormark compare PHYSICAL VIRTUAL`, which judges it by a run on each";
        claim(text, holds, |claim| {
            let (here, other) = match self.is_virtual() {
                true => (VIRTUAL, "a physical machine"),
                false => (PHYSICAL, "a virtual machine"),
            };
            claim.missing(&format!("the other environment, {other}"));
            claim.aside(format!("this one is {here}"));
            Some(())
        })
    }
}
