//! One step of the drill: what runs, what befalls it and when. All of it follows from the seed and the step's number.

use crate::random::Random;
use crate::work::{Chosen, Work};
use std::fmt::{Display, Formatter, Result};

/// Who a fault befalls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Victim {
    /// The process that the user started.
    Coordinator,
    /// A process of the trial.
    Role,
    /// A process of the server that the run started.
    Server,
}

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// One signal, by its name.
    Signal(&'static str, Victim),
    /// Ctrl-C, and once more so many milliseconds later.
    Twice(u64),
    /// Stopped for so many milliseconds, and continued.
    Pause(u64, Victim),
    /// All processes of the server are stopped for good.
    Hang,
    /// What is left of the disk with results and data is taken away, but for so many KiB.
    FullDisk(u64),
    /// No more than so many file descriptors.
    Descriptors(u64, Victim),
    /// No more memory than a process has, and so many KiB.
    Memory(u64, Victim),
    /// The network to the server carries nothing any more.
    Silence,
    /// The wall clock steps by so many seconds.
    Clock(i64),
}

impl Fault {
    /// What it is called in the result's table.
    pub fn name(self) -> String {
        match self {
            Self::Signal(name, victim) => format!("{name} to {victim}"),
            Self::Twice(_) => "INT twice to coordinator".to_owned(),
            Self::Pause(_, victim) => format!("STOP, CONT to {victim}"),
            Self::Hang => "STOP to all of the server".to_owned(),
            Self::FullDisk(_) => "full disk".to_owned(),
            Self::Descriptors(_, victim) => format!("few descriptors: {victim}"),
            Self::Memory(_, victim) => format!("little memory: {victim}"),
            Self::Silence => "stalled network".to_owned(),
            Self::Clock(_) => "clock step".to_owned(),
        }
    }

    /// Whether it ends the coordinator before that can clean up.
    pub fn kills_coordinator(self) -> bool {
        matches!(self, Self::Signal("KILL", Victim::Coordinator) | Self::Memory(_, Victim::Coordinator))
    }

    /// Whether the user breaks the run off by it.
    pub const fn breaks_off(self) -> bool {
        match self {
            Self::Twice(_) => true,
            Self::Signal(name, Victim::Coordinator) => !matches!(name.as_bytes(), b"KILL"),
            _ => false,
        }
    }

    /// Whether it takes what the program needs to write and to start processes.
    pub const fn starves(self) -> bool {
        matches!(self, Self::FullDisk(_) | Self::Descriptors(..) | Self::Memory(..))
    }

    const fn needs_server(self) -> bool {
        matches!(
            self,
            Self::Signal(_, Victim::Server)
                | Self::Pause(_, Victim::Server)
                | Self::Descriptors(_, Victim::Server)
                | Self::Memory(_, Victim::Server)
                | Self::Hang
                | Self::Silence
        )
    }
}

/// When it happens: so many milliseconds after the program told of so many events, or began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Events that were told before.
    pub events: usize,
    /// Milliseconds after that.
    pub milliseconds: u64,
}

/// How a store is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The run starts it, or makes its folder.
    Own,
    /// It was there before, and the run gets its URL.
    Url,
    /// The same, and a proxy stands between.
    Proxy,
}

/// A step.
#[derive(Debug, Clone)]
pub struct Step {
    /// Its number, from 0.
    pub number: usize,
    /// The drill's seed.
    pub seed: u64,
    /// The store's name.
    pub store: &'static str,
    /// How it is reached.
    pub reach: Reach,
    /// What is measured.
    pub work: Work,
    /// What happens.
    pub fault: Fault,
    /// When.
    pub moment: Moment,
}

/// Steps that together have a fault of each sort.
const SORTS: usize = 16;

/// The signals that a process may catch, and the one that it may not.
const SIGNALS: [(&str, u64); 4] = [("INT", 1), ("TERM", 1), ("HUP", 1), ("KILL", 2)];

/// How often a step is put to each server.
const SERVERS: [(&str, u64); 6] =
    [("postgresql", 10), ("mongodb", 5), ("mariadb", 3), ("influxdb", 2), ("questdb", 2), ("cassandra", 1)];

