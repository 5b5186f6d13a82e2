//! C-L: the layouts that a store offers.

use super::super::check::{Check, Verdict, ensure};
use super::super::client::Client;
use super::super::data::{Data, Dataset};
use super::super::rule::{FAMILIES, Over, Rule, own};
use super::super::suite::Case;
use sensormark_store::layout::{DefaultSelection, Family, LayoutOption, Shape};
use std::collections::BTreeSet;

pub(super) fn rules() -> Vec<Rule> {
    vec![
        own!("C-L-01", "offers are complete and in order", Over::Store, offers),
        own!(
            "C-L-02",
            "every layout is made, empty and usable, and dropped",
            Over::Layouts(&Dataset::ALL),
            made_and_dropped
        ),
        own!(
            "C-L-03",
            "limits are at least one reading, and the size of a write has its advice",
            Over::Layouts(&Dataset::ALL),
            limits
        ),
    ]
}

async fn offers(case: &Case<'_>) -> Check<Verdict> {
    for dataset in Dataset::ALL {
        let schema = dataset.schema();
        let name = dataset.text();
        for family in FAMILIES {
            let offers = case.store().layouts(&schema, family);
            let again = case.store().layouts(&schema, family);
            ensure!(offers == again, "{name}, {family:?}: offers differ when asked again");
            ensure!(
                family != Family::PerReading || !offers.is_empty(),
                "{name}: no layout keeps a reading by itself"
            );
            let usual = offers.iter().filter(|offer| offer.default_selection == DefaultSelection::Usual);
            ensure!(
                offers.is_empty()
                    || usual.count() == 1 && offers[0].default_selection == DefaultSelection::Usual,
                "{name}, {family:?}: not exactly one usual offer, the first"
            );
            let variants: BTreeSet<&str> = offers.iter().map(|offer| offer.variant.as_str()).collect();
            ensure!(variants.len() == offers.len(), "{name}, {family:?}: two variants of one name");
            let layouts: std::collections::HashSet<_> = offers.iter().map(|offer| offer.layout).collect();
            ensure!(layouts.len() == offers.len(), "{name}, {family:?}: two offers of one layout");
            for offer in &offers {
                well_formed(offer, family)?;
            }
        }
    }
    Ok(Verdict::Kept)
}

fn well_formed(offer: &LayoutOption, family: Family) -> Check {
    ensure!(
        offer.variant.is_empty() == (offer.default_selection == DefaultSelection::Usual),
        "{offer:?}: the usual offer has no variant's name, and every other one has"
    );
    ensure!(!offer.description.is_empty(), "{offer:?}: no description");
    let fits = match (family, offer.layout.shape) {
        (Family::PerReading, Shape::RowPerReading | Shape::RowPerField | Shape::NativeTimeSeries)
        | (Family::GrowingArray, Shape::GrowingArray) => true,
        (Family::PerSpan { span_ns: asked }, Shape::RecordPerSpan { span_ns, .. }) => asked == span_ns,
        (
            Family::Bucketed { limit: asked_limit, per_ns: asked_per, split: asked_split },
            Shape::Bucketed { limit, per_ns, split, .. },
        ) => (asked_limit, asked_per, asked_split) == (limit, per_ns, split),
        (Family::Summary { per_ns: asked_per, split: asked_split }, Shape::Summary { per_ns, split }) => {
            (asked_per, asked_split) == (per_ns, split)
        }
        _ => false,
    };
    ensure!(fits, "{offer:?}: not of the family {family:?}");
    Ok(())
}

async fn made_and_dropped(case: &Case<'_>) -> Check<Verdict> {
    let (plan, mut client) = case.client().await?;
    let census = client.census(&plan.schema).await?;
    ensure!(census.readings() == 0, "a new database holds {} readings", census.readings());
    let data: &Data = &case.subject().data;
    for batch in data.batches.iter().filter(|batch| !batch.is_empty()) {
        let mut one = batch.clone();
        one.clear();
        one.push_row(batch, 0);
        client.write(&one).await?;
    }
    client.close().await?;
    case.suite.drop_database(&plan).await?;
    if let Ok(mut client) = Client::try_connect(case.store(), &plan).await? {
        let left = client.census(&plan.schema).await.map(|census| census.readings());
        ensure!(left.is_err(), "{left:?} readings after the drop");
    }
    Ok(Verdict::Kept)
}

async fn limits(case: &Case<'_>) -> Check<Verdict> {
    let subject = case.subject();
    for table in &subject.data.schema.tables {
        let limits = case.store().limits(&subject.offer.layout, table);
        ensure!(limits.readings_per_statement >= 1, "{limits:?} for table {}", table.name);
        let size = case.store().write_size(&subject.offer.layout, table);
        ensure!(
            size.readings >= 1 && size.bytes >= 1 && size.reading_bytes >= 1,
            "{size:?} for table {}",
            table.name
        );
        ensure!(
            size.readings_per_write() <= limits.readings_per_statement,
            "a write of {} readings does not fit into a statement of {} for table {}",
            size.readings_per_write(),
            limits.readings_per_statement,
            table.name
        );
        ensure!(
            size.link.starts_with("https://") && !size.advice.is_empty(),
            "no advice with a link in {size:?}"
        );
    }
    Ok(Verdict::Kept)
}
