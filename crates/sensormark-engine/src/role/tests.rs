use super::*;

/// A process that says that it is there, and answers nothing.
fn mute() -> RoleProcess {
    let here =
        r#"sh -c 'printf "{\42event\42:\42here\42,\42data\42:{\42process_id\42:%s}}\n" $$; cat >&2' {host}"#;
    let launcher = Launcher::from_template(here, "pi1").expect("a launcher");
    RoleProcess::launch(&launcher, "writer").expect("it starts")
}

#[test]
fn a_host_that_does_not_tell_its_clock_is_named_with_what_to_do() {
    let mut process = mute();
    process.wait_here(Duration::from_secs(20)).expect("it is here");
    assert_eq!(process.id_there(), Some(process.process_id()));
    let limit = Duration::from_millis(200);
    let asked = process.ask_clock().expect("it takes the question");
    let heard = process.hear_clock(asked, Instant::now() + limit);
    assert_eq!(heard.expect("it is not gone"), None, "no answer");
    let said = process.without_clock(limit).to_string();
    let words = [
        "the offset of the clock on pi1 is not known",
        "Let the launcher pass standard input and output on at once",
    ];
    for word in words {
        assert!(said.contains(word), "{said}");
    }
}

/// What a process says just before it ends is heard before its end.
#[test]
fn last_words_come_before_the_end() {
    let ready = r#"sh -c 'printf "{\42event\42:\42ready\42}\n"' {host}"#;
    let launcher = Launcher::from_template(ready, "pi1").expect("a launcher");
    let mut process = RoleProcess::launch(&launcher, "writer").expect("it starts");
    // Both have come when it listens.
    std::thread::sleep(Duration::from_millis(500));
    let now = Instant::now();
    process.listen(now).expect("words first");
    assert_eq!(process.take(|event| *event == Event::Ready), Some(Event::Ready));
    assert!(matches!(process.listen(now), Err(RoleError::Ended { .. })), "then the end");
}