impl Step {
    /// The step of this number.
    pub fn new(seed: u64, number: usize) -> Self {
        let mut random = Random::of_step(seed, number);
        let is_first = number < SORTS;
        let fault = fault(number % SORTS, &mut random);
        let server = fault.needs_server() || (!is_first && random.chance(7));
        let store = match (server, is_first) {
            (true, true) => "postgresql",
            (true, false) => random.weighted(&SERVERS),
            (false, _) => random.weighted(&[("sqlite", 5), ("duckdb", 1)]),
        };
        let is_own = matches!(fault, Fault::FullDisk(_) | Fault::Hang) || fault.needs_server();
        let reach = match fault {
            Fault::Silence => Reach::Proxy,
            _ if is_own || !random.chance(35) => Reach::Own,
            _ => Reach::Url,
        };
        let chosen = Chosen { server, reach, in_memory: matches!(fault, Fault::FullDisk(_)), is_first };
        let work = Work::choose(&chosen, &mut random);
        let moment = Moment {
            events: usize::try_from(random.weighted(&[
                (0, 4),
                (3, 2),
                (4, 2),
                (5, 2),
                (6, 2),
                (7, 3),
                (9, 2),
                (14, 1),
            ]))
            .unwrap_or(0),
            milliseconds: random.below(if server { 400 } else { 250 }),
        };
        Self { number, seed, store, reach, work, fault, moment }
    }
}

/// A fault of this sort.
fn fault(sort: usize, random: &mut Random) -> Fault {
    let victim = |random: &mut Random| match random.below(2) {
        0 => Victim::Role,
        _ => Victim::Coordinator,
    };
    match sort {
        0 => Fault::Signal("INT", Victim::Coordinator),
        1 => Fault::Signal("KILL", Victim::Role),
        2 => Fault::Signal("TERM", Victim::Coordinator),
        3 => Fault::Pause(20 + random.below(500), victim(random)),
        4 => Fault::Signal("KILL", Victim::Coordinator),
        5 => Fault::FullDisk(random.below(200)),
        6 => Fault::Clock([-86_400, -3_600, -2, 2, 3_600, 86_400][index(random, 6)]),
        7 => Fault::Twice(random.below(60)),
        8 => Fault::Descriptors(3 + random.below(30), victim(random)),
        9 => Fault::Signal("HUP", Victim::Coordinator),
        10 => server_fault(random),
        11 => Fault::Memory(random.below(20_000), victim(random)),
        12 => Fault::Signal(random.weighted(&SIGNALS), Victim::Role),
        13 => Fault::Signal(random.weighted(&SIGNALS), Victim::Coordinator),
        14 => Fault::Signal(random.weighted(&SIGNALS), Victim::Role),
        _ => Fault::Signal(random.weighted(&SIGNALS), Victim::Coordinator),
    }
}

/// A fault of a server.
fn server_fault(random: &mut Random) -> Fault {
    match random.below(10) {
        0..4 => Fault::Signal(random.weighted(&SIGNALS), Victim::Server),
        4 => Fault::Pause(20 + random.below(800), Victim::Server),
        5 => Fault::Hang,
        6 => Fault::Descriptors(3 + random.below(60), Victim::Server),
        7 => Fault::Memory(random.below(50_000), Victim::Server),
        _ => Fault::Silence,
    }
}

fn index(random: &mut Random, bound: u64) -> usize {
    usize::try_from(random.below(bound)).unwrap_or(0)
}

impl Display for Victim {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        formatter.write_str(match self {
            Self::Coordinator => "coordinator",
            Self::Role => "role",
            Self::Server => "server",
        })
    }
}

impl Display for Step {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let reach = match self.reach {
            Reach::Own => "",
            Reach::Url => " by URL",
            Reach::Proxy => " by URL through a proxy",
        };
        write!(
            formatter,
            "step {}: {}{reach}, {}: {:?}, {} ms after {} events",
            self.number,
            self.store,
            self.work.name(),
            self.fault,
            self.moment.milliseconds,
            self.moment.events,
        )
    }
}
