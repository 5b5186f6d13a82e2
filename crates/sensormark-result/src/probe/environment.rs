//! An inventory of what a measurement ran on, which the result file keeps: processor, memory, kernel, folders' devices, hypervisor or container, limits and
//! clock. No host name, user name, address or path is in it. It changes nothing and warns of nothing; who reads it does.

use std::collections::BTreeMap;
use std::path::Path;

use procfs::{Current, Meminfo};
use serde::{Deserialize, Serialize};

use super::device::{self, FolderDevice, attribute};
use super::error::ProbeError;
use super::flushes::FlushRate;
use super::limits::Limits;

/// What a measurement ran on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// When it was taken: RFC 3339, UTC.
    pub taken_at: String,
    /// The processor.
    pub processor: Processor,
    /// Memory of the machine.
    pub memory_bytes: u64,
    /// Swap space.
    pub swap_bytes: u64,
    /// Large pages for anonymous memory: always, madvise or never.
    pub transparent_huge_pages: Option<String>,
    /// The kernel's release.
    pub kernel_release: String,
    /// The distribution, as it calls itself.
    pub distribution: Option<String>,
    /// The clock source of the kernel: a slow one (hpet, `acpi_pm`) makes each timestamp dear.
    pub clock_source: Option<String>,
    /// The hypervisor, when this is a guest; "unknown" when it does not give its name.
    pub hypervisor: Option<String>,
    /// The kind of container, when this is one.
    pub container: Option<String>,
    /// What this process may use of the machine.
    pub limits: Limits,
    /// Filesystem and disk of each data folder, by the name that the caller gave it.
    pub folders: BTreeMap<String, FolderDevice>,
    /// The processors that parts of a run ("server", "client") are held to, as the kernel lists them; none where they are not.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pinned: BTreeMap<String, String>,
    /// Flushes a second of those disks that were measured, by the same names. Reading the inventory measures none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub flushes: BTreeMap<String, FlushRate>,
}

/// The processor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Processor {
    /// Its model name.
    pub model: Option<String>,
    /// Instruction set, as the kernel names it: `x86_64`, aarch64, …
    pub architecture: String,
    /// Logical processors online.
    pub logical_cores: u64,
    /// Physical cores, where the kernel tells.
    pub physical_cores: Option<u64>,
    /// Mean over the logical processors at that moment.
    pub frequency_mhz: Option<f64>,
    /// Highest frequency, turbo included.
    pub maximum_mhz: Option<f64>,
    /// Frequency governor; `None` when the guest has no say in it.
    pub governor: Option<String>,
    /// Whether turbo is on, where the kernel tells.
    pub turbo: Option<bool>,
}

impl Environment {
    /// Takes the inventory. `folders` are data folders, each with a name to keep it under.
    ///
    /// # Errors
    /// When `/proc` cannot be read, or a folder is not there.
    pub fn read(folders: &[(&str, &Path)]) -> Result<Self, ProbeError> {
        let memory = Meminfo::current().map_err(ProbeError::proc("meminfo"))?;
        let system = rustix::system::uname();
        let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let mut devices = BTreeMap::new();
        for (name, folder) in folders {
            devices.insert((*name).to_owned(), device::of_folder(folder)?);
        }
        let huge_pages = attribute(Path::new("/sys/kernel/mm/transparent_hugepage"), "enabled");
        let clocks = Path::new("/sys/devices/system/clocksource/clocksource0");
        Ok(Self {
            taken_at: jiff::Timestamp::now().to_string(),
            processor: processor(&text, &system.machine().to_string_lossy()),
            memory_bytes: memory.mem_total,
            swap_bytes: memory.swap_total,
            transparent_huge_pages: huge_pages.as_deref().and_then(chosen),
            kernel_release: system.release().to_string_lossy().into_owned(),
            distribution: distribution(),
            clock_source: attribute(clocks, "current_clocksource"),
            hypervisor: hypervisor(&text),
            container: container(),
            limits: Limits::of_this_process(),
            folders: devices,
            pinned: BTreeMap::new(),
            flushes: BTreeMap::new(),
        })
    }

    /// Whether this is a virtual machine, as far as the processor's flag and the firmware tell. A container is not one by itself.
    pub const fn is_virtual(&self) -> bool {
        self.hypervisor.is_some()
    }
}

/// The word in brackets: `always [madvise] never`.
fn chosen(options: &str) -> Option<String> {
    let (_, after) = options.split_once('[')?;
    Some(after.split_once(']')?.0.to_owned())
}

/// Values of one key of `/proc/cpuinfo`, one for each processor that has it.
fn values<'text>(cpuinfo: &'text str, key: &str) -> Vec<&'text str> {
    cpuinfo
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.trim() == key)
        .map(|(_, value)| value.trim())
        .collect()
}

