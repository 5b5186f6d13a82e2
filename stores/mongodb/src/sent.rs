//! What a session sent, noted where it is sent and shown by [`crate::shown`]. Nothing is noted until it is asked for.

use mongodb::bson::{RawDocument, RawDocumentBuf};
use std::cell::RefCell;

/// The commands that were sent since statements are kept.
#[derive(Default)]
pub(crate) struct Kept(RefCell<Option<Vec<RawDocumentBuf>>>);

impl Kept {
    /// Keeps what is sent from now on.
    pub(crate) fn start(&self) {
        self.0.borrow_mut().get_or_insert_default();
    }

    /// Notes a command that is sent.
    #[inline]
    pub(crate) fn note(&self, command: &RawDocument) {
        if let Some(sent) = self.0.borrow_mut().as_mut() {
            sent.push(command.to_owned());
        }
    }

    /// What was sent since the last call.
    pub(crate) fn take(&self) -> Vec<RawDocumentBuf> {
        self.0.borrow_mut().as_mut().map(std::mem::take).unwrap_or_default()
    }
}
