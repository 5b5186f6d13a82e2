//! A thread that clients work on: its runtime, its tallies, and the stages that all threads of a phase go through together.
//!
//! A driver that blocks has one client a thread, and its runtime drives nothing else; other drivers' clients share the thread's runtime.

use super::client::Client;
use super::client_threads::{Message, Seat, Stage, ThreadDone, Work, tally_options};
use super::connection::{Connection, patience};
use super::deployment::no_runtime;
use super::fed::take_in;
use super::operations::Slot;
use super::pacing::{sleep_until_ns, thread_cpu_ns, thread_waited_ns};
use super::phase::Target;
use super::tally::Tally;
use super::watchdog::{Watch, walk};
use super::work_distribution::ClientDone;
use sensormark_store::SessionKind;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::mpsc::Sender;
use tokio::runtime::Builder;
use tokio::sync::watch;
use tokio::task::LocalSet;

/// A thread that is to be started.
pub(super) struct Thread {
    /// Its number.
    pub number: usize,
    /// Its clients.
    pub seats: Vec<Seat>,
    /// How their driver waits.
    pub kind: SessionKind,
    /// Where they connect to.
    pub target: Target,
    /// Where it reports.
    pub sender: Sender<Message>,
    /// What there is to do.
    pub stage: watch::Receiver<Stage>,
}

/// What the clients of one thread share.
struct Own {
    number: usize,
    alone: bool,
    target: Target,
    sender: Sender<Message>,
    seats: Vec<Seat>,
    /// The phase that they work on, or worked on last.
    round: RefCell<Option<Rc<Round>>>,
}

/// What they share in one phase.
struct Round {
    work: Work,
    began: OnceCell<Used>,
    parts: BTreeMap<usize, Part>,
}

/// What a thread has had of the processors since it began, in ns.
#[derive(Clone, Copy)]
struct Used {
    cpu_ns: u64,
    waited_ns: Option<u64>,
}

impl Used {
    fn now() -> Self {
        Self { cpu_ns: thread_cpu_ns(), waited_ns: thread_waited_ns() }
    }

    fn since(self, before: Self) -> Self {
        let waited = self.waited_ns.zip(before.waited_ns);
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(before.cpu_ns),
            waited_ns: waited.map(|(now, then)| now.saturating_sub(then)),
        }
    }
}

/// The thread's clients of one load.
struct Part {
    tally: OnceCell<RefCell<Tally>>,
    ended: RefCell<Ended>,
    clients: usize,
}

/// Those of them that have ended.
#[derive(Default)]
struct Ended {
    all: bool,
    clients: Vec<ClientDone>,
    reconnects: u64,
    datagram_bytes: u64,
}

impl Thread {
    /// Connects, works and says goodbye.
    pub fn run(self) {
        let blocking = self.kind == SessionKind::Blocking;
        let made = match blocking {
            true => Builder::new_current_thread().build(),
            false => sensormark_server::runtime(),
        };
        let runtime = match made {
            Ok(runtime) => runtime,
            Err(error) => {
                let error = no_runtime("connect", error);
                // The first client that cannot connect ends the phase; nobody listens after that.
                let _ = self.sender.send(Message::Connected(Err(error)));
                return;
            }
        };
        let local = LocalSet::new();
        local.block_on(&runtime, self.clients(blocking));
    }

    async fn clients(self, alone: bool) {
        let own = Rc::new(Own {
            number: self.number,
            alone,
            target: self.target,
            sender: self.sender,
            seats: self.seats,
            round: RefCell::default(),
        });
        let watches: Vec<Rc<Watch>> = own.seats.iter().map(|_| Rc::default()).collect();
        if !alone {
            let limit = patience(&own.target.plan);
            tokio::task::spawn_local(walk(watches.clone(), limit));
        }
        let clients: Vec<_> = own
            .seats
            .iter()
            .zip(watches)
            .map(|(seat, watch)| {
                let client = one_client(Rc::clone(&own), *seat, watch, self.stage.clone());
                tokio::task::spawn_local(client)
            })
            .collect();
        for client in clients {
            // A client that panicked ends its thread, which the phase notices.
            client.await.expect("a client panicked");
        }
    }
}

