//! Every operation is issued once, and what was issued is known exactly.

use super::*;

fn block(length: u64) -> NonZeroU64 {
    NonZeroU64::new(length).expect("blocks in tests are not empty")
}

#[test]
fn a_load_without_an_end_is_looked_through_as_far_as_it_came() {
    for distribution in
        [WorkDistribution::STRIDE, WorkDistribution::COUNTER, WorkDistribution::Stride { block: block(7) }]
    {
        let (taken, issued) = all(distribution, 3, 1 << 50, 20);
        assert!(issued.iter().eq(taken.iter().copied()), "{distribution:?}");
        let missing = (0..).find(|index| !taken.contains(index));
        assert_eq!(issued.first_missing(), missing, "{distribution:?}");
    }
}

fn all(distribution: WorkDistribution, clients: u32, length: u64, stop_after: u64) -> (Vec<u64>, Issued) {
    let assignments = Assignments::new(distribution, ClientRange::all(clients), length);
    let mut shares: Vec<_> = (0..clients).map(|client| assignments.client(client)).collect();
    let mut taken = Vec::new();
    let mut idle = 0;
    while idle < clients && (taken.len() as u64) < stop_after {
        idle = 0;
        for share in &mut shares {
            match share.take() {
                Some(assignment) => taken.push(assignment.index),
                None => idle += 1,
            }
        }
    }
    let done: Vec<_> = shares.iter().map(ClientAssignments::finish).collect();
    taken.sort_unstable();
    (taken, Issued::new(&assignments, &done))
}

#[test]
fn every_operation_has_one_turn_however_they_are_shared() {
    for length in [0, 1, 7, 100, 103] {
        for clients in [1, 3, 16] {
            for size in [1, 5, 200] {
                let size = block(size);
                for distribution in
                    [WorkDistribution::Stride { block: size }, WorkDistribution::Counter { block: size }]
                {
                    let (taken, issued) = all(distribution, clients, length, u64::MAX);
                    assert_eq!(taken, (0..length).collect::<Vec<_>>(), "{distribution:?}");
                    assert_eq!(issued.iter().collect::<Vec<_>>(), taken);
                    assert_eq!(issued.count(), length);
                    assert!(issued.is_complete(ClientRange::all(clients)));
                }
            }
        }
    }
}

#[test]
fn what_was_issued_before_a_stop_is_known_exactly() {
    for distribution in [
        WorkDistribution::STRIDE,
        WorkDistribution::COUNTER,
        WorkDistribution::Stride { block: block(7) },
        WorkDistribution::Counter { block: block(7) },
    ] {
        let (taken, issued) = all(distribution, 3, 100, 40);
        assert_eq!(issued.iter().collect::<Vec<_>>(), taken, "{distribution:?}");
        assert_eq!(issued.count(), taken.len() as u64);
        assert!(!issued.is_complete(ClientRange::all(3)));
    }
}

#[test]
fn a_turn_given_back_was_not_issued() {
    for distribution in [WorkDistribution::STRIDE, WorkDistribution::COUNTER] {
        let assignments = Assignments::new(distribution, ClientRange::all(1), 10);
        let mut client = assignments.client(0);
        client.take();
        let assignment = client.take().expect("ten operations");
        client.give_back(assignment);
        let issued = Issued::new(&assignments, &[client.finish()]);
        assert_eq!(issued.iter().collect::<Vec<_>>(), [0], "{distribution:?}");
        assert_eq!(client.finish().not_executed, Some(1));
        let left: Vec<u64> = assignments.positions_left(&client.finish()).collect();
        let untaken = assignments.positions_untaken().count() as u64;
        assert_eq!(left.len() as u64 + untaken, 9);
    }
}

#[test]
fn processes_share_by_stride() {
    let part = |first, count| {
        let clients = ClientRange { first, count, of: 5 };
        let assignments = Assignments::new(WorkDistribution::STRIDE, clients, 23);
        let done: Vec<_> = (0..count)
            .map(|client| {
                let mut client = assignments.client(client);
                while client.take().is_some() {}
                client.finish()
            })
            .collect();
        Issued::new(&assignments, &done)
    };
    let mut issued = part(0, 2);
    assert!(issued.count() < 23);
    assert_eq!(issued.due(), Some(issued.count()));
    issued.merge(&part(2, 3)).expect("one load");
    assert_eq!(issued.iter().count(), 23);
    assert_eq!(issued.check(WorkDistribution::STRIDE, 5, 23), Ok(()));
    let other = Issued::first(1, 7);
    assert!(issued.merge(&other).is_err(), "another load");
}
