//! Asking in a terminal: a question, its hint, a line to type with the default in brackets. A wrong answer is asked again, with what is wrong.

use super::questionnaire::Questionnaire;
use crate::failure::Failure;
use rustyline::error::ReadlineError;
use rustyline::{Config, DefaultEditor};
use sensormark_report::wrapping::wrap;
use sensormark_workload::own::questionnaire::{Answers, QUESTIONS, Question};
use std::io::{self, Write};

/// What stands before lines that belong to a question.
const INDENT: &str = "       ";
/// The width that every terminal has.
const WIDTH: usize = 80;

/// Asks what no option answers; nothing where the user breaks off with Ctrl-C or Ctrl-D.
pub fn ask(questionnaire: &Questionnaire<'_>) -> Result<Option<Answers>, Failure> {
    let config = Config::builder().bracketed_paste(false).build();
    let failed = |error: ReadlineError| {
        Failure::usage(format!("cannot ask in this terminal: {error}; --yes asks nothing"))
    };
    let mut editor = DefaultEditor::with_config(config).map_err(failed)?;
    let mut answers = Answers::default();
    let lost = |error: io::Error| failed(error.into());
    say(
        "A few questions about your sensors. Enter takes the answer in brackets; Ctrl-C ends without a file.",
        "",
    )
    .map_err(lost)?;
    for (number, question) in QUESTIONS.iter().enumerate() {
        if let Some(text) = questionnaire.given(question) {
            questionnaire.take(&mut answers, question, text)?;
            continue;
        }
        ask_for(number + 1, question).map_err(lost)?;
        match answer(questionnaire, &mut editor, &mut answers, question) {
            Ok(()) => {}
            Err(ReadlineError::Interrupted | ReadlineError::Eof) => return Ok(None),
            Err(error) => return Err(failed(error)),
        }
    }
    writeln!(io::stdout()).map_err(lost)?;
    Ok(Some(answers))
}

/// Asks until the answer is right.
fn answer(
    questionnaire: &Questionnaire<'_>,
    editor: &mut DefaultEditor,
    answers: &mut Answers,
    question: &Question,
) -> Result<(), ReadlineError> {
    let default = questionnaire.default(question);
    loop {
        let line = editor.readline(&format!("{INDENT}[{default}] > "))?;
        let text = match line.trim() {
            "" => default,
            text => text,
        };
        match questionnaire.try_take(answers, question, text) {
            Ok(()) => return Ok(()),
            Err(why) => say(&why, INDENT)?,
        }
    }
}

/// Prints a question's number, its text and its hint.
fn ask_for(number: usize, question: &Question) -> io::Result<()> {
    writeln!(io::stdout(), "\n{number:>2}/{}  {}", QUESTIONS.len(), question.text)?;
    say(question.hint, INDENT)
}

/// Prints a text on lines that fit.
fn say(text: &str, indent: &str) -> io::Result<()> {
    for line in wrap(text, WIDTH - indent.len()) {
        writeln!(io::stdout(), "{indent}{line}")?;
    }
    Ok(())
}
