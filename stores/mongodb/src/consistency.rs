//! The consistency level of a replica set, as a URL says it: how many members a write waits for, which writes a question sees, and which member is asked.
//!
//! Each part is an option that MongoDB's own clients have: `w`, `readConcernLevel` and `readPreference`. It sends nothing. `j` is the durability class's part.
//! <https://www.mongodb.com/docs/manual/core/causal-consistency-read-write-concerns/>

use mongodb::bson::{Bson, Document, Timestamp, doc};
use mongodb::options::{
    Acknowledgment, ConnectionString, ReadConcernLevel, ReadPreference, SelectionCriteria,
};
use sensormark_store::Durability;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The latest write that clients of one process know of, as the replica set counts time. A question to a secondary waits until that member has it.
#[derive(Debug, Default)]
pub(crate) struct LatestWrite(AtomicU64);

impl LatestWrite {
    fn note(&self, time: Timestamp) {
        let packed = (u64::from(time.time) << 32) | u64::from(time.increment);
        self.0.fetch_max(packed, Ordering::AcqRel);
    }

    /// None where no server has said a time.
    fn get(&self) -> Option<Timestamp> {
        let packed = self.0.load(Ordering::Acquire);
        let part = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).unwrap_or(u32::MAX);
        (packed > 0).then(|| Timestamp { time: part(packed >> 32), increment: part(packed) })
    }
}

/// What a client asks of the members.
#[derive(Debug, Clone)]
pub(crate) struct Consistency {
    /// Members that must have a write before it is acknowledged.
    pub(crate) acknowledgment: Acknowledgment,
    /// What a question sees; the server's default where the URL does not say it.
    level: Option<&'static str>,
    /// Who is asked; the primary where the URL does not say it.
    preference: Option<ReadPreference>,
    /// Shared with other clients of the process.
    latest: Arc<LatestWrite>,
}

impl Default for Consistency {
    fn default() -> Self {
        Self {
            acknowledgment: Acknowledgment::Nodes(1),
            level: None,
            preference: None,
            latest: Arc::default(),
        }
    }
}

impl Consistency {
    /// What a URL says.
    ///
    /// # Errors
    /// What it cannot have, in words.
    pub(crate) fn of(connection: &ConnectionString) -> Result<Self, &'static str> {
        let acknowledgment = connection
            .write_concern
            .as_ref()
            .and_then(|concern| concern.w.clone())
            .unwrap_or(Acknowledgment::Nodes(1));
        if acknowledgment == Acknowledgment::Nodes(0) {
            return Err("w=0 is the durability class unacknowledged; ask for it by --durability");
        }
        let level = match connection.read_concern.as_ref().map(|concern| &concern.level) {
            None => None,
            Some(ReadConcernLevel::Local) => Some("local"),
            Some(ReadConcernLevel::Majority) => Some("majority"),
            Some(ReadConcernLevel::Linearizable) => Some("linearizable"),
            Some(_) => {
                return Err("readConcernLevel is none of local, majority and linearizable");
            }
        };
        let preference = connection.read_preference.clone();
        let preference = preference.filter(|one| !matches!(one, ReadPreference::Primary));
        if preference.is_some() && level == Some("linearizable") {
            return Err("linearizable reads go to the primary alone; leave readPreference out");
        }
        Ok(Self { acknowledgment, level, preference, latest: Arc::default() })
    }

    /// The same, with the latest write known to others.
    pub(crate) fn sharing(mut self, latest: Arc<LatestWrite>) -> Self {
        self.latest = latest;
        self
    }

    /// The write concern of a durability class.
    pub(crate) fn write_concern(&self, durability: Durability) -> Document {
        let members = match &self.acknowledgment {
            Acknowledgment::Nodes(members) => Bson::Int32(i32::try_from(*members).unwrap_or(i32::MAX)),
            Acknowledgment::Majority => "majority".into(),
            Acknowledgment::Custom(name) => name.as_str().into(),
            _ => Bson::Null,
        };
        match durability {
            Durability::Default => doc! { "w": members },
            Durability::Durable => doc! { "w": members, "j": true },
            Durability::Relaxed => doc! { "w": members, "j": false },
            Durability::Unacknowledged => doc! { "w": 0 },
        }
    }

    /// Adds to a question what it is to see.
    pub(crate) fn add_to(&self, question: &mut Document) {
        let mut concern = Document::new();
        if let Some(level) = self.level {
            concern.insert("level", level);
        }
        if let (Some(_), Some(latest)) = (&self.preference, self.latest.get()) {
            concern.insert("afterClusterTime", latest);
        }
        if !concern.is_empty() {
            question.insert("readConcern", concern);
        }
    }

    /// Which members are asked; none where it is the primary.
    pub(crate) fn asked(&self) -> Option<SelectionCriteria> {
        self.preference.clone().map(SelectionCriteria::ReadPreference)
    }

    /// Takes note of the time in a server's answer, where questions go to other members.
    pub(crate) fn heard(&self, answer: &Document) {
        if self.preference.is_some()
            && let Ok(time) = answer.get_timestamp("operationTime")
        {
            self.latest.note(time);
        }
    }

    /// Takes note of a transaction's time.
    pub(crate) fn committed(&self, time: Option<Timestamp>) {
        if let (Some(_), Some(time)) = (&self.preference, time) {
            self.latest.note(time);
        }
    }

    /// The words that the report's settings show.
    pub(crate) fn settings(&self) -> [(&'static str, String); 2] {
        let preference = self.preference.as_ref();
        [
            ("readConcern", self.level.unwrap_or("as the server has it").to_owned()),
            ("readPreference", preference.map_or_else(|| "primary".to_owned(), ToString::to_string)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(options: &str) -> Result<Consistency, &'static str> {
        let url = format!("mongodb://one,two/?replicaSet=sm{options}");
        Consistency::of(&ConnectionString::parse(url).unwrap())
    }

    #[test]
    fn a_url_without_a_level_is_as_it_was() {
        let plain = of("").unwrap();
        assert_eq!(plain.write_concern(Durability::Default), doc! { "w": 1 });
        let mut question = doc! { "find": "c" };
        plain.add_to(&mut question);
        assert_eq!(question, doc! { "find": "c" });
        assert!(plain.asked().is_none());
    }

    #[test]
    fn a_question_to_a_secondary_names_the_latest_write() {
        let level = of("&w=majority&readConcernLevel=majority&readPreference=secondary").unwrap();
        let other = level.clone();
        let (early, late) = (Timestamp { time: 7, increment: 9 }, Timestamp { time: 8, increment: 1 });
        other.heard(&doc! { "operationTime": late });
        other.committed(Some(early));
        let mut question = Document::new();
        level.add_to(&mut question);
        let concern = doc! { "level": "majority", "afterClusterTime": late };
        assert_eq!(question, doc! { "readConcern": concern });
        assert!(level.asked().is_some());
        let durable = level.write_concern(Durability::Durable);
        assert_eq!(durable, doc! { "w": "majority", "j": true });
    }

    #[test]
    fn what_cannot_be_had_together_is_refused() {
        for options in
            ["&w=0", "&readConcernLevel=available", "&readConcernLevel=linearizable&readPreference=secondary"]
        {
            assert!(of(options).is_err(), "{options}");
        }
        assert!(of("&readConcernLevel=linearizable&readPreference=primary").is_ok());
    }
}
