//! What a session sent, noted where it is sent and shown by [`crate::shown`]. Nothing is noted until it is asked for.

use crate::query::value::Value;

/// Lines that are shown of a write.
const LINES: usize = 2;

/// What was sent since statements are kept.
#[derive(Default)]
pub(crate) struct Kept(pub(crate) Option<Vec<Sent>>);

/// One statement or request.
pub(crate) struct Sent {
    pub(crate) text: String,
    pub(crate) values: Vec<Value>,
    /// What is to be known of lines.
    pub(crate) note: Option<String>,
}

impl Kept {
    /// Keeps what is sent from now on.
    pub(crate) fn start(&mut self) {
        self.0.get_or_insert_default();
    }

    /// Notes a statement that is sent with these values.
    #[inline]
    pub(crate) fn note(&mut self, text: &str, values: impl FnOnce() -> Vec<Value>) {
        if let Some(sent) = &mut self.0 {
            sent.push(Sent {
                text: text.to_owned(),
                values: values(),
                note: None,
            });
        }
    }

    /// Notes lines that are sent as one request.
    #[inline]
    pub(crate) fn note_lines(&mut self, lines: &[u8]) {
        if let Some(sent) = &mut self.0 {
            let text = String::from_utf8_lossy(lines);
            let first: Vec<&str> = text.lines().take(LINES).collect();
            let (count, shown) = (text.lines().count(), first.len());
            let bytes = lines.len();
            sent.push(Sent {
                text: first.join("\n"),
                values: Vec::new(),
                note: Some(format!(
                    "{count} lines in {bytes} bytes over HTTP, of which the first {shown} are shown"
                )),
            });
        }
    }
}
