//! `sensormark init`: asks a person about the sensors, and writes the workload file that answers which database suits them.

mod questionnaire;
mod terminal;

use crate::arguments::InitArguments;
use crate::failure::{Failure, INTERRUPTED};
use crate::registry::registry;
use crate::replay;
use questionnaire::Questionnaire;
use sensormark_report::quoted;
use sensormark_workload::own::file;
use sensormark_workload::own::questionnaire::{Answers, Recorded};
use sensormark_workload::own::template;
use std::io::{ErrorKind, IsTerminal, stdin, stdout};
use std::path::Path;
use std::process::ExitCode;

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
            "wrote {}; change what you like, then: sensormark run {}",
            path.display(),
            quoted(&path.to_string_lossy())
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let registry = registry();
    let recorded = match &arguments.from {
        Some(file) => Some(Recorded::of(&replay::read(file, &mut arguments.recording.clone())?.0)),
        None => None,
    };
    let is_overruled = |option: &str| arguments.answers.of(option).is_some();
    let remarks = recorded.as_ref().map_or_else(Vec::new, |recorded| recorded.lines(is_overruled));
    remarks.iter().for_each(crate::messages::say);
    let questionnaire = Questionnaire::new(arguments, recorded.as_ref(), &registry);
    let Some(answers) = answers(&questionnaire)? else {
        crate::messages::say("\nsensormark: broken off; nothing was written");
        return Ok(ExitCode::from(INTERRUPTED));
    };
    let title = path.file_stem().unwrap_or_default().to_string_lossy();
    let text = answers.file(&title, &remarks);
    let name = path.display().to_string();
    file::parse(&text, &name, Path::new(""), &[], &|_| Ok(()))
        .map_err(|error| Failure::usage(format!("these answers do not go together: {}", error.message)))?;
    write(path, &text)?;
    let rate = answers.rate_text();
    crate::messages::say(format_args!(
        "wrote {name}: {rate} readings a second, {}\nnext: sensormark run {}\n{}",
        answers.kept(),
        quoted(&name),
        answers.advice()
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

/// The answers; none where the user broke off.
fn answers(questionnaire: &Questionnaire<'_>) -> Result<Option<Answers>, Failure> {
    if let Some(answers) = questionnaire.without_asking()? {
        return Ok(Some(answers));
    }
    if !stdin().is_terminal() || !stdout().is_terminal() {
        return Err(Failure::usage(
            "init asks in a terminal, and here is none; add --yes, which takes the defaults, and answer what differs with options (sensormark init --help lists them)",
        ));
    }
    terminal::ask(questionnaire)
}
