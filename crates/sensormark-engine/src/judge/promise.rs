//! Who promises that what was acknowledged outlives a kill on request, and whether a loss breaks that. This is the one place that decides it.
//!
//! - All was killed, or a server alone: the durability class decides. Class durable keeps what it acknowledged, the others need not.
//! - One member of a cluster was killed, and the consistency level puts each acknowledged write on several: the level decides, whatever the class is. Any loss
//!   breaks its promise.
//! - The level leaves a write to the member that acknowledged it. If that one was not killed, nothing may be lost. If it was, and others took over, they roll
//!   back what they do not have: nothing was promised. If it came back with its own disk, the class decides.

use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{Figure, TrialRecord};
use sensormark_store::{Durability, Leadership};

/// What was promised of the readings that were acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promise {
    /// Whether they had to survive.
    pub holds: bool,
    /// Whose promise it is or is not, in words that follow "… readings are not stored, ".
    pub words: String,
}

/// The one member of a cluster that was killed.
#[derive(Debug, Clone, Copy)]
pub struct LostMember<'a> {
    /// The consistency level.
    pub level: &'a str,
    /// Whether the level puts each acknowledged write on several members.
    pub survives: bool,
    /// Who takes writes.
    pub leadership: Leadership,
    /// Whether it was the first member, the primary where there is one.
    pub primary: bool,
}

impl Promise {
    /// Of a database that was killed as a whole.
    pub fn of_class(class: Durability) -> Self {
        let (holds, name) = (class == Durability::Durable, class.text());
        let words = match holds {
            true => format!("which class {name} promises to keep"),
            false => format!("which class {name} does not promise"),
        };
        Self { holds, words }
    }

    /// Of a cluster that lost a member.
    pub fn of_member(lost: LostMember<'_>, class: Durability) -> Self {
        let level = lost.level;
        let (holds, words) = match (lost.survives, lost.leadership, lost.primary) {
            (true, ..) => (true, format!("which level {level} promises to keep when any one member is lost")),
            (false, Leadership::Fixed | Leadership::Elected, false) => {
                (true, "which the primary had acknowledged, and it was not killed".to_owned())
            }
            (false, Leadership::Elected, true) => (
                false,
                format!(
                    "which level {level} does not promise when the primary is lost and another is elected"
                ),
            ),
            (false, Leadership::Fixed, true) | (false, Leadership::None, _) => {
                return Self::of_class(class);
            }
        };
        Self { holds, words }
    }

    /// Of a trial that was read: as was decided when it was measured, or by its class.
    pub fn of_record(record: &TrialRecord) -> Self {
        let decided = record.figures.get(names::LOSS_BREAKS_PROMISE);
        let decided = decided.and_then(|figure| figure.value);
        let class = Self::of_class(record.implementation.durability);
        match decided.map(|value| value > 0.0) {
            Some(holds) if holds != class.holds => Self { holds, words: "as its level has it".to_owned() },
            _ => class,
        }
    }

    /// Keeps the decision in the record, from which a report cannot make it again: it knows no stores.
    pub fn keep(&self, record: &mut TrialRecord) {
        let figure = Figure::new(f64::from(u8::from(self.holds)), "");
        let name = names::LOSS_BREAKS_PROMISE.to_owned();
        record.figures.insert(name, figure);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(survives: bool, leadership: Leadership, primary: bool, class: Durability) -> (bool, String) {
        let lost = LostMember { level: "some", survives, leadership, primary };
        let promise = Promise::of_member(lost, class);
        (promise.holds, promise.words)
    }

    const CLASSES: [Durability; 3] = [Durability::Default, Durability::Durable, Durability::Relaxed];

    #[test]
    fn a_level_that_survives_a_member_is_held_to_it_in_every_class() {
        for class in CLASSES {
            for leadership in [Leadership::Fixed, Leadership::Elected, Leadership::None] {
                for primary in [false, true] {
                    let (holds, words) = decided(true, leadership, primary, class);
                    assert!(holds && words.contains("level some promises"), "{words}");
                }
            }
        }
    }

    #[test]
    fn a_level_of_one_member_promises_what_that_member_keeps() {
        for class in CLASSES {
            // Others take over, and roll back what they do not have.
            let (holds, words) = decided(false, Leadership::Elected, true, class);
            assert!(!holds && words.contains("level some does not"), "{words}");
            // It comes back with its own disk.
            let (holds, words) = decided(false, Leadership::Fixed, true, class);
            assert_eq!(holds, class == Durability::Durable, "{words}");
            assert!(words.contains(class.text()), "{words}");
            // It was never lost.
            for leadership in [Leadership::Fixed, Leadership::Elected] {
                assert!(decided(false, leadership, false, class).0);
            }
            // Any member may be the one that acknowledged alone.
            let (holds, _) = decided(false, Leadership::None, false, class);
            assert_eq!(holds, class == Durability::Durable);
        }
    }
}
