//! Arguments of a load that several hosts make without a pipe between them: who of them this process is, and when they start.

use super::values::time;
use clap::Args;
use jiff::Timestamp;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The heading of these options in help texts.
const RANKS: &str = "A load that several hosts make";

/// Arguments of a rank.
#[derive(Debug, Args)]
pub struct ShardArguments {
    /// Make one part of the load, and others make the rest: RANK/N, RANK from 0. auto/N or auto takes the rank, and N, from Kubernetes, Slurm or Open MPI
    #[arg(help_heading = RANKS, long, value_name = "RANK/N", conflicts_with_all = ["find_limit", "as_study"])]
    pub shard: Option<ShardName>,
    /// With --shard: when the first phase starts at the earliest, RFC 3339, like 2026-01-01T12:00:00Z; the same for all ranks
    #[arg(help_heading = RANKS, long, value_name = "TIME", requires = "shard")]
    pub start_at: Option<Timestamp>,
    /// With --shard: give up a rank that does not come, from the start on, or that says nothing for so long: 90s, 2m, or a number of seconds
    #[arg(help_heading = RANKS, long, value_name = "TIME", default_value = "60s", value_parser = time)]
    pub rank_timeout: Duration,
}

/// Which part of the load a process makes, as the user says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShardName {
    /// This rank of so many.
    Given(u32, u32),
    /// The rank that the environment says, of so many if that is given.
    Auto(Option<u32>),
}

impl FromStr for ShardName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            "a shard is written RANK/N like 0/3, or auto/N or auto, where Kubernetes, Slurm or Open MPI say the rank".to_owned()
        };
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
        let (rank, of) = match text.split_once('/') {
            None if text == "auto" => return Ok(Self::Auto(None)),
            None => return Err(wrong()),
            Some((rank, of)) => (rank.trim(), number(of)?),
        };
        if of < 2 {
            return Err(format!("{text}: there have to be two ranks or more"));
        }
        if rank == "auto" {
            return Ok(Self::Auto(Some(of)));
        }
        let rank = number(rank)?;
        if rank >= of {
            return Err(format!("{text}: ranks are counted from 0, so that the last of {of} is {}", of - 1));
        }
        Ok(Self::Given(rank, of))
    }
}

impl ShardName {
    /// The rank, and of how many, by this process's environment.
    ///
    /// # Errors
    /// What the environment does not say, and what to do.
    pub fn in_environment(self) -> Result<(u32, u32), String> {
        self.resolve(|variable| std::env::var(variable).ok())
    }

    /// The rank, and of how many. `variable` reads one of the environment.
    ///
    /// # Errors
    /// What the environment does not say, and what to do.
    fn resolve(self, variable: impl Fn(&str) -> Option<String>) -> Result<(u32, u32), String> {
        let of = match self {
            Self::Given(rank, of) => return Ok((rank, of)),
            Self::Auto(of) => of,
        };
        let number = |name: &str| variable(name)?.trim().parse::<u32>().ok();
        let array = || {
            // In a Slurm array each job has one task, whose number is 0.
            let is_alone = number("SLURM_NTASKS").is_none_or(|tasks| tasks <= 1);
            let first = number("SLURM_ARRAY_TASK_MIN").unwrap_or(0);
            let rank = number("SLURM_ARRAY_TASK_ID")?.checked_sub(first)?;
            is_alone.then_some((rank, number("SLURM_ARRAY_TASK_COUNT")))
        };
        let named = |rank: &str, of: &str| Some((number(rank)?, number(of)));
        let found = named("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")
            .or_else(|| Some((number("JOB_COMPLETION_INDEX")?, None)))
            .or_else(array)
            .or_else(|| named("SLURM_PROCID", "SLURM_NTASKS"));
        let Some((rank, told)) = found else {
            return Err("--shard auto: none of OMPI_COMM_WORLD_RANK, JOB_COMPLETION_INDEX, SLURM_ARRAY_TASK_ID and SLURM_PROCID is set; give the rank, like --shard 0/3".to_owned());
        };
        let Some(of) = of.or(told) else {
            return Err(format!(
                "--shard auto: this is rank {rank}, and nothing says of how many; give it, like --shard auto/3"
            ));
        };
        if rank >= of || of < 2 {
            return Err(format!(
                "--shard auto: the environment says rank {rank} of {of}; ranks go from 0 to N-1, and there are two or more"
            ));
        }
        Ok((rank, of))
    }
}

/// Arguments of `merge`.
#[derive(Debug, Args)]
pub struct MergeArguments {
    /// The parts of all ranks, or the folder that holds them
    #[arg(required = true)]
    pub parts: Vec<PathBuf>,
    /// Where the result goes: a folder for the run is made in it
    #[arg(long, value_name = "FOLDER", default_value = "results")]
    pub results: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_below_the_number_of_ranks() {
        let read = |text: &str| text.parse::<ShardName>();
        assert_eq!(read("2/3"), Ok(ShardName::Given(2, 3)));
        assert_eq!(read("auto/3"), Ok(ShardName::Auto(Some(3))));
        assert_eq!(read("auto"), Ok(ShardName::Auto(None)));
        let why = read("3/3").expect_err("there is none");
        assert!(why.contains("the last of 3 is 2"), "{why}");
        for wrong in ["", "3", "/3", "a/3", "0/1", "0/0", "-1/3", "1/2/3"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    fn found(name: &str, set: &[(&str, &str)]) -> Result<(u32, u32), String> {
        let shard: ShardName = name.parse().expect("a shard");
        shard.resolve(|name| {
            let found = set.iter().find(|(one, _)| *one == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_environment_says_the_rank() {
        let kubernetes = [("JOB_COMPLETION_INDEX", "2")];
        assert_eq!(found("auto/4", &kubernetes), Ok((2, 4)));
        assert!(found("auto", &kubernetes).is_err_and(|why| why.contains("auto/3")));
        assert!(found("auto/2", &kubernetes).is_err());
        let slurm = [("SLURM_PROCID", "1"), ("SLURM_NTASKS", "4")];
        assert_eq!(found("auto", &slurm), Ok((1, 4)));
        let array = [
            ("SLURM_PROCID", "0"),
            ("SLURM_ARRAY_TASK_ID", "3"),
            ("SLURM_ARRAY_TASK_MIN", "1"),
            ("SLURM_ARRAY_TASK_COUNT", "4"),
        ];
        assert_eq!(found("auto", &array), Ok((2, 4)));
        // mpirun within a Slurm job: Slurm counts its own processes.
        let both = [
            ("OMPI_COMM_WORLD_RANK", "5"),
            ("OMPI_COMM_WORLD_SIZE", "8"),
            ("SLURM_PROCID", "0"),
            ("SLURM_NTASKS", "2"),
        ];
        assert_eq!(found("auto", &both), Ok((5, 8)));
        assert_eq!(found("1/2", &both), Ok((1, 2)));
        assert!(found("auto", &[]).is_err_and(|why| why.contains("SLURM_PROCID")));
    }
}
