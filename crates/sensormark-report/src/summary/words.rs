//! The summary in the words that a terminal and a page share: a headline that fits on one line, how sure the order is, and what was checked.

use crate::{prelude::*, summary::Certainty};

/// Words of a headline, at most.
const MOST_WORDS: usize = 15;

fn is_short(text: &str) -> bool {
    text.split_whitespace().count() <= MOST_WORDS
}

impl Summary {
    /// The most important sentence of the answer in at most 15 words.
    pub fn title(&self) -> String {
        let first = self.headline.first().map_or("", String::as_str);
        if is_short(first) {
            return first.to_owned();
        }
        // How much room somebody has and what is open stand below the title.
        let (who, _) = first.split_once(" (").unwrap_or((first, ""));
        let (who, _) = who.split_once(&format!("; {DISK_FOR}")).unwrap_or((who, ""));
        let title = format!("{}.", who.trim_end_matches('.'));
        if self.requirements.is_some() && is_short(&title) {
            return title;
        }
        let rankings = self.ranked.chunk_by(|one, other| one.ranking == other.ranking).count();
        // Any other sentence before the ranking's is about a fault or a limit.
        (self.ranked.len() > 1 && self.headline.len() == rankings)
            .then(|| self.shorter())
            .filter(|text| is_short(text))
            .unwrap_or_else(|| cut(first))
    }

    /// Who costs least, without what goes without saying.
    fn shorter(&self) -> String {
        let best = |group: Group| self.ranked.iter().find(|one| one.ranking == group);
        if let (Some(embedded), Some(server)) = (best(Group::Embedded), best(Group::Servers)) {
            return format!(
                "{} costs least of embedded databases, {} of servers.",
                embedded.label, server.label
            );
        }
        let (tied, others): (Vec<_>, Vec<_>) = self
            .ranked
            .iter()
            .filter(|one| one.ranking == self.ranked[0].ranking)
            .partition(|one| one.rank == 1);
        let next = others
            .first()
            .map_or_else(String::new, |one| format!("; {} costs {} as much", one.label, times(one.ratio)));
        match tied.as_slice() {
            [one] => format!("{} costs least{next}.", one.label),
            [one, other] => format!("{} and {} cost least{next}.", one.label, other.label),
            several => {
                format!("{} layouts cost least, {} among them{next}.", several.len(), several[0].label)
            }
        }
    }

    /// Who leads; or that nobody does, and why.
    pub fn winner_or_reason(&self) -> String {
        let first = self.not_ranked.first().filter(|_| self.ranked.is_empty());
        let reason = || first.map_or_else(|| self.title(), |one| format!("{}: {}", one.label, one.reason));
        self.winner.clone().unwrap_or_else(|| format!("no winner: {}", reason()))
    }

    /// The sentences of the answer that the title does not say in full.
    pub fn further(&self) -> Vec<&str> {
        let title = self.title();
        self.headline.iter().map(String::as_str).filter(|sentence| *sentence != title).collect()
    }

    /// How sure the order is, in a word or two: firm, rough or not decided.
    pub fn badge(&self) -> &'static str {
        match self.certainty {
            Certainty::Firm => "firm",
            Certainty::Single | Certainty::Rough => "rough",
            Certainty::NotDecided => "not decided",
        }
    }

    /// How sure the order is, and why it is not surer; nothing where there is nothing to say.
    pub fn how_sure(&self) -> Option<String> {
        let mut because = self.because.join("; ");
        if !self.is_tested && self.ranked.len() > 1 {
            because += ": under 10 % apart is about the same";
        }
        match self.certainty {
            Certainty::Firm => Some(format!("firm: {} repetitions, 95 %", self.repetitions)),
            Certainty::Single => Some(format!("not tested; {because}")),
            Certainty::Rough => Some(format!("~ rough: {because}")),
            Certainty::NotDecided => (!because.is_empty()).then_some(because),
        }
    }

    /// How many trials count, and what the checks of answers and data found.
    pub fn trust(&self) -> String {
        format!("{} of {} trials counted · {}", self.counted, self.trials, self.checks)
    }
}

/// The beginning of a sentence that has too many words.
fn cut(text: &str) -> String {
    let words = text.split_whitespace().take(MOST_WORDS).collect_vec();
    format!("{} …", words[..words.len().min(MOST_WORDS - 1)].join(" "))
}
