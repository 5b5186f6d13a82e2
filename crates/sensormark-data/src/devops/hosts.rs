//! The hosts' tags, and the schema of what they report.
//!
//! Values are those of the study's generator: a datacenter lies in its region, the rest is drawn for each host by itself. A host keeps its tags for ever.

use super::*;

/// Tags of every measurement. The first tells hosts apart.
pub const TAGS: &str =
    "hostname region datacenter rack os arch team service service_version service_environment";
/// The tags of a measurement.
pub fn tags(of: &Measurement) -> impl Iterator<Item = &'static str> {
    TAGS.split(' ').chain(of.tags.iter().copied())
}

impl Devops {
    /// What draws what a host has, each at its place. (Walks have streams with smaller numbers.)
    fn of_host(&self, host: u32) -> Stream {
        Stream::new(self.seed, host as u64, 1_000)
    }

    /// The host's memory in bytes: 8, 12 or 16 GiB.
    pub fn memory_bytes(&self, host: u32) -> i64 {
        self.of_host(host).one_of(9, &[8_i64, 12, 16]) << 30
    }

    /// When the host was booted, in seconds since the Unix epoch: up to 30 days before the first tick.
    pub fn boot_seconds(&self, host: u32) -> i64 {
        START_NS / 1_000_000_000 - self.of_host(host).below(10, 30 * 86_400_u64).cast_signed()
    }

    /// The value of a tag. Each has its place in the host's stream.
    fn tag(&self, host: u32, measurement: &str, tag: &str) -> String {
        let stream = self.of_host(host);
        let word = |place, words: &str| (*stream.one_of(place, &words.split(' ').collect_vec())).to_owned();
        let number = |place, bound: u64| stream.below(place, bound);
        let of_server = if measurement == "redis" { 17 } else { 15 };
        match tag {
            "hostname" => format!("host_{host}"),
            "region" | "datacenter" => {
                // Regions, each with the letters of its datacenters.
                let regions = "us-east-1 abce us-west-1 ab us-west-2 abc eu-west-1 abc eu-central-1 ab ap-southeast-1 ab ap-southeast-2 ab ap-northeast-1 ac sa-east-1 abc";
                let words = regions.split(' ').collect_vec();
                let [region, letters] = stream.one_of(0, words.as_chunks().0);
                let letter = char::from(*stream.one_of(1, letters.as_bytes()));
                if tag == "region" { (*region).to_owned() } else { format!("{region}{letter}") }
            }
            "rack" => number(2, 100).to_string(),
            "os" => word(3, "Ubuntu16.10 Ubuntu16.04LTS Ubuntu15.10"),
            "arch" => word(4, "x64 x86"),
            "team" => word(5, "SF NYC LON CHI"),
            "service" => number(6, 20).to_string(),
            "service_version" => number(7, 2).to_string(),
            "service_environment" => word(8, "production staging test"),
            "serial" => {
                let serial = number(11, 1_000_000_000);
                format!("{:03}-{:03}-{:03}", serial / 1_000_000, serial / 1_000 % 1_000, serial % 1_000)
            }
            "path" => format!("/dev/sda{}", number(12, 10)),
            "fstype" => word(13, "ext3 ext4 btrfs"),
            "interface" => format!("eth{}", number(14, 4)),
            "port" => (1_024 + number(of_server, 20_000)).to_string(),
            _ => format!("{measurement}_{}", number(of_server + 1, 100_000)),
        }
    }

    /// What the hosts report: a table a measurement, a series a host, numbered as the hosts are.
    pub fn schema(&self) -> Schema {
        let described = |measurement: &Measurement| {
            let tags = tags(measurement).collect_vec();
            let values = |tag: &&str| {
                TagColumn::Text((0..self.hosts).map(|host| self.tag(host, measurement.name, tag)).collect())
            };
            let series = Series::new(tags.iter().map(values).collect()).every(INTERVAL_NS);
            let fields = measurement.fields.iter().map(|(name, rule)| field(*name, rule.kind()));
            table(measurement.name, &tags, fields, TimeResolution::Seconds, series)
        };
        Schema { tables: MEASUREMENTS.iter().map(described).collect() }
    }
}
