//! Tests with real queues of this kernel.

use super::ownership::{Record, write_record};
use super::*;
use sensormark_server::ProcessIdentity;

fn queue() -> (tempfile::TempDir, OwnedQueue) {
    let records = tempfile::tempdir().expect("a folder");
    let queue = OwnedQueue::create(records.path()).expect("a queue");
    (records, queue)
}

#[test]
fn the_default_capacity_takes_as_many_readings_as_it_says_and_no_more() {
    let (_records, queue) = queue();
    let status = queue.status().expect("status");
    let default: u64 = std::fs::read_to_string("/proc/sys/kernel/msgmnb")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .expect("the kernel's default");
    assert_eq!(status.capacity_bytes, default);
    let mut sequence = 0;
    while queue.send(sequence, [1, 2, 3, 4, 5]).expect("send") {
        sequence += 1;
    }
    assert_eq!(sequence, status.capacity_readings());
    if default == 16_384 {
        assert_eq!(sequence, 1_638);
    }
    assert_eq!(queue.status().expect("status").messages, sequence);
    // The marker has no text, so it fits where no reading does.
    assert!(queue.send_end(sequence).expect("send"));
}

#[test]
fn messages_arrive_in_order_with_their_numbers_and_values() {
    let (_records, queue) = queue();
    let values =
        |sequence: u64| [0u16, 1, 4_095, 256, 7].map(|value| value ^ u16::from(sequence.to_le_bytes()[0]));
    let reader = MessageQueue::open(queue.number()).expect("open");
    let receiver = std::thread::spawn(move || {
        let mut received = Vec::new();
        loop {
            match reader.receive().expect("receive") {
                Received::Reading { sequence, values } => received.push((sequence, values)),
                Received::End { attempted } => return (received, attempted),
            }
        }
    });
    for sequence in 0..10_000 {
        while !queue.send(sequence, values(sequence)).expect("send") {
            std::thread::yield_now();
        }
    }
    while !queue.send_end(10_000).expect("send") {
        std::thread::yield_now();
    }
    let (received, attempted) = receiver.join().expect("the receiver ends well");
    assert_eq!(attempted, 10_000);
    let expected: Vec<_> = (0..10_000).map(|sequence| (sequence, values(sequence))).collect();
    assert!(received == expected, "readings differ from what was sent");
}

/// How often the calling thread has gone to sleep by itself.
fn sleeps() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").expect("this thread");
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.and_then(|count| count.trim().parse().ok()).expect("a count")
}

