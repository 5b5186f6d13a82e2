//! `sensormark init`: asks a person about the sensors, and writes the workload file that answers which database suits them.

mod terminal;

use crate::arguments::InitArguments;
use crate::failure::{Failure, INTERRUPTED};
use crate::registry::registry;
use sensormark::engine::connection::Registry;
use sensormark::engine::selection::parse;
use sensormark::workload::own::file;
use sensormark::workload::own::questionnaire::{Answers, QUESTIONS, Question};
use sensormark::workload::own::template;
use std::io::{ErrorKind, IsTerminal, stdin, stdout};
use std::path::Path;
use std::process::ExitCode;

/// Stores that come into question where nobody says otherwise, as far as the program has them.
const USUAL_STORES: [&str; 2] = ["sqlite", "postgresql"];

/// Writes the file.
pub fn init(arguments: &InitArguments) -> Result<ExitCode, Failure> {
    let path = &arguments.file;
    let known = path.extension().is_some_and(|end| end == "toml");
    if !known {
        return Err(Failure::usage(format!(
            "{}: call it something.toml, so that sensormark run knows it for a file",
            path.display()
        )));
    }
    // Before anything is asked; whether it is there still when it is written is looked at again.
    if path.symlink_metadata().is_ok() {
        return Err(cannot_write(path, &ErrorKind::AlreadyExists.into()));
    }
    if arguments.example {
        write(path, template::TEMPLATE)?;
        crate::messages::say(format_args!(
            "wrote {0}; change what you like, then: sensormark run {0}",
            path.display()
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let registry = registry();
    let questionnaire = Questionnaire::new(arguments, &registry);
    let Some(answers) = questionnaire.answers()? else {
        crate::messages::say("\nsensormark: broken off; nothing was written");
        return Ok(ExitCode::from(INTERRUPTED));
    };
    let title = path.file_stem().unwrap_or_default().to_string_lossy();
    let text = answers.file(&title);
    let name = path.display().to_string();
    file::parse(&text, &name, Path::new(""), &[], &|_| Ok(())).map_err(|error| {
        Failure::usage(format!(
            "these answers do not go together: {}",
            error.message
        ))
    })?;
    write(path, &text)?;
    let rate = answers.rate_text();
    crate::messages::say(format_args!(
        "wrote {name}: {rate} readings a second, kept for {}\nnext: sensormark run {name} --find-limit",
        answers.keep()
    ));
    Ok(ExitCode::SUCCESS)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    template::write(path, text).map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    let path = path.display();
    Failure::usage(match error.kind() {
        ErrorKind::AlreadyExists => {
            format!("{path} is there already and is left alone; name another file")
        }
        ErrorKind::NotFound => {
            format!("cannot write {path}: its folder is not there; make it, or name another file")
        }
        ErrorKind::PermissionDenied => {
            format!("cannot write {path}: its folder may not be written by you; name another file")
        }
        kind => format!("cannot write {path}: {kind}; name another file"),
    })
}

/// Who asks what.
struct Questionnaire<'a> {
    arguments: &'a InitArguments,
    registry: &'a Registry,
    /// The stores of who does not say.
    stores: String,
}

impl<'a> Questionnaire<'a> {
    fn new(arguments: &'a InitArguments, registry: &'a Registry) -> Self {
        let usual = USUAL_STORES.iter();
        let built_in: Vec<&str> = usual
            .copied()
            .filter(|name| registry.find(name).is_some())
            .collect();
        let first = registry.stores().first();
        let stores = if built_in.is_empty() {
            first.map_or_else(String::new, |store| store.description().name.to_string())
        } else {
            built_in.join(", ")
        };
        Self {
            arguments,
            registry,
            stores,
        }
    }

    /// The answers; none where the user broke off.
    fn answers(&self) -> Result<Option<Answers>, Failure> {
        let given = |question: &Question| self.given(question).is_some();
        if self.arguments.yes || QUESTIONS.iter().all(given) {
            let mut answers = Answers::default();
            for question in &QUESTIONS {
                let text = self.given(question).unwrap_or(self.default(question));
                self.take(&mut answers, question, text)?;
            }
            return Ok(Some(answers));
        }
        if !stdin().is_terminal() || !stdout().is_terminal() {
            return Err(Failure::usage(
                "init asks in a terminal, and here is none; add --yes, which takes the defaults, and answer what differs with options (sensormark init --help lists them)",
            ));
        }
        terminal::ask(self)
    }

    /// What an option says.
    fn given(&self, question: &Question) -> Option<&'a str> {
        self.arguments.answers.of(question.option)
    }

    fn default(&self, question: &Question) -> &str {
        match question.default {
            "" => &self.stores,
            default => default,
        }
    }

    /// Takes an answer that nobody can be asked for again.
    fn take(&self, answers: &mut Answers, question: &Question, text: &str) -> Result<(), Failure> {
        let option = question.option;
        self.try_take(answers, question, text).map_err(|why| {
            Failure::usage(match self.given(question) {
                Some(_) => format!("--{option}: {why}"),
                None => format!("--{option}, which is {text:?} unless you say otherwise: {why}"),
            })
        })
    }

    fn try_take(
        &self,
        answers: &mut Answers,
        question: &Question,
        text: &str,
    ) -> Result<(), String> {
        let is_store = |text: &str| parse(text, self.registry).map(drop);
        answers.take(question, text, &is_store)
    }
}
