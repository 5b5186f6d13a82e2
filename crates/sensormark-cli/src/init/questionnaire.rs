//! The questions of `init`: what options answer them, and what stands where nobody answers.

use crate::arguments::InitArguments;
use crate::failure::Failure;
use sensormark_engine::connection::Registry;
use sensormark_engine::selection::parse;
use sensormark_workload::own::questionnaire::{Answers, QUESTIONS, Question};

/// Stores that come into question where nobody says otherwise, as far as the program has them.
const USUAL_STORES: [&str; 2] = ["sqlite", "postgresql"];

/// What is asked, by the options that were given and the stores that there are.
pub struct Questionnaire<'a> {
    arguments: &'a InitArguments,
    registry: &'a Registry,
    /// The stores of who does not say.
    stores: String,
}

impl<'a> Questionnaire<'a> {
    /// With the answers of these options.
    pub fn new(arguments: &'a InitArguments, registry: &'a Registry) -> Self {
        let usual = USUAL_STORES.iter();
        let built_in: Vec<&str> = usual.copied().filter(|name| registry.find(name).is_some()).collect();
        let first = registry.stores().first();
        let stores = if built_in.is_empty() {
            first.map_or_else(String::new, |store| store.description().name.to_string())
        } else {
            built_in.join(", ")
        };
        Self { arguments, registry, stores }
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

    /// What an option says.
    pub fn given(&self, question: &Question) -> Option<&'a str> {
        self.arguments.answers.of(question.option)
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
            Failure::usage(match self.given(question) {
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