#[test]
fn a_receiver_wakes_once_a_sample_at_most_and_never_for_nothing() {
    let (_records, queue) = queue();
    let reader = *queue;
    let receiver = std::thread::spawn(move || {
        let before = sleeps();
        let mut samples = 0;
        while let Received::Reading { .. } = reader.receive().expect("receive") {
            samples += 1;
        }
        (samples, sleeps() - before)
    });
    // A second of silence, then 200 samples a millisecond apart, then the end.
    std::thread::sleep(Duration::from_secs(1));
    for sequence in 0..200 {
        assert!(queue.send(sequence, [7; CHANNELS]).expect("send"));
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(queue.send_end(200).expect("send"));
    let (samples, sleeps) = receiver.join().expect("the receiver ends well");
    assert_eq!(samples, 200);
    assert!(sleeps <= samples + 10, "{sleeps} sleeps for {samples} samples");
}

#[test]
fn silence_is_told_from_a_queue_that_never_had_a_message_and_from_one_that_waits() {
    let (_records, queue) = queue();
    let silence = || queue.status().expect("status").silence();
    assert_eq!(silence(), None, "nothing was sent yet");
    assert_eq!(queue.try_receive().expect("receive"), None);
    assert!(queue.send(7, [9; CHANNELS]).expect("send"));
    assert_eq!(silence(), None, "a message waits");
    let received = Received::Reading { sequence: 7, values: [9; CHANNELS] };
    assert_eq!(queue.receive().expect("receive"), received);
    std::thread::sleep(Duration::from_millis(1_100));
    let silent = silence().expect("it is empty");
    assert!((1.0..4.0).contains(&silent.as_secs_f64()), "{silent:?}");
}

#[test]
fn removal_wakes_a_waiting_receiver() {
    let (_records, queue) = queue();
    let reader = *queue;
    let receiver = std::thread::spawn(move || reader.receive());
    std::thread::sleep(Duration::from_millis(30));
    drop(queue);
    let received = receiver.join().expect("the receiver ends well");
    assert!(matches!(received, Err(QueueError::Removed)), "{received:?}");
    assert!(matches!(reader.send(0, [0; CHANNELS]), Err(QueueError::Removed)));
    assert!(matches!(MessageQueue::open(reader.number()), Err(QueueError::Removed)));
}

#[test]
fn a_sequence_number_that_does_not_fit_is_refused() {
    let (_records, queue) = queue();
    let sent = queue.send(u64::MAX, [0; CHANNELS]);
    assert!(matches!(sent, Err(QueueError::Sequence(u64::MAX))));
}

#[test]
fn a_strangers_message_is_told_apart() {
    let (_records, queue) = queue();
    kernel::send(queue.number(), 5, b"abc").expect("send");
    let received = queue.try_receive();
    assert!(matches!(received, Err(QueueError::Foreign { kind: 5, length: 3 })), "{received:?}");
}

#[test]
fn dropping_removes_the_queue_and_its_record() {
    let (records, queue) = queue();
    let files = || std::fs::read_dir(records.path()).expect("folder").count();
    assert_eq!(files(), 1);
    assert_eq!(orphans(records.path()).expect("list"), [], "this process lives");
    drop(queue);
    assert_eq!(files(), 0);
}

#[test]
fn queues_of_dead_owners_are_listed_and_removed_and_others_left_alone() {
    let (records, alive) = queue();
    let mut child = std::process::Command::new("true").spawn().expect("a process");
    let pid = child.id();
    child.wait().expect("it ends");
    let this = Owner::this_process().expect("this process");
    // A dead owner with a queue, one that died before making it, a reused number, and one from before a reboot.
    let dead = Owner { process: ProcessIdentity { pid, ..this.process }, ..this.clone() };
    let (record, path) = write_record(records.path(), &dead).expect("record");
    let orphaned = kernel::create(record.key).expect("queue");
    write_record(records.path(), &dead).expect("record");
    write_record(
        records.path(),
        &Owner {
            process: ProcessIdentity { start_ticks: this.process.start_ticks + 1, ..this.process },
            ..this.clone()
        },
    )
    .expect("record");
    write_record(records.path(), &Owner { boot_id: "before".to_owned(), ..this }).expect("record");
    std::fs::write(records.path().join("queue-notes.json"), "not a record").expect("write");

    let listed = orphans(records.path()).expect("list");
    assert_eq!(listed.len(), 4);
    assert!(listed.contains(&Orphan { record: path, key: record.key, owner: dead, queue: Some(orphaned) }));
    assert_eq!(remove_orphans(records.path()).expect("remove").len(), 4);
    assert!(matches!(MessageQueue::open(orphaned), Err(QueueError::Removed)));
    assert!(alive.status().is_ok());
    assert_eq!(orphans(records.path()).expect("list"), []);
    assert_eq!(std::fs::read_dir(records.path()).expect("folder").count(), 2);
}

#[test]
fn no_folder_means_no_orphans() {
    let records = tempfile::tempdir().expect("a folder");
    assert_eq!(orphans(&records.path().join("none")).expect("list"), []);
}

#[test]
fn a_record_survives_its_file() {
    let owner = Owner::this_process().expect("this process");
    let record = Record { key: 77, owner };
    let text = serde_json::to_string(&record).expect("write");
    assert_eq!(serde_json::from_str::<Record>(&text).expect("read"), record);
}
