//! Tests with real queues of this kernel.

use super::*;

fn queue() -> (Queue, Queue, Queue) {
    let queue = Queue::create().expect("a queue");
    let (source, writer) = (Queue::source(&queue.address()), Queue::writer(&queue.address()));
    (queue, source.expect("the source's end"), writer.expect("the writer's end"))
}

#[test]
fn it_takes_as_many_readings_as_it_says_and_no_more() {
    let (_queue, source, writer) = queue();
    let mut sequence = 0;
    while source.send(sequence, [1, 2, 3, 4, 5]).expect("send") {
        sequence += 1;
    }
    assert_eq!(sequence, CAPACITY_READINGS);
    assert_eq!(CAPACITY_READINGS, 1_632, "the study's queue has room for 1,638");
    assert!(!source.send_end(sequence).expect("send"), "there is no room for the end either");
    for expected in 0..sequence {
        let received = writer.receive().expect("receive");
        assert_eq!(received, Received::Reading { sequence: expected, values: [1, 2, 3, 4, 5] });
    }
    assert!(source.send_end(sequence).expect("send"));
    assert_eq!(writer.receive().expect("receive"), Received::End { attempted: sequence });
}

#[test]
fn messages_arrive_in_order_with_their_numbers_and_values() {
    let (_queue, source, writer) = queue();
    let values =
        |sequence: u64| [0u16, 1, 4_095, 256, 7].map(|value| value ^ u16::from(sequence.to_le_bytes()[0]));
    let receiver = std::thread::spawn(move || {
        let mut received = Vec::new();
        loop {
            match writer.receive().expect("receive") {
                Received::Reading { sequence, values } => received.push((sequence, values)),
                Received::End { attempted } => return (received, attempted),
            }
        }
    });
    for sequence in 0..10_000 {
        while !source.send(sequence, values(sequence)).expect("send") {
            std::thread::yield_now();
        }
    }
    while !source.send_end(10_000).expect("send") {
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
    let (_queue, source, writer) = queue();
    let receiver = std::thread::spawn(move || {
        let before = sleeps();
        let mut samples = 0;
        while let Received::Reading { .. } = writer.receive().expect("receive") {
            samples += 1;
        }
        (samples, sleeps() - before)
    });
    // A second of silence, then 200 samples a millisecond apart, then the end.
    std::thread::sleep(Duration::from_secs(1));
    for sequence in 0..200 {
        assert!(source.send(sequence, [7; CHANNELS]).expect("send"));
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(source.send_end(200).expect("send"));
    let (samples, sleeps) = receiver.join().expect("the receiver ends well");
    assert_eq!(samples, 200);
    assert!(sleeps <= samples + 10, "{sleeps} sleeps for {samples} samples");
}

#[test]
fn silence_is_told_from_a_queue_that_never_had_a_message_and_from_one_that_waits() {
    let (queue, source, writer) = queue();
    let silence = || queue.silence().expect("state");
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(silence(), None, "nothing was sent yet");
    assert!(source.send(7, [9; CHANNELS]).expect("send"));
    assert_eq!(silence(), None, "a message waits");
    let received = Received::Reading { sequence: 7, values: [9; CHANNELS] };
    assert_eq!(writer.receive().expect("receive"), received);
    std::thread::sleep(Duration::from_millis(1_100));
    let silent = silence().expect("it is empty");
    assert!((1.0..4.0).contains(&silent.as_secs_f64()), "{silent:?}");
}

#[test]
fn whoever_waits_is_woken_when_all_others_are_gone() {
    let (queue, source, writer) = queue();
    let address = queue.address();
    let receiver = std::thread::spawn(move || writer.receive());
    std::thread::sleep(Duration::from_millis(30));
    drop((queue, source));
    let received = receiver.join().expect("the receiver ends well");
    assert_eq!(received.map_err(|error| error.kind()), Err(ErrorKind::UnexpectedEof));
    assert!(Queue::writer(&address).is_err(), "it is gone");
}

#[test]
fn nothing_is_left_in_a_folder() {
    let queue = Queue::create().expect("a queue");
    let target = std::fs::read_link(queue.address()).expect("an open file");
    assert!(!target.exists() && target.to_string_lossy().ends_with("(deleted)"), "{}", target.display());
}
