//! What a session sent, noted where it is sent and shown by [`crate::shown`]. Nothing is noted until it is asked for.

/// Lines of points that are shown of a write.
const LINES: usize = 2;

/// What was sent since statements are kept.
#[derive(Default)]
pub(crate) struct Kept(pub(crate) Option<Vec<Sent>>);

/// One request.
pub(crate) struct Sent {
    pub(crate) text: String,
    pub(crate) kind: Kind,
    pub(crate) note: Option<String>,
}

/// What a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    InfluxQl,
    Flux,
    Lines,
}

impl Kept {
    /// Keeps what is sent from now on.
    pub(crate) fn start(&mut self) {
        self.0.get_or_insert_default();
    }

    fn push(&mut self, text: &str, kind: Kind, note: Option<String>) {
        if let Some(sent) = &mut self.0 {
            let text = text.to_owned();
            sent.push(Sent { text, kind, note });
        }
    }

    /// Notes a statement of InfluxQL that is sent.
    #[inline]
    pub(crate) fn note_influxql(&mut self, text: &str) {
        self.push(text, Kind::InfluxQl, None);
    }

    /// Notes a script of Flux that is sent.
    #[inline]
    pub(crate) fn note_flux(&mut self, text: &str) {
        self.push(text, Kind::Flux, None);
    }

    /// Notes lines of points that are sent by these means.
    #[inline]
    pub(crate) fn note_lines(&mut self, lines: &[u8], means: &str) {
        if self.0.is_some() {
            let text = String::from_utf8_lossy(lines);
            let count = text.lines().count();
            let first: Vec<&str> = text.lines().take(LINES).collect();
            let note = format!(
                "{count} lines in {} bytes{means}, of which the first {} are shown",
                lines.len(),
                first.len()
            );
            self.push(&first.join("\n"), Kind::Lines, Some(note));
        }
    }
}
