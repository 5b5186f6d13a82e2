//! `index.html` of a results folder: the list of its runs. It is derived from the folder whenever a run's page is written.

use crate::messages;
use crate::report::{PAGE, below};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use sensormark_report::html::index::{self, Answer, Row};
use sensormark_report::{Report, ReportOptions};
use sensormark_result::measurement::{FolderError, ResultsFolder};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The name of the list in a results folder.
pub const LIST: &str = "index.html";

/// What stays as it is in a link.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

/// Writes the list of the runs in this folder. Of a run whose page was just drawn, it says what the page says.
/// What stands in its way is a warning, because the results are kept already.
pub fn refresh(results: &Path, drawn: Option<(&Path, &Report)>) {
    let list = results.join(LIST);
    if let Err(why) = write(results, &list, drawn) {
        messages::say(format_args!("warning: {} was not written: {why}", list.display()));
    }
}

fn write(results: &Path, list: &Path, drawn: Option<(&Path, &Report)>) -> io::Result<()> {
    let mut rows = earlier(list)?;
    rows.extend(drawn.map(|(run, report)| row(run, files(run), Ok(Answer::of(report)))));
    loop {
        let runs = scan(results)?;
        // What could not be read is tried again.
        let kept = |files| rows.iter().find(|row| row.files == files)?.answer.clone().ok();
        let answered = |run, files| kept(files).map_or_else(|| answer(run), Ok);
        rows = runs.iter().map(|(run, files)| row(run, *files, answered(run, *files))).collect();
        rows.sort_by_cached_key(|row| {
            let started = row.answer.iter().find_map(|answer| answer.started.parse::<jiff::Timestamp>().ok());
            Reverse((started, row.name.clone()))
        });
        replace(results, list, &index::render(&rows))?;
        // A run that ended meanwhile may have written its list before this one replaced it.
        if scan(results)? == runs {
            return Ok(());
        }
    }
}

/// The rows of the list that is there.
///
/// # Errors
/// It cannot be read, or is a page of somebody else.
fn earlier(list: &Path) -> io::Result<Vec<Row>> {
    if !list.exists() {
        return Ok(Vec::new());
    }
    let page = if list.is_file() { fs::read_to_string(list)? } else { String::new() };
    index::rows(&page).ok_or_else(|| io::Error::other("what is there is no list of runs; rename it"))
}

/// The runs, each with the number of its files.
fn scan(results: &Path) -> io::Result<BTreeMap<PathBuf, u64>> {
    Ok(below(results)?.into_iter().map(|run| (run.clone(), files(&run))).collect())
}

/// A number that changes with names, sizes and times of what a run's row is derived from. Nothing is read for it.
fn files(run: &Path) -> u64 {
    let mut paths = ["run.json", "SHA256SUMS", PAGE].map(|name| run.join(name)).to_vec();
    let trials = fs::read_dir(run.join("trials")).into_iter().flatten().flatten();
    paths.extend(trials.map(|trial| trial.path()));
    paths.sort();
    let mut hasher = DefaultHasher::new();
    for path in paths {
        let about = fs::metadata(&path).map(|about| (about.len(), about.modified().ok()));
        (path.file_name(), about.ok()).hash(&mut hasher);
    }
    hasher.finish()
}

fn row(run: &Path, files: u64, answer: Result<Answer, String>) -> Row {
    let name = run.file_name().unwrap_or_default();
    Row {
        name: name.to_string_lossy().into_owned(),
        link: percent_encode(name.as_bytes(), ENCODED).to_string(),
        has_page: run.join(PAGE).is_file(),
        files,
        answer,
    }
}

/// What the run came to. The trials of one that goes on are not read: it writes its row itself.
fn answer(run: &Path) -> Result<Answer, String> {
    let read = || {
        let folder = ResultsFolder::open(run)?;
        let record = folder.run()?;
        let is_over = record.finished.is_some() || run.join(PAGE).is_file();
        let trials = if is_over { folder.trials()? } else { Vec::new() };
        let report = Report::new(record, trials, &ReportOptions::default());
        Ok::<_, FolderError>(Answer::of(&report))
    };
    let folder = run.parent().unwrap_or(run).join("");
    read().map_err(|error| error.to_string().replace(&*folder.to_string_lossy(), ""))
}

/// Writes the page beside its place, under a name of its own, and renames it.
fn replace(results: &Path, list: &Path, page: &str) -> io::Result<()> {
    let mut beside = tempfile::Builder::new();
    beside.prefix(".index").permissions(Permissions::from_mode(0o666));
    let mut file = beside.tempfile_in(results)?;
    file.write_all(page.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(list).map(drop).map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    /// Each makes a run's folder and lists it, all at once, often.
    #[test]
    fn nobody_loses_the_row_of_another() {
        const AT_ONCE: usize = 4;
        let results = tempfile::tempdir().expect("a folder");
        let begin = Barrier::new(AT_ONCE);
        for round in 0..25 {
            std::thread::scope(|threads| {
                for number in 0..AT_ONCE {
                    let (results, begin) = (results.path(), &begin);
                    threads.spawn(move || {
                        begin.wait();
                        let run = results.join(format!("{round}-{number}"));
                        fs::create_dir_all(&run).expect("ours");
                        fs::write(run.join("run.json"), "{").expect("ours");
                        write(results, &results.join(LIST), None).expect("a list");
                    });
                }
            });
            let page = fs::read_to_string(results.path().join(LIST)).expect("a list");
            let listed = index::rows(&page).expect("rows").len();
            assert_eq!(listed, (round + 1) * AT_ONCE);
        }
        let left = fs::read_dir(results.path()).expect("ours").count();
        assert_eq!(left, 25 * AT_ONCE + 1, "nothing lies beside");
    }
}
