//! The text of a question, and the parameters that go with it, built side by side.

use mysql_async::Value;

/// Text and its parameters, in one order.
#[derive(Debug, Default)]
pub(crate) struct Sql {
    /// The text, with a question mark for each parameter.
    pub(crate) text: String,
    /// The parameters.
    pub(crate) parameters: Vec<Value>,
    narrowed: bool,
}

impl Sql {
    /// Text to start with.
    pub(crate) fn new(text: &str) -> Self {
        let mut sql = Self::default();
        sql.push(text);
        sql
    }

    /// Appends text.
    pub(crate) fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Appends texts with commas between them.
    pub(crate) fn list(&mut self, texts: &[String]) -> &mut Self {
        for (number, text) in texts.iter().enumerate() {
            self.push(if number == 0 { "" } else { ", " }).push(text);
        }
        self
    }

    /// Starts a condition: WHERE the first time, AND from then on.
    pub(crate) fn and(&mut self) -> &mut Self {
        let word = if self.narrowed { " AND " } else { " WHERE " };
        self.narrowed = true;
        self.push(word)
    }

    /// Appends question marks with commas between them, with these values.
    pub(crate) fn parameters(&mut self, values: Vec<Value>) -> &mut Self {
        for number in 0..values.len() {
            self.push(if number == 0 { "?" } else { ",?" });
        }
        self.bind(values)
    }

    /// Gives values to question marks that are in the text already.
    pub(crate) fn bind(&mut self, values: impl IntoIterator<Item = Value>) -> &mut Self {
        self.parameters.extend(values);
        self
    }
}
