//! Templates of one layout: macros and statements, put together from the chain of sections, compiled when a statement is first rendered.

use crate::sections::{Kind, Section, Sections};
use crate::text::tidy;
use minijinja::{Environment, UndefinedBehavior, Value};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The templates of a layout.
#[derive(Debug)]
pub struct Templates {
    sections: Sections,
    compiled: Mutex<Environment<'static>>,
}

impl Templates {
    /// Puts sections together, the nearest first.
    pub fn new(chain: &[&Sections]) -> Self {
        let mut merged = Sections::new();
        for (depth, sections) in chain.iter().rev().enumerate() {
            for (key, section) in *sections {
                let mut section = section.clone();
                if section.text.contains("super()")
                    && let Some(before) = merged.remove(key)
                {
                    let arguments = match key.0 {
                        Kind::Macro => section.head.find('(').map_or("()", |start| &section.head[start..]),
                        Kind::Statement => "()",
                    };
                    let name = format!("{}_{depth}", key.1);
                    let call = format!("{name}{arguments}");
                    section.text = section.text.replace("super()", &call);
                    let before = Section { head: call, ..before };
                    merged.insert((Kind::Macro, name), before);
                }
                merged.insert(key.clone(), section);
            }
        }
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        Self { sections: merged, compiled: Mutex::new(environment) }
    }

    fn statement(&self, name: &str) -> Option<&Section> {
        self.sections.get(&(Kind::Statement, name.to_owned()))
    }

    /// Whether a statement is there and has a text.
    pub fn defines(&self, name: &str) -> bool {
        self.statement(name).is_some_and(|section| !section.text.trim().is_empty())
    }

    /// Why the client does what a statement is for, in full or in part.
    pub fn in_the_client(&self, name: &str) -> Option<&str> {
        self.statement(name)?.in_the_client.as_deref()
    }

    /// How a statement's rows are read, or what carries them: the words behind `->`.
    pub fn form(&self, name: &str) -> &str {
        let head = self.statement(name).map_or("", |section| &section.head);
        head.split_once("->").map_or("", |(_, form)| form.trim())
    }

    /// The same of a statement whose form depends on the question.
    ///
    /// # Errors
    /// What is wrong with the template.
    pub fn form_for(&self, name: &str, context: &Value) -> Result<String, String> {
        let environment = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let rendered = environment.render_str(self.form(name), context);
        rendered.map_err(|cause| format!("the form of {name}: {cause:#}"))
    }

    /// The text of a statement, on one line; empty where there is none.
    ///
    /// # Errors
    /// What is wrong with the template.
    pub fn render(&self, name: &str, context: &Value) -> Result<String, String> {
        let Some(section) = self.statement(name) else {
            return Ok(String::new());
        };
        let mut environment = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let wrong = |cause: minijinja::Error| format!("{} ({name}): {cause:#}", section.place);
        if environment.get_template(name).is_err() {
            let text = self.with_macros(&section.text);
            environment.add_template_owned(name.to_owned(), text).map_err(wrong)?;
        }
        let template = environment.get_template(name).map_err(wrong)?;
        template.render(context).map(|text| tidy(&text)).map_err(wrong)
    }

    /// A text behind the macros that it calls.
    fn with_macros(&self, text: &str) -> String {
        let (mut called, mut look) = (BTreeSet::new(), vec![text]);
        while let Some(text) = look.pop() {
            for word in words(text) {
                if let Some((key, section)) = self.sections.get_key_value(&(Kind::Macro, word.to_owned()))
                    && called.insert(key)
                {
                    look.push(&section.text);
                }
            }
        }
        let mut whole = String::new();
        for key in called {
            let section = &self.sections[key];
            let body = section.text.trim();
            whole.push_str(&format!(
                "{{% macro {} %}}{{% filter trim %}}{body}{{% endfilter %}}{{% endmacro %}}",
                section.head
            ));
        }
        whole.push_str(text.trim());
        whole
    }

    /// Macros that nobody calls, with their places: typing errors.
    pub fn uncalled(&self) -> Vec<String> {
        let called: BTreeSet<&str> =
            self.sections.values().flat_map(|section| words(&section.text)).collect();
        let uncalled = |((kind, name), _): &(&(Kind, String), &Section)| {
            *kind == Kind::Macro && !called.contains(name.as_str())
        };
        let found = self.sections.iter().filter(uncalled);
        found.map(|((_, name), section)| format!("{}: nobody calls {name}", section.place)).collect()
    }
}

/// The names in a template, among other words.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
}
