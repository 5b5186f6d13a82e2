//! What a home has: twelve devices, their things, and the things' properties, with how often each is sent and how it moves.
//!
//! Sums over all of it: about 6,958 messages and 12,771 values a day, 580 messages a device, so that 438 days make the study's 5.6 million values. The names of
//! devices are the study's. Their properties are those that such devices commonly send.

use super::signal::{Level, Signal};
use crate::prelude::*;

/// What every home has, in order.
#[derive(Default)]
pub struct Home {
    /// Physical devices, by what their owner calls them.
    pub devices: Vec<&'static str>,
    /// Their parts.
    pub things: Vec<Thing>,
    /// What these send: a home's series.
    pub properties: Vec<Property>,
}

/// A logical part of a device. It sends all of its properties in one message.
#[derive(Clone, Default)]
pub struct Thing {
    /// Its name, unique in the device.
    pub name: &'static str,
    /// The device's number.
    pub device: usize,
    /// From one message's turn to the next, in seconds; an hour is a multiple of it.
    pub every_s: u32,
    /// A message comes less than this long after its turn, in ms; shorter than `every_s`. What happens on events has nearly all of it.
    pub jitter_ms: u32,
    /// The share of turns in which a message comes.
    pub share: f64,
    /// Whether messages come when people are up ([`RHYTHM`]), rather than evenly.
    pub by_people: bool,
    /// Numbers of the properties that it sends.
    pub properties: Range<u32>,
}

/// A sensor or control: one series a home.
#[derive(Clone)]
pub struct Property {
    /// Its name, unique in the thing.
    pub name: &'static str,
    /// The thing's number.
    pub thing: usize,
    /// How it moves, and so its type.
    pub signal: Signal,
}

/// How much happens in each hour (UTC) of a day, in tenths of the average.
pub const RHYTHM: [u8; 24] =
    [1, 1, 1, 1, 1, 1, 10, 20, 15, 9, 9, 9, 9, 9, 9, 9, 15, 20, 20, 20, 19, 17, 10, 5];

/// Levels by name: a line each, in the columns of [`Level`].
const LEVELS: &str = "
name mean year day drift drift_turns noise low high per_unit
brightness 60 0 0 40 4 0 0 100 1
humidity 58 0 -8 18 192 1 0 100 4
outside 9.5 10 4.5 6 288 0.25 -40 60 16
pool 36.5 0 1 1.5 180 0.0625 2 45 16
power 620 0 240 300 30 60 0 9200 8
pressure 1013 0 0 25 384 0.25 900 1100 8
room 21.5 1.5 0.75 1 96 0.0625 5 40 16
signal -62 0 0 12 72 4 -95 -30 1
target 37 0 0 2 96 0 20 40 1
volume -35 0 0 18 4 0 -80 0 2
wind 3 0 1 5 120 1.5 0 60 16
";

/// The devices of a home. A line is (with _ for a blank in a word)
///
/// - `device` and its name
/// - `periodic` and a thing that reports at an interval: its name, seconds from turn to turn, ms of jitter, share of turns with a message
/// - `events` and a thing that reports when something happens, at most once a quarter of an hour, anywhere in it: its name, how often a day
/// - `again` and the name of a thing of an earlier device, which this device has too
/// - a signal and a property of the thing before: its name, and what the signal takes ([`Signal`]; of a level its name)
const DEVICES: &str = "
device Gate
events gate 40
words state 1 closed opening open closing
whole position brightness
periodic controller 600 3000 1
whole signal signal
uptime uptime 2016
device Chandelier
events light 24
switch power 1 0.5
whole brightness brightness
again controller
device LED strip, kitchen
events light 30
switch power 1 0.55
whole brightness brightness
words colour 4 #ffffff #ff8800 #ff0000 #0044ff #00cc44 #8800cc
words effect 8 none fade rainbow strobe
again controller
device LED strip, stairs
again light
again controller
device Thermometer
periodic room 150 4000 1
float temp room
float hum humidity
device Weather station
periodic meteo 900 20000 0.983333
float temp outside
float hum humidity
float press pressure
device Electricity meter, house
periodic meter 60 2000 1
float power power
meter energy 11
device Electricity meter, garage
again meter
device Television
events player 40
switch power 2 0.6
words app 3 home films music Fernsehen_über_Kabel games
whole volume brightness
again controller
device Audio receiver
events amplifier 40
switch power 2 0.6
words input 6 tv stream phono radio
float volume volume
again controller
device Hot tub
periodic water 120 3000 1
float temp pool
switch heater 12 0.35
events pump 36
switch power 1 0.5
whole target target
device Anemometer
periodic cup 60 2000 1
float speed wind
periodic vane 600 3000 1
float gust wind
words direction 9 W SW NW S N SE E NE
";

/// What every home has.
pub static HOME: LazyLock<Home> = LazyLock::new(|| {
    let levels: Vec<Level> = rows(LEVELS);
    let mut home = Home::default();
    for (kind, rest) in DEVICES.lines().filter_map(|line| line.split_once(' ')) {
        let cells: Vec<&str> = rest.split(' ').collect();
        match kind {
            "device" => home.devices.push(rest),
            "periodic" | "events" => home.add(thing(&cells)),
            "again" => {
                let known = home.things.iter().rfind(|thing| thing.name == rest);
                let known = known.expect("a thing of an earlier device").clone();
                let sent = known.properties.clone();
                home.add(known);
                for number in sent {
                    let Property { name, signal, .. } = home.properties[number as usize].clone();
                    home.add_property(name, signal);
                }
            }
            _ => home.add_property(cells[0], signal(kind, &cells, &levels)),
        }
    }
    home
});

impl Home {
    /// Adds a thing, still without properties, to the last device.
    fn add(&mut self, thing: Thing) {
        let (device, next) = (self.devices.len() - 1, few(self.properties.len()));
        self.things.push(Thing { device, properties: next..next, ..thing });
    }

    /// Adds a property to the last thing.
    fn add_property(&mut self, name: &'static str, signal: Signal) {
        let thing = self.things.len() - 1;
        self.properties.push(Property { name, thing, signal });
        self.things[thing].properties.end += 1;
    }
}

/// A number of things or properties, of which there are few.
pub fn few(count: usize) -> u32 {
    u32::try_from(count).expect("few")
}

fn number<T: FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| unreachable!("{text} is a number"))
}

fn thing(cells: &[&'static str]) -> Thing {
    let (by_people, every_s, jitter_ms, share) = match *cells {
        [_, every_s, jitter_ms, share] => (false, number(every_s), number(jitter_ms), number(share)),
        _ => (true, 900, 899_000, number::<f64>(cells[1]) / 96.0),
    };
    Thing { name: cells[0], every_s, jitter_ms, share, by_people, ..Thing::default() }
}

fn signal(kind: &str, cells: &[&'static str], levels: &[Level]) -> Signal {
    let level = || levels.iter().find(|level| level.name == cells[1]).expect("a level by its name").clone();
    match kind {
        "float" => Signal::Float(level()),
        "whole" => Signal::Whole(level()),
        "meter" => Signal::Meter { step: number(cells[1]) },
        "uptime" => Signal::Uptime { turns: number(cells[1]) },
        "switch" => Signal::Switch { hold: number(cells[1]), share: number(cells[2]) },
        _ => Signal::Words {
            hold: number(cells[1]),
            words: cells[2..].iter().map(|word| word.replace('_', " ")).collect(),
        },
    }
}