/// One client, from its connection to its goodbye.
async fn one_client(own: Rc<Own>, (load, number): Seat, watch: Rc<Watch>, mut stage: watch::Receiver<Stage>) {
    let store = own.target.store.as_ref();
    let opened = Connection::open(store, &own.target.plan, Rc::clone(&watch)).await;
    let (mut connection, result) = match opened {
        Ok(connection) => (Some(connection), Ok(())),
        Err(error) => (None, Err(error)),
    };
    // Nobody listens any more when another client could not connect.
    let _ = own.sender.send(Message::Connected(result));
    let mut done = 0;
    while let Some(connection) = &mut connection {
        // An error means that the caller is gone, which is a goodbye too.
        let next = stage.wait_for(|stage| stage.is_after(done)).await;
        let next = next.map_or(Stage::Close, |stage| stage.clone());
        let Stage::Work(work) = next else { break };
        done = work.round;
        let round = own.round(&work);
        connection.nobody_writes(work.shared.only_reads);
        round.began.get_or_init(Used::now);
        // All clients of all threads start at this instant.
        sleep_until_ns(work.start_ns);
        let before = Carried::of(connection);
        let mut client = own.client(&round, load, number, &watch);
        let ended = match &client.load.feed {
            Some(feed) => take_in(&mut client, connection, feed, work.start_ns).await,
            None => client.run(connection, work.start_ns).await,
        };
        own.ended(&round, load, ended, Carried::of(connection).since(before));
    }
    if let Some(connection) = connection
        && let Err(error) = connection.close().await
    {
        tracing::debug!(%error, "saying goodbye failed");
    }
}

/// What a connection has counted since it was opened.
#[derive(Clone, Copy)]
struct Carried {
    reconnects: u64,
    datagram_bytes: u64,
}

impl Carried {
    fn of(connection: &Connection<'_>) -> Self {
        Self { reconnects: connection.reconnects(), datagram_bytes: connection.datagram_bytes() }
    }

    /// A session that was made again counts its datagrams from 0.
    const fn since(self, before: Self) -> Self {
        let same = self.reconnects == before.reconnects;
        let datagram_bytes = if same { before.datagram_bytes } else { 0 };
        Self {
            reconnects: self.reconnects - before.reconnects,
            datagram_bytes: self.datagram_bytes - datagram_bytes,
        }
    }
}

impl Round {
    fn new(work: Work, seats: &[Seat]) -> Self {
        let mut parts: BTreeMap<usize, Part> = BTreeMap::new();
        for (load, _) in seats {
            let part = parts.entry(*load).or_insert_with(|| Part {
                tally: OnceCell::new(),
                ended: RefCell::default(),
                clients: 0,
            });
            part.clients += 1;
        }
        Self { work, began: OnceCell::new(), parts }
    }
}

impl Own {
    /// What this thread's clients share in this phase; the first of them to come to it makes it.
    fn round(&self, work: &Work) -> Rc<Round> {
        let mut present = self.round.borrow_mut();
        match present.as_ref() {
            Some(round) if round.work.round == work.round => Rc::clone(round),
            _ => Rc::clone(present.insert(Rc::new(Round::new(work.clone(), &self.seats)))),
        }
    }

    fn client<'a>(&'a self, round: &'a Round, load: usize, number: u32, watch: &'a Watch) -> Client<'a> {
        let Work { shared, start_ns, deadline_ns, .. } = &round.work;
        let tally = || RefCell::new(Tally::new(tally_options(shared, load, *start_ns)));
        Client {
            load: &shared.loads[load],
            number,
            alone: self.alone,
            tally: round.parts[&load].tally.get_or_init(tally),
            watch,
            counter: &shared.counters[load][self.number],
            slot: Slot::new(&self.target.plan.schema),
            deadline_ns: *deadline_ns,
        }
    }

    /// A client of a load has ended; the last one hands over what all of them counted.
    fn ended(&self, round: &Round, load: usize, done: ClientDone, carried: Carried) {
        let part = &round.parts[&load];
        let mut ended = part.ended.borrow_mut();
        ended.clients.push(done);
        ended.reconnects += carried.reconnects;
        ended.datagram_bytes += carried.datagram_bytes;
        if ended.clients.len() < part.clients {
            return;
        }
        ended.all = true;
        let tally = part.tally.get().expect("made before the first client ran");
        let nothing = Tally::new(tally_options(&round.work.shared, load, 0));
        let others = round.parts.iter().filter(|(other, _)| **other != load);
        let is_last = others.into_iter().all(|(_, part)| part.ended.borrow().all);
        // The thread's time is counted once, when the last of its loads ends.
        let began = round.began.get().filter(|_| is_last);
        let used = began.map(|began| Used::now().since(*began));
        let message = ThreadDone {
            load,
            tally: tally.replace(nothing),
            clients: std::mem::take(&mut ended.clients),
            reconnects: ended.reconnects,
            datagram_bytes: ended.datagram_bytes,
            cpu_ns: used.map_or(0, |used| used.cpu_ns),
            waited_ns: used.map_or(Some(0), |used| used.waited_ns),
        };
        // Nobody listens any more when the phase was given up.
        let _ = self.sender.send(Message::Done(Box::new(message)));
    }
}
