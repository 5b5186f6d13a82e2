use super::*;
use crate::tests::fixture;

#[test]
fn a_newer_and_a_damaged_file_get_one_clear_message_each() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("run.json");
    assert!(matches!(ResultsFolder::open(scratch.path()), Err(FolderError::NotARun(_))));
    for (text, words) in [
        ("{\"schema_version\": 99}", "use a newer sensormark"),
        ("{\"schema_version\": 1}", "missing field"),
        ("{\"schema_version\": 0}", "there is no result format 0"),
        ("{", "is damaged"),
        ("{}", "states no schema_version"),
    ] {
        fs::write(&file, text).unwrap();
        let message = ResultsFolder::open(scratch.path()).unwrap().run().unwrap_err().to_string();
        assert!(message.contains(words) && message.contains("run.json"), "{message}");
    }
}

/// Runs that hosts measured in parts are read once they were joined, and a part says what it is.
#[test]
fn runs_of_parts_of_earlier_versions_are_read_and_a_part_is_named() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = ResultsFolder::create(scratch.path(), "run").unwrap();
    let mut record = fixture::run();
    record.shard = (1, 3);
    folder.begin(&record).unwrap();
    let message = folder.run().unwrap_err().to_string();
    for words in ["part 1 of 3 of a run", "run --shard", &record.sensormark, "merge"] {
        assert!(message.contains(words), "{message}");
    }
    record.shard = (3, 3);
    folder.write_run(&record).unwrap();
    assert_eq!(folder.run().unwrap(), record);
}

/// The record's path is longer than a path may be, while those of the two folders beside it are not.
#[test]
fn a_run_that_cannot_begin_leaves_no_folder() {
    const LONGEST_PATH: usize = 4_095;
    let scratch = tempfile::tempdir().unwrap();
    let mut parent = scratch.path().to_path_buf();
    let left = |parent: &Path| LONGEST_PATH - "/run/samples".len() - parent.as_os_str().len();
    while left(&parent) > 200 {
        parent.push("a".repeat(99));
    }
    parent.push("a".repeat(left(&parent) - 1));
    let folder = ResultsFolder::create(&parent, "run").unwrap();
    folder.begin(&fixture::run()).unwrap_err();
    assert!(!parent.join("run").exists());
}

#[test]
fn no_result_is_ever_overwritten() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = ResultsFolder::create(scratch.path(), "run").unwrap();
    let file = scratch.path().join("run/trials/one.json");
    folder.write_bytes("trials/one.json", b"first").unwrap();
    let refused = folder.write_bytes("trials/one.json", b"second");
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("one.json is there already"), "{text}");
    assert_eq!(fs::read(&file).unwrap(), b"first");
    let left = fs::read_dir(file.parent().unwrap()).unwrap().count();
    assert_eq!(left, 1, "nothing lies beside it");
    assert!(matches!(ResultsFolder::create(scratch.path(), "run"), Err(FolderError::Exists(_))));
    folder.replace_bytes("report.html", b"a").unwrap();
    folder.replace_bytes("report.html", b"b").unwrap();
    assert_eq!(fs::read(scratch.path().join("run/report.html")).unwrap(), b"b");
}

#[test]
fn nothing_half_written_stays_behind() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("folder-in-the-way");
    fs::create_dir_all(target.join("full")).unwrap();
    assert!(write_beside(&target, b"x").is_err());
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
}
