//! The hosts' tags, and the schema of what they report.
//!
//! Values are those of the study's generator: a datacenter lies in its region, the rest is drawn for each host by itself. A host keeps its tags for ever.

use super::Devops;
use super::fields::{MEASUREMENTS, Measurement};
use crate::random::Stream;
use sensormark_store::{Field, Schema, Series, Table, Tag, TagColumn, TimeResolution};
use std::num::NonZeroU64;

/// Tags of every measurement. The first tells hosts apart.
pub const TAGS: [&str; 10] = [
    "hostname",
    "region",
    "datacenter",
    "rack",
    "os",
    "arch",
    "team",
    "service",
    "service_version",
    "service_environment",
];
/// The number of the tag that tells hosts apart.
pub const HOSTNAME: usize = 0;

const REGIONS: [(&str, &[&str]); 9] = [
    ("us-east-1", &["us-east-1a", "us-east-1b", "us-east-1c", "us-east-1e"]),
    ("us-west-1", &["us-west-1a", "us-west-1b"]),
    ("us-west-2", &["us-west-2a", "us-west-2b", "us-west-2c"]),
    ("eu-west-1", &["eu-west-1a", "eu-west-1b", "eu-west-1c"]),
    ("eu-central-1", &["eu-central-1a", "eu-central-1b"]),
    ("ap-southeast-1", &["ap-southeast-1a", "ap-southeast-1b"]),
    ("ap-southeast-2", &["ap-southeast-2a", "ap-southeast-2b"]),
    ("ap-northeast-1", &["ap-northeast-1a", "ap-northeast-1c"]),
    ("sa-east-1", &["sa-east-1a", "sa-east-1b", "sa-east-1c"]),
];
const SYSTEMS: [&str; 3] = ["Ubuntu16.10", "Ubuntu16.04LTS", "Ubuntu15.10"];
const ARCHITECTURES: [&str; 2] = ["x64", "x86"];
const TEAMS: [&str; 4] = ["SF", "NYC", "LON", "CHI"];
const ENVIRONMENTS: [&str; 3] = ["production", "staging", "test"];
const FILE_SYSTEMS: [&str; 3] = ["ext3", "ext4", "btrfs"];

/// The number of the streams that draw what a host has for ever; those of walks are smaller.
const OF_HOST: u64 = 1_000;

/// Places in a host's stream.
#[derive(Clone, Copy)]
enum Draw {
    Region,
    Datacenter,
    Rack,
    System,
    Architecture,
    Team,
    Service,
    Version,
    Environment,
    Memory,
    Boot,
    Serial,
    Path,
    FileSystem,
    Interface,
    NginxPort,
    NginxServer,
    RedisPort,
    RedisServer,
}

/// What is drawn for one host.
struct Drawn(Stream);

impl Drawn {
    fn below(&self, draw: Draw, bound: u64) -> u64 {
        let bound = NonZeroU64::new(bound).unwrap_or(NonZeroU64::MIN);
        self.0.below(draw as u64, bound)
    }

    fn one<T: Copy>(&self, draw: Draw, of: &[T]) -> T {
        let place = self.below(draw, of.len() as u64);
        of[usize::try_from(place).unwrap_or(0)]
    }
}

impl Devops {
    const fn drawn(&self, host: u32) -> Drawn {
        Drawn(Stream::new(self.seed, host as u64, OF_HOST))
    }

    /// The host's memory in bytes: 8, 12 or 16 GiB.
    #[must_use]
    pub fn memory_bytes(&self, host: u32) -> i64 {
        self.drawn(host).one(Draw::Memory, &[8_i64, 12, 16]) << 30
    }

    /// When the host was booted, in seconds since the Unix epoch.
    #[must_use]
    pub fn boot_seconds(&self, host: u32) -> i64 {
        const THIRTY_DAYS: u64 = 30 * 86_400;
        let before = self.drawn(host).below(Draw::Boot, THIRTY_DAYS);
        super::START_NS / 1_000_000_000 - before.cast_signed()
    }

    /// The value of one of the ten tags.
    fn tag(&self, host: u32, tag: usize) -> String {
        let drawn = self.drawn(host);
        let (region, datacenters) = drawn.one(Draw::Region, &REGIONS);
        match TAGS[tag] {
            "hostname" => format!("host_{host}"),
            "region" => region.to_owned(),
            "datacenter" => drawn.one(Draw::Datacenter, datacenters).to_owned(),
            "rack" => drawn.below(Draw::Rack, 100).to_string(),
            "os" => drawn.one(Draw::System, &SYSTEMS).to_owned(),
            "arch" => drawn.one(Draw::Architecture, &ARCHITECTURES).to_owned(),
            "team" => drawn.one(Draw::Team, &TEAMS).to_owned(),
            "service" => drawn.below(Draw::Service, 20).to_string(),
            "service_version" => drawn.below(Draw::Version, 2).to_string(),
            _ => drawn.one(Draw::Environment, &ENVIRONMENTS).to_owned(),
        }
    }

    /// The value of a tag that a measurement has beside those.
    fn further_tag(&self, host: u32, measurement: &str, tag: &str) -> String {
        let drawn = self.drawn(host);
        let is_redis = measurement == "redis";
        match tag {
            "serial" => {
                let number = drawn.below(Draw::Serial, 1_000_000_000);
                let (high, low) = (number / 1_000_000, number % 1_000_000);
                format!("{high:03}-{:03}-{:03}", low / 1_000, low % 1_000)
            }
            "path" => format!("/dev/sda{}", drawn.below(Draw::Path, 10)),
            "fstype" => drawn.one(Draw::FileSystem, &FILE_SYSTEMS).to_owned(),
            "interface" => format!("eth{}", drawn.below(Draw::Interface, 4)),
            "port" => {
                let draw = if is_redis { Draw::RedisPort } else { Draw::NginxPort };
                (1_024 + drawn.below(draw, 20_000)).to_string()
            }
            _ if is_redis => format!("redis_{}", drawn.below(Draw::RedisServer, 100_000)),
            _ => format!("nginx_{}", drawn.below(Draw::NginxServer, 100_000)),
        }
    }

    /// What the hosts report: a table a measurement, a series a host, numbered as the hosts are.
    #[must_use]
    pub fn schema(&self) -> Schema {
        let tables = MEASUREMENTS.iter().map(|one| self.table(one));
        Schema { tables: tables.collect() }
    }

    fn table(&self, measurement: &Measurement) -> Table {
        let hosts = 0..self.hosts;
        let common = (0..TAGS.len()).map(|tag| {
            let values = hosts.clone().map(|host| self.tag(host, tag));
            TagColumn::Text(values.collect())
        });
        let further = measurement.tags.iter().map(|tag| {
            let value = |host| self.further_tag(host, measurement.name, tag);
            TagColumn::Text(hosts.clone().map(value).collect())
        });
        let names = TAGS.iter().chain(measurement.tags);
        let field = |&(name, rule): &(&str, super::fields::Rule)| Field {
            name: name.to_owned(),
            kind: rule.kind(),
            nullable: false,
        };
        Table {
            name: measurement.name.to_owned(),
            tags: names.map(|name| Tag { name: (*name).to_owned() }).collect(),
            fields: measurement.fields.iter().map(field).collect(),
            entity: None,
            time_resolution: TimeResolution::Seconds,
            series: Series::new(common.chain(further).collect()).every(super::INTERVAL_NS),
        }
    }
}