fn processor(cpuinfo: &str, architecture: &str) -> Processor {
    let cores = Path::new("/sys/devices/system/cpu");
    let scaling = cores.join("cpu0/cpufreq");
    let frequencies: Vec<f64> =
        values(cpuinfo, "cpu MHz").iter().filter_map(|value| value.parse().ok()).collect();
    let sockets = values(cpuinfo, "physical id");
    let cores_of_processors = values(cpuinfo, "core id");
    let mut physical: Vec<_> = sockets.iter().zip(&cores_of_processors).collect();
    physical.sort_unstable();
    physical.dedup();
    let turbo_off = attribute(cores, "intel_pstate/no_turbo").map(|value| value == "0");
    let boost_on = attribute(cores, "cpufreq/boost").map(|value| value == "1");
    Processor {
        model: values(cpuinfo, "model name").first().map(ToString::to_string),
        architecture: architecture.to_owned(),
        logical_cores: values(cpuinfo, "processor").len() as u64,
        physical_cores: (!physical.is_empty()).then_some(physical.len() as u64),
        frequency_mhz: (!frequencies.is_empty())
            .then(|| frequencies.iter().sum::<f64>() / frequencies.len() as f64),
        maximum_mhz: attribute(&scaling, "cpuinfo_max_freq")
            .and_then(|kilohertz| kilohertz.parse::<f64>().ok())
            .map(|kilohertz| kilohertz / 1000.0),
        governor: attribute(&scaling, "scaling_governor"),
        turbo: turbo_off.or(boost_on),
    }
}

fn distribution() -> Option<String> {
    let text = std::fs::read_to_string("/etc/os-release").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(line.trim_matches('"').to_owned())
}

/// By the processor's own flag, or by the maker that the firmware names.
fn hypervisor(cpuinfo: &str) -> Option<String> {
    const MAKERS: [&str; 10] = [
        "QEMU",
        "KVM",
        "VMware",
        "VirtualBox",
        "innotek",
        "Xen",
        "Amazon EC2",
        "Google",
        "Virtual Machine",
        "Firecracker",
    ];
    let firmware = Path::new("/sys/class/dmi/id");
    let names: Vec<String> =
        ["sys_vendor", "product_name"].iter().filter_map(|name| attribute(firmware, name)).collect();
    let name = names.join(" ");
    let is_flagged = values(cpuinfo, "flags")
        .first()
        .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    let is_named = MAKERS.iter().any(|maker| name.contains(maker));
    let kind = attribute(Path::new("/sys/hypervisor"), "type");
    match (is_flagged || is_named || kind.is_some(), name.is_empty()) {
        (false, _) => None,
        (true, false) => Some(name),
        (true, true) => Some(kind.unwrap_or_else(|| "unknown".to_owned())),
    }
}

fn container() -> Option<String> {
    let first = std::fs::read_to_string("/proc/1/cgroup").unwrap_or_default();
    let kind = if Path::new("/.dockerenv").exists() {
        "docker"
    } else if Path::new("/run/.containerenv").exists() {
        "podman"
    } else if let Some(kind) = attribute(Path::new("/run/systemd"), "container") {
        return Some(kind);
    } else {
        ["kubepods", "docker", "containerd", "lxc"].into_iter().find(|kind| first.contains(kind))?
    };
    Some(kind.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPUINFO: &str = "processor\t: 0\nmodel name\t: A\ncpu MHz\t\t: 1000.0\nphysical id\t: 0\ncore id\t\t: 0\n\
        flags\t\t: fpu hypervisor\n\nprocessor\t: 1\nmodel name\t: A\ncpu MHz\t\t: 3000.0\nphysical id\t: 0\n\
        core id\t\t: 0\nflags\t\t: fpu hypervisor\n";

    #[test]
    fn two_threads_of_one_core_are_one_core() {
        let found = processor(CPUINFO, "x86_64");
        assert_eq!((found.logical_cores, found.physical_cores), (2, Some(1)));
        assert_eq!(found.frequency_mhz, Some(2000.0));
        assert_eq!(found.model.as_deref(), Some("A"));
        assert!(hypervisor(CPUINFO).is_some());
    }

    #[test]
    fn the_inventory_is_complete_and_names_nobody() {
        let folder = tempfile::tempdir().expect("folder");
        let found = Environment::read(&[("sqlite", folder.path())]).expect("inventory");
        assert!(found.memory_bytes > 0 && found.processor.logical_cores > 0);
        assert!(found.folders.contains_key("sqlite"));
        let json = serde_json::to_string(&found).expect("json");
        let again: Environment = serde_json::from_str(&json).expect("inventory");
        assert_eq!(again, found);
        let system = rustix::system::uname();
        let host = system.nodename().to_string_lossy();
        // A host may be called "localhost" or "x"; only a telling name can leak.
        assert!(host.len() < 4 || !json.contains(host.as_ref()), "{json}");
        let path = folder.path().to_string_lossy();
        assert!(!json.contains(path.as_ref()));
    }

    #[test]
    fn the_chosen_option_is_in_brackets() {
        assert_eq!(chosen("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(chosen("none"), None);
    }
}
