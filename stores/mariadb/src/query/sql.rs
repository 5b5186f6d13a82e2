//! The text of a statement, and what its parameters stand for, built side by side.

use super::slot::Slot;

/// Text, and what its question marks stand for, in one order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sql {
    /// The text, with a question mark for each parameter.
    pub(crate) text: String,
    /// What the question marks stand for; one slot may stand for several of them.
    pub(crate) slots: Vec<Slot>,
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

    /// Appends this many question marks with commas between them, all of this slot.
    pub(crate) fn marks(&mut self, count: usize, slot: Slot) -> &mut Self {
        for number in 0..count {
            self.push(if number == 0 { "?" } else { ",?" });
        }
        self.bind([slot])
    }

    /// Says what question marks stand for that are in the text already.
    pub(crate) fn bind(&mut self, slots: impl IntoIterator<Item = Slot>) -> &mut Self {
        self.slots.extend(slots);
        self
    }
}
