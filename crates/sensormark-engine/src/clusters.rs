//! `--cluster`: which stores can be the cluster that was asked for, at which consistency level.
//!
//! This is the one place that decides it. A store only says what it offers.

use super::selection::Choice;
use sensormark_data::nearest::unknown;
use sensormark_result::measurement::record::NotMeasured;
use sensormark_store::{Cluster, ClusterWish, Clusters, Durability};

/// Makes these databases clusters. Those that cannot be are left out, each with its reason.
///
/// # Errors
/// The reason of each, where none of them can.
pub fn in_clusters(
    choices: Vec<Choice>,
    wish: &ClusterWish,
    durability: Durability,
) -> Result<(Vec<Choice>, Vec<NotMeasured>), String> {
    let (mut made, mut left_out) = (Vec::new(), Vec::new());
    for mut choice in choices {
        match cluster(&choice, wish, durability) {
            Ok(cluster) => {
                choice.cluster = Some(cluster);
                made.push(choice);
            }
            Err(reason) => left_out.push(NotMeasured {
                implementation: choice.title(),
                reason: format!("not supported: {reason}"),
            }),
        }
    }
    if made.is_empty() {
        let reasons = left_out.iter().map(|one| format!("{}: {}", one.implementation, one.reason));
        let reasons: Vec<String> = reasons.collect();
        return Err(format!("--cluster {}: {}", wish.members, reasons.join("; ")));
    }
    Ok((made, left_out))
}

fn cluster(choice: &Choice, wish: &ClusterWish, durability: Durability) -> Result<Cluster, String> {
    let description = choice.store.description();
    if choice.url.is_some() {
        return Err("a server by URL is what it is, and sensormark makes no cluster of it; leave out the URL, or --cluster".to_owned());
    }
    if description.embedded {
        return Err(
            "it runs inside the client and has no servers; name databases with servers, like --on postgresql"
                .to_owned(),
        );
    }
    chosen(&choice.store.clusters()?, wish, durability)
}

/// The cluster that is measured, of those that a store offers.
fn chosen(offered: &Clusters, wish: &ClusterWish, durability: Durability) -> Result<Cluster, String> {
    if !offered.members.contains(&wish.members) {
        return Err(format!(
            "its clusters have {} to {} members, not {}",
            offered.members.start(),
            offered.members.end(),
            wish.members
        ));
    }
    let mut levels = offered.consistencies.iter();
    let level = match wish.consistency.as_deref() {
        None => levels.next(),
        Some(name) => levels.find(|level| level.name == name),
    };
    let level = level.ok_or_else(|| {
        let names = offered.consistencies.iter();
        let wanted = wish.consistency.as_deref().unwrap_or_default();
        unknown("consistency", wanted, names.map(|level| level.name.to_owned()))
    })?;
    if durability == Durability::Relaxed && !level.relaxed {
        return Err(format!(
            "consistency {} waits for more than durability relaxed allows; choose another of the two",
            level.name
        ));
    }
    Ok(Cluster { members: wish.members, consistency: level.name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_conformance::memory::MemoryStore;
    use sensormark_store::store::RepeatedWrite;
    use sensormark_store::{Consistency, Leadership};
    use std::sync::Arc;

    fn wish(members: u32, consistency: Option<&str>) -> ClusterWish {
        ClusterWish { members, consistency: consistency.map(str::to_owned) }
    }

    fn offered() -> Clusters {
        let level =
            |name, relaxed| Consistency { name, promise: "much", link: "https://example.org/", relaxed };
        Clusters {
            members: 2..=3,
            consistencies: vec![level("all", false), level("one", true)],
            leadership: Leadership::None,
        }
    }

    #[test]
    fn the_first_level_is_the_default_and_names_the_result() {
        let usual = Durability::Default;
        let named = chosen(&offered(), &wish(3, Some("all")), usual);
        assert_eq!(chosen(&offered(), &wish(3, None), usual), named);
        assert_eq!(named.unwrap().file_name(), "3-all");
    }

    #[test]
    fn what_cannot_be_had_is_refused_with_the_reason() {
        let usual = Durability::Default;
        let refused = |wish: &ClusterWish, class| chosen(&offered(), wish, class).unwrap_err();
        assert!(refused(&wish(4, None), usual).contains("2 to 3 members"));
        assert!(refused(&wish(2, Some("al")), usual).contains("did you mean all?"));
        assert!(refused(&wish(2, None), Durability::Relaxed).contains("relaxed"));
        assert!(chosen(&offered(), &wish(2, Some("one")), Durability::Relaxed).is_ok());
        let alone = Choice::of(Arc::new(MemoryStore::new(RepeatedWrite::Replaces)));
        let refused = in_clusters(vec![alone], &wish(3, None), usual);
        assert!(refused.err().unwrap_or_default().contains("--cluster 3"));
    }
}
