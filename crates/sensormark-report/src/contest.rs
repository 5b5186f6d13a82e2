//! Who competes with whom: costs of each repetition, taken from valid trials; and who cannot compete, with the reason.
//!
//! It gives no ratios and no ranks: see [`super::ranking`].

use crate::{costs::Values, prelude::*};

/// Those who are ranked among themselves. Whether a database may be embedded is no question of cost, and neither is what an acknowledgement promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Databases inside the client.
    Embedded,
    /// Servers.
    Servers,
    /// Databases inside the client whose acknowledgement promises less than the strongest here.
    EmbeddedPromisesLess,
    /// Servers whose acknowledgement promises less.
    ServersPromiseLess,
}

impl Group {
    /// What programs call it, and its name.
    const NAMES: [[&str; 2]; 4] = [
        ["embedded", "Embedded databases"],
        ["servers", "Servers"],
        ["embedded_promises_less", "Embedded databases that promise less"],
        ["servers_promise_less", "Servers that promise less"],
    ];

    /// What programs call it.
    pub fn id(self) -> &'static str {
        Self::NAMES[self as usize][0]
    }

    /// Its name.
    pub fn title(self) -> &'static str {
        Self::NAMES[self as usize][1]
    }

    /// Whether its members promise as much as anybody here.
    pub fn promises_most(self) -> bool {
        matches!(self, Self::Embedded | Self::Servers)
    }

    fn of(implementation: &Implementation, strongest: u8) -> Self {
        match (implementation.embedded, weakness(implementation) > strongest) {
            (true, false) => Self::Embedded,
            (false, false) => Self::Servers,
            (true, true) => Self::EmbeddedPromisesLess,
            (false, true) => Self::ServersPromiseLess,
        }
    }
}

/// How little an acknowledgement promises; 0 is that a write is on disk. Nobody acknowledges datagrams.
fn weakness(implementation: &Implementation) -> u8 {
    match (implementation.layout.write, implementation.durability) {
        (WriteMethod::Datagram, _) | (_, Durability::Unacknowledged) => 3,
        (_, Durability::Durable) => 0,
        (_, Durability::Default) => 1,
        (_, Durability::Relaxed) => 2,
    }
}

/// Somebody who competes.
pub struct Contestant {
    /// Its place in [`Field::contestants`].
    pub read: usize,
    /// Its name in tables.
    pub label: String,
    /// With whom it is compared.
    pub group: Group,
    /// Its costs by repetition; none where a trial is missing or not valid.
    pub blocks: Vec<Option<Values>>,
}

/// Everybody who competes, and the others.
#[derive(Default)]
pub struct Contest {
    /// Those with every criterion that anybody has.
    pub contestants: Vec<Contestant>,
    /// What is weighed: criteria that somebody has.
    pub criteria: Vec<Criterion>,
    /// Who is not ranked, and why.
    pub unranked: Vec<(String, String)>,
    /// Those of them that were measured and only lack something, by their places in [`Field::contestants`].
    pub lacking: Vec<usize>,
}

impl Contest {
    /// Everybody with at least one repetition of valid trials that has all of these criteria that anybody has.
    pub fn new(field: &Field, costs: &Costs, criteria: Vec<Criterion>) -> Self {
        let mut contest = Self { criteria, ..Self::default() };
        for (place, read) in field.contestants().iter().enumerate() {
            match contest.enter(field, costs, place, read) {
                Ok(contestant) => contest.contestants.push(contestant),
                Err(reason) => contest.unranked.push((read.label.clone(), reason)),
            }
        }
        contest.set_apart(field);
        contest.keep_whole(field);
        let unread = field.writes.iter().filter(|write| field.reads_of(write).next().is_none());
        contest.unranked.extend(unread.map(|write| {
            (
                write.label.clone(),
                first_fault(field, write)
                    .unwrap_or_else(|| "there is no read trial of what it wrote".to_owned()),
            )
        }));
        contest
    }

    /// The contestant, or what keeps it from being one.
    fn enter(
        &mut self,
        field: &Field,
        costing: &Costs,
        place: usize,
        read: &Arm,
    ) -> Result<Contestant, String> {
        let write = field.write_of(read).ok_or("there is no write trial of what it reads")?;
        if let Some(reason) = data_fault(field, write).or_else(|| data_fault(field, read)) {
            return Err(reason);
        }
        let all = costing.blocks(field, read);
        let lacking =
            all.iter().flatten().map(|block| &block.lacking).find(|lacking| !lacking.is_empty()).cloned();
        let mut blocks = all
            .into_iter()
            .map(|block| block.and_then(|block| block.lacking.is_empty().then_some(block.values)))
            .collect_vec();
        keep_complete(&mut blocks);
        if blocks.iter().any(Option::is_some) {
            return Ok(Contestant { read: place, label: read.label.clone(), group: Group::Servers, blocks });
        }
        self.lacking.extend(lacking.is_some().then_some(place));
        Err(lacking.map_or_else(|| no_valid_pair(field, write, read), |names| lacks(&names)))
    }

