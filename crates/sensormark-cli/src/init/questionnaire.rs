//! The questions of `init`: what options answer them, and what stands where nobody answers.

use crate::arguments::InitArguments;
use crate::failure::Failure;
use sensormark_engine::connection::Registry;
use sensormark_engine::selection::parse;
use sensormark_workload::own::questionnaire::{Answers, QUESTIONS, Question, Recorded};

/// What is asked, by the options that were given, the recording and the stores that are here.
pub struct Questionnaire<'a> {
    arguments: &'a InitArguments,
    recorded: Option<&'a Recorded>,
    registry: &'a Registry,
    /// The stores of who does not say.
    stores: String,
}

impl<'a> Questionnaire<'a> {
    /// With the answers of these options and of this recording.
    pub fn new(arguments: &'a InitArguments, recorded: Option<&'a Recorded>, registry: &'a Registry) -> Self {
        let here = registry.stores().iter().filter(|store| store.installation().is_ok());
        let here: Vec<String> = here.map(|store| store.description().name).collect();
        Self { arguments, recorded, registry, stores: here.join(", ") }
    }

    /// The answers, where nothing has to be asked.
    pub fn without_asking(&self) -> Result<Option<Answers>, Failure> {
        let given = |question: &Question| self.given(question).is_some();
        if !self.arguments.yes && !QUESTIONS.iter().all(given) {
            return Ok(None);
        }
        let mut answers = Answers::default();
        for question in &QUESTIONS {
            let text = self.given(question).unwrap_or(self.default(question));
            self.take(&mut answers, question, text)?;
        }
        Ok(Some(answers))
    }

    /// What an option says, or else the recording.
    pub fn given(&self, question: &Question) -> Option<&'a str> {
        let option = question.option;
        self.arguments.answers.of(option).or_else(|| self.recorded?.answer(option))
    }

    /// The answer of who says nothing.
    pub fn default(&self, question: &Question) -> &str {
        match question.default {
            "" => &self.stores,
            default => default,
        }
    }

    /// Takes an answer that nobody can be asked for again.
    pub fn take(&self, answers: &mut Answers, question: &Question, text: &str) -> Result<(), Failure> {
        let option = question.option;
        self.try_take(answers, question, text).map_err(|why| {
            Failure::usage(match self.arguments.answers.of(option) {
                Some(_) => format!("--{option}: {why}"),
                None => format!("--{option}, which is {text:?} unless you say otherwise: {why}"),
            })
        })
    }

    /// Takes an answer, or says what is wrong with it.
    pub fn try_take(&self, answers: &mut Answers, question: &Question, text: &str) -> Result<(), String> {
        let is_store = |text: &str| parse(text, self.registry).map(drop);
        answers.take(question, text, &is_store)
    }
}
