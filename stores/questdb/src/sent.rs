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

/// What is shown of lines that go out as one request.
#[derive(Default)]
pub(crate) struct Lines {
    first: Vec<String>,
    count: usize,
    bytes: usize,
}

impl Lines {
    /// Takes in whole lines.
    pub(crate) fn add(&mut self, lines: &[u8]) {
        let text = String::from_utf8_lossy(lines);
        let more = LINES.saturating_sub(self.first.len());
        self.first.extend(text.lines().take(more).map(str::to_owned));
        self.count += text.lines().count();
        self.bytes += lines.len();
    }
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
            sent.push(Sent { text: text.to_owned(), values: values(), note: None });
        }
    }

    /// What takes in the lines of a request, where it is to be shown.
    pub(crate) fn lines(&self) -> Option<Lines> {
        self.0.as_ref().map(|_| Lines::default())
    }

    /// Notes lines that are sent as one request.
    #[inline]
    pub(crate) fn note_lines(&mut self, lines: Option<Lines>) {
        if let (Some(sent), Some(lines)) = (&mut self.0, lines) {
            let Lines { first, count, bytes } = lines;
            let shown = first.len();
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
