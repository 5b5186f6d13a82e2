//! Arguments of `init`: an option for each question.

use super::headings::ANSWERS;
use clap::Args;
use sensormark_data::recording::{RecordingOptions, dashed};
use std::path::PathBuf;

/// Arguments of `init`.
#[derive(Debug, Args)]
#[command(mut_group("RecordingOptions", |group| group.requires("from")))]
pub struct InitArguments {
    /// The file to write; one that is there is left alone
    #[arg(default_value = "workload.toml")]
    pub file: PathBuf,
    /// Ask nothing: what no option answers has its default
    #[arg(short, long)]
    pub yes: bool,
    /// Write a file that shows every kind of key, instead of one about your sensors
    #[arg(long, conflicts_with_all = ["yes", "from", "answers"])]
    pub example: bool,
    /// Take sensors, types, interval, and shares of late and repeated readings from this recording; - is standard input
    #[arg(long, value_name = "RECORDING")]
    pub from: Option<PathBuf>,
    #[command(flatten)]
    pub answers: AnswerArguments,
    #[command(flatten)]
    pub recording: RecordingOptions,
}

/// Answers to the questions.
#[derive(Debug, Args)]
#[group(id = "answers", multiple = true)]
pub struct AnswerArguments {
    /// How many sensors there are [default: 100]
    #[arg(help_heading = ANSWERS, long, value_name = "NUMBER", allow_hyphen_values = true, value_parser = dashed)]
    sensors: Option<String>,
    /// What a sensor measures: NAME[:TYPE],… with float, integer, counter, bool or text [default: temperature, humidity]
    #[arg(help_heading = ANSWERS, long, value_name = "NAMES", allow_hyphen_values = true, value_parser = dashed)]
    measures: Option<String>,
    /// How often each sensor sends a reading: 10s, or 2 Hz [default: 10s]
    #[arg(help_heading = ANSWERS, long, value_name = "TIME", allow_hyphen_values = true, value_parser = dashed)]
    every: Option<String>,
    /// Which share comes late or twice: none, or such as "1 % late by 10m, 0.1 % twice" [default: none]
    #[arg(help_heading = ANSWERS, long, value_name = "SHARES", allow_hyphen_values = true, value_parser = dashed)]
    disorder: Option<String>,
    /// How long the data is kept [default: 90d]
    #[arg(help_heading = ANSWERS, long, value_name = "TIME", allow_hyphen_values = true, value_parser = dashed)]
    keep: Option<String>,
    /// Which means are kept when readings go: none, hour or day; with readings that are compressed before: day, compressed [default: none]
    #[arg(help_heading = ANSWERS, long, value_name = "WINDOW", allow_hyphen_values = true, value_parser = dashed)]
    rollups: Option<String>,
    /// How many readings a write holds; 1s for those of a second [default: 1s]
    #[arg(help_heading = ANSWERS, long, value_name = "NUMBER", allow_hyphen_values = true, value_parser = dashed)]
    write_size: Option<String>,
    /// What is asked: live, history, dashboards, alerts [default: live, history]
    #[arg(help_heading = ANSWERS, long, value_name = "NAMES", allow_hyphen_values = true, value_parser = dashed)]
    asks: Option<String>,
    /// How far back questions reach [default: 1h]
    #[arg(help_heading = ANSWERS, long, value_name = "TIME", allow_hyphen_values = true, value_parser = dashed)]
    reach: Option<String>,
    /// How fast 99 of 100 answers must be [default: 250ms]
    #[arg(help_heading = ANSWERS, long, value_name = "TIME", allow_hyphen_values = true, value_parser = dashed)]
    answer_within: Option<String>,
    /// What may be lost: nothing, moments (at a power cut only), or a share [default: nothing]
    #[arg(help_heading = ANSWERS, long, value_name = "WHAT", allow_hyphen_values = true, value_parser = dashed)]
    may_lose: Option<String>,
    /// How many times today's rate the database must be able to take [default: 2]
    #[arg(help_heading = ANSWERS, long, value_name = "TIMES", allow_hyphen_values = true, value_parser = dashed)]
    headroom: Option<String>,
    /// How much memory of the machine the database may take [default: 2 GB]
    #[arg(help_heading = ANSWERS, long, value_name = "SIZE", allow_hyphen_values = true, value_parser = dashed)]
    memory: Option<String>,
    /// How much disk there is for the data [default: 100 GB]
    #[arg(help_heading = ANSWERS, long, value_name = "SIZE", allow_hyphen_values = true, value_parser = dashed)]
    disk: Option<String>,
    /// Which databases come into question, as after run --on [default: all that are here]
    #[arg(help_heading = ANSWERS, long, value_name = "STORES", allow_hyphen_values = true, value_parser = dashed)]
    on: Option<String>,
}

impl AnswerArguments {
    /// What was given for the question with this option.
    pub fn of(&self, option: &str) -> Option<&str> {
        let given = match option {
            "sensors" => &self.sensors,
            "measures" => &self.measures,
            "every" => &self.every,
            "disorder" => &self.disorder,
            "keep" => &self.keep,
            "rollups" => &self.rollups,
            "write-size" => &self.write_size,
            "asks" => &self.asks,
            "reach" => &self.reach,
            "answer-within" => &self.answer_within,
            "may-lose" => &self.may_lose,
            "headroom" => &self.headroom,
            "memory" => &self.memory,
            "disk" => &self.disk,
            "on" => &self.on,
            _ => return None,
        };
        given.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use crate::arguments::{Arguments, Command};
    use clap::Parser;
    use sensormark_workload::own::questionnaire::QUESTIONS;

    #[test]
    fn every_question_has_an_option() {
        for question in QUESTIONS {
            let option = format!("--{}", question.option);
            let line = ["sensormark", "init", "--yes", &option, "said"];
            let arguments = Arguments::try_parse_from(line).expect(&option);
            let Command::Init(init) = arguments.command else {
                panic!("it is init");
            };
            assert_eq!(init.answers.of(question.option), Some("said"));
        }
    }

    #[test]
    fn the_example_has_no_answers() {
        let line = ["sensormark", "init", "--example", "--sensors", "5"];
        assert!(Arguments::try_parse_from(line).is_err());
    }
}
