//! What a person is asked about the own sensors, and the workload file that the answers make.
//!
//! Each question has a default and takes its answer as text, from a terminal, from an option or from a recording. [`draft`] writes the file. Nothing is measured here, and
//! no terminal is known.

mod answers;
pub mod draft;
mod life;
mod measure;
mod parse;
mod recorded;
mod text;

#[cfg(test)]
mod tests;

use super::file::StoreCheck;
pub use answers::{Answers, Asked, BUDGETS, Loss};
pub use measure::Measure;
pub use recorded::Recorded;
use sensormark_data::quantity::duration_ns;

/// One question.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    /// The option that answers it without a terminal.
    pub option: &'static str,
    /// What is asked.
    pub text: &'static str,
    /// What an answer looks like.
    pub hint: &'static str,
    /// The answer of who says nothing; empty for the stores, of which the program knows which it has.
    pub default: &'static str,
    take: fn(&mut Answers, &str, StoreCheck<'_>) -> Result<(), String>,
}

/// The questions, in the order in which they are asked.
pub const QUESTIONS: [Question; 15] = [
    Question {
        option: "sensors",
        text: "How many sensors are there?",
        hint: "a whole number, like 250",
        default: "100",
        take: |all, text, _| parse::sensors(text).map(|found| all.sensors = found),
    },
    Question {
        option: "measures",
        text: "What does a sensor measure?",
        hint: "names, each perhaps with a type: temperature, door:bool, pulses:counter",
        default: "temperature, humidity",
        take: |all, text, _| measure::measures(text).map(|found| all.measures = found),
    },
    Question {
        option: "every",
        text: "How often does each sensor send a reading?",
        hint: "a length of time or a rate, like 500ms, 10s, 5m or 2 Hz",
        default: "10s",
        take: |all, text, _| {
            let interval_ns = parse::every(text)?;
            parse::interval(interval_ns, all.sensors)?;
            all.interval_ns = interval_ns;
            Ok(())
        },
    },
    Question {
        option: "disorder",
        text: "Which share of the readings comes late or twice?",
        hint: "none, or such as: 1 % late, 0.1 % twice",
        default: "none",
        take: |all, text, _| {
            (all.late, all.late_by_ns, all.repeated) = parse::disorder(text)?;
            Ok(())
        },
    },
    Question {
        option: "keep",
        text: "How long is the data kept?",
        hint: "a length of time, like 12h, 30d or 2 years",
        default: "90d",
        take: |all, text, _| {
            all.keep_ns = parse::no_shorter(duration_ns(text)?, all.interval_ns)?;
            text.clone_into(&mut all.keep);
            Ok(())
        },
    },
    Question {
        option: "rollups",
        text: "Which means do you keep when readings go?",
        hint: "none, hour or day; with readings that are compressed before: day, compressed",
        default: "none",
        take: |all, text, _| life::means(text, &all.measures).map(|found| all.means = found),
    },
    Question {
        option: "write-size",
        text: "How many readings does a write hold?",
        hint: "a whole number; or 1s, for what comes in a second",
        default: "1s",
        take: |all, text, _| parse::write_size(text).map(|found| all.write_size = found),
    },
    Question {
        option: "asks",
        text: "What is asked of it while sensors write?",
        hint: "of these: live, history, dashboards, alerts",
        default: "live, history",
        take: |all, text, _| {
            let asked = parse::asked(text)?;
            parse::needs_number(&asked, &all.measures)?;
            all.asked = asked;
            Ok(())
        },
    },
    Question {
        option: "reach",
        text: "How far back do questions reach?",
        hint: "a length of time, like 1h, 1d or 1 month",
        default: "1h",
        take: |all, text, _| {
            let reach_ns = parse::no_shorter(duration_ns(text)?, all.interval_ns)?;
            all.reach_ns = reach_ns.min(all.keep_ns);
            Ok(())
        },
    },
    Question {
        option: "answer-within",
        text: "How fast must 99 of 100 answers be?",
        hint: "a length of time, like 50ms or 1s",
        default: "250ms",
        take: |all, text, _| {
            duration_ns(text)?;
            text.clone_into(&mut all.within);
            Ok(())
        },
    },
    Question {
        option: "may-lose",
        text: "What may be lost?",
        hint: "nothing; moments (at a power cut only); or a share like 0.1 %",
        default: "nothing",
        take: |all, text, _| parse::loss(text).map(|found| all.loss = found),
    },
    Question {
        option: "headroom",
        text: "How many times today's rate must the database be able to take?",
        hint: "a number, 1 or more",
        default: "2",
        take: |all, text, _| parse::headroom(text).map(|found| all.headroom = found),
    },
    Question {
        option: "memory",
        text: "How much memory of the machine may the database take?",
        hint: "a size, like 512 MiB or 4 GB",
        default: "2 GB",
        take: |all, text, _| parse::size(text).map(|found| all.memory = found),
    },
    Question {
        option: "disk",
        text: "How much disk is there for the data?",
        hint: "a size, like 20 GB or 2 TB",
        default: "100 GB",
        take: |all, text, _| parse::size(text).map(|found| all.disk = found),
    },
    Question {
        option: "on",
        text: "Which databases come into question?",
        hint: "names, as after --on: sqlite, postgresql; or all",
        default: "",
        take: |all, text, is_store| parse::stores(text, is_store).map(|found| all.stores = found),
    },
];

impl Answers {
    /// Takes the answer of a question.
    ///
    /// # Errors
    /// What is wrong with it, and what a right one looks like.
    pub fn take(&mut self, question: &Question, text: &str, is_store: StoreCheck<'_>) -> Result<(), String> {
        (question.take)(self, text.trim(), is_store)
    }
}
