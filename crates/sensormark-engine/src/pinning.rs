//! Which processors servers run on, and which everything else of a run, so that neither takes turns from the other.
//!
//! The coordinator holds itself to the client's before it starts anything; the processes that it starts inherit that. A server is started on its
//! own ([`ServerOptions::processors`](sensormark_store::ServerOptions)). An embedded database runs in the client's process, and so on the client's processors.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

/// What is written for halves: the first of the processors that this process may use for servers, the others for the client.
const HALVES: &str = "halves";

/// Processors, by the kernel's numbers.
type Processors = BTreeSet<usize>;

/// The processors of servers and of the client; none is of both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinning {
    server: Processors,
    client: Processors,
}

impl Pinning {
    /// The servers' processors, as the kernel lists them: "0-2,4".
    pub fn server(&self) -> String {
        listed(&self.server)
    }

    /// What the environment of a run keeps: the processors of "server" and "client".
    pub fn record(&self) -> BTreeMap<String, String> {
        let of = |part: &str, processors| (part.to_owned(), listed(processors));
        BTreeMap::from([of("server", &self.server), of("client", &self.client)])
    }

    /// Holds the calling thread, and what it starts from now on, to the client's processors.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn hold(&self) -> std::io::Result<()> {
        let mut set = CpuSet::new();
        self.client.iter().for_each(|&processor| set.set(processor));
        Ok(sched_setaffinity(None, &set)?)
    }

    /// Reads `halves` or `SERVER/CLIENT`, such as `0-2/3`, where only these processors may be used.
    fn parse(text: &str, allowed: &Processors) -> Result<Self, String> {
        let pinning = if text == HALVES {
            let mut server = allowed.clone();
            let middle = allowed.iter().nth(allowed.len() / 2).copied();
            let client = middle.map_or_else(Processors::new, |middle| server.split_off(&middle));
            Self { server, client }
        } else {
            let wanted = || format!("{text:?} is not SERVER/CLIENT, such as 0-1/2-3");
            let (server, client) = text.split_once('/').ok_or_else(wanted)?;
            Self { server: processors(server)?, client: processors(client)? }
        };
        let (server, client) = (&pinning.server, &pinning.client);
        if server.is_empty() || client.is_empty() {
            return Err("it takes two processors at least".to_owned());
        }
        if let Some(both) = server.intersection(client).next() {
            return Err(format!("processor {both} is on both sides"));
        }
        if let Some(other) = server.union(client).find(|one| !allowed.contains(one)) {
            let allowed = listed(allowed);
            return Err(format!("this process may not use processor {other}, but only {allowed}"));
        }
        Ok(pinning)
    }
}

impl FromStr for Pinning {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let set = sched_getaffinity(None).map_err(|error| error.to_string())?;
        let allowed = (0..CpuSet::MAX_CPU).filter(|&processor| set.is_set(processor));
        Self::parse(text, &allowed.collect())
    }
}

/// Reads a list such as "0-2,4".
fn processors(text: &str) -> Result<Processors, String> {
    let wrong = || format!("{text:?} is no list of processors, such as 0-2,4");
    let mut all = Processors::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
        let (first, last) = (number(first)?, number(last)?);
        if first > last || last >= CpuSet::MAX_CPU {
            return Err(wrong());
        }
        all.extend(first..=last);
    }
    Ok(all)
}

/// Writes such a list.
fn listed(processors: &Processors) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for &processor in processors {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == processor => *last = processor,
            _ => parts.push((processor, processor)),
        }
    }
    let part = |(first, last): (usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    parts.into_iter().map(part).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, allowed: &[usize]) -> Result<[String; 2], String> {
        let pinning = Pinning::parse(text, &allowed.iter().copied().collect())?;
        Ok([pinning.server(), pinning.record()["client"].clone()])
    }

    #[test]
    fn processors_are_shared_out() {
        let both = |server: &str, client: &str| Ok([server.to_owned(), client.to_owned()]);
        assert_eq!(parse("halves", &[0, 1]), both("0", "1"));
        assert_eq!(parse("halves", &[1, 3, 4]), both("1", "3-4"));
        assert_eq!(parse("0-2,5/4", &[0, 1, 2, 3, 4, 5]), both("0-2,5", "4"));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (text, why) in [
            ("halves", "two processors"),
            ("0", "SERVER/CLIENT"),
            ("0/0", "on both sides"),
            ("0/7", "this process may not use processor 7, but only 0"),
            ("/0", "no list of processors"),
            ("1-0/0", "no list of processors"),
            ("0-99999999/1", "no list of processors"),
        ] {
            let said = parse(text, &[0]).unwrap_err();
            assert!(said.contains(why), "{text}: {said}");
        }
    }

    #[test]
    fn what_is_started_inherits_the_clients_processors() {
        let set = sched_getaffinity(None).unwrap();
        let last = (0..CpuSet::MAX_CPU).rfind(|&one| set.is_set(one)).unwrap();
        let pinning = Pinning { server: Processors::new(), client: Processors::from([last]) };
        let seen = std::thread::spawn(move || {
            pinning.hold().unwrap();
            let status = std::process::Command::new("cat").arg("/proc/self/status").output();
            String::from_utf8(status.unwrap().stdout).unwrap()
        });
        let line = format!("Cpus_allowed_list:\t{last}\n");
        assert!(seen.join().unwrap().contains(&line));
    }
}