    /// Moves who did not keep up to those that are not ranked, unless nobody kept up. What it did not do cost it nothing, so by its costs it would stand above
    /// who did everything.
    fn set_apart(&mut self, field: &Field) {
        let reason = |one: &Contestant| keeping_up::reason(field, &field.contestants()[one.read]);
        if self.contestants.iter().all(|one| reason(one).is_some()) {
            return;
        }
        self.contestants.retain(|one| {
            let reason = reason(one);
            self.unranked.extend(reason.iter().map(|reason| (one.label.clone(), reason.clone())));
            reason.is_none()
        });
    }

    /// Keeps the criteria that somebody has, and who has all of these; and says who is compared with whom.
    fn keep_whole(&mut self, field: &Field) {
        let has =
            |one: &Contestant, id: &str| one.blocks.iter().flatten().any(|values| values.contains_key(id));
        self.criteria.retain(|criterion| self.contestants.iter().any(|one| has(one, criterion.id)));
        self.contestants.retain(|one| {
            let names = self
                .criteria
                .iter()
                .filter(|criterion| !has(one, criterion.id))
                .map(|criterion| criterion.name.to_owned())
                .collect_vec();
            if !names.is_empty() {
                self.lacking.push(one.read);
                let hint = no_probe(field, &field.contestants()[one.read]);
                self.unranked.push((one.label.clone(), format!("{}{hint}", lacks(&names))));
            }
            names.is_empty()
        });
        let of = |one: &Contestant| &field.contestants()[one.read].implementation;
        let strongest = self.contestants.iter().map(|one| weakness(of(one))).min().unwrap_or(0);
        for one in &mut self.contestants {
            one.group = Group::of(of(one), strongest);
        }
    }
}

fn lacks(names: &[String]) -> String {
    format!("lacks {}", listed(names.iter().collect::<BTreeSet<_>>()))
}

/// Why much of it was not measured, where its server was only visited.
pub fn no_probe(field: &Field, arm: &Arm) -> &'static str {
    let mut servers = field.trials_of(arm).filter_map(|trial| trial.server.as_ref());
    let is_without = servers.any(|server| !server.managed && server.probe.is_none());
    if is_without { " (an existing server without a probe beside it)" } else { "" }
}

/// Why the arm's data cannot be trusted, if that was seen in any attempt. One valid repetition
/// does not make up for a wrong answer in another.
fn data_fault(field: &Field, arm: &Arm) -> Option<String> {
    let all = field.attempts_of(arm).count();
    let faulty = || field.attempts_of(arm).filter(|trial| trial.verdict.has_data_fault());
    let (found, first) = (faulty().count(), faulty().next()?);
    let kind = first.verdict.reasons().iter().find(|reason| reason.kind.is_data_fault())?.kind;
    let side = match first.side {
        Side::Write => "write ",
        Side::Read => "read ",
        Side::Mixed => "",
    };
    Some(format!("{} in {found} of {all} {side}trials", kind.text()))
}

/// Drops repetitions in which fewer criteria were measured than in others, so that all are over the same ones.
fn keep_complete(blocks: &mut [Option<Values>]) {
    let most = blocks.iter().flatten().map(Values::len).max().unwrap_or(0);
    for block in blocks {
        block.take_if(|values| values.len() < most);
    }
}

fn no_valid_pair(field: &Field, write: &Arm, read: &Arm) -> String {
    let told = |side: &str, arm| Some(format!("{side}{}", first_fault(field, arm)?));
    let faults = if field.has_phases() {
        [None, told("", read)]
    } else {
        [told("write trial ", write), told("read trial ", read)]
    };
    match faults.into_iter().flatten().join("; ") {
        none if none.is_empty() => "no repetition has both its trials".to_owned(),
        faults => faults,
    }
}

/// The first verdict of the arm that is not valid, in short.
fn first_fault(field: &Field, arm: &Arm) -> Option<String> {
    let trial = field.trials_of(arm).find(|trial| !trial.verdict.is_valid())?;
    let word = trial.verdict.word();
    let kinds = each_once(trial.verdict.reasons().iter().map(|reason| reason.kind.text()));
    Some(format!("{word}: {}", kinds.join(", ")))
}
