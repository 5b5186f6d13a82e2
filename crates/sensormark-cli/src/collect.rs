//! `sensormark collect`: one page of many runs. Each run makes the same of its results folder, as `index.html`.

use crate::arguments::CollectArguments;
use crate::failure::Failure;
use crate::messages;
use crate::report::{PAGE, is_run};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use sensormark_report::collection::{self, Answer, Row};
use sensormark_report::{Report, ReportOptions};
use sensormark_result::measurement::{FolderError, ResultsFolder};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

/// The name of the page in a results folder.
pub const LIST: &str = "index.html";
/// Runs lie so many folders deep, at most.
const DEPTH: usize = 4;

/// What stays as it is in a link.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

/// Makes one page of the runs in these folders.
pub fn collect(arguments: &CollectArguments) -> Result<ExitCode, Failure> {
    // A shell's results/* names the page, too.
    let given = arguments.folders.iter().filter(|path| !(path.ends_with(LIST) && path.is_file()));
    let folders: Vec<PathBuf> = given.cloned().collect();
    for folder in &folders {
        if !folder.is_dir() {
            return Err(FolderError::Nowhere(folder.clone()).into());
        }
        let own = scan(std::slice::from_ref(folder));
        if own.map_err(|error| unreadable(folder, &error))?.is_empty() {
            let text = "has no run in it or below: a run's folder has a run.json; give the folder that holds your runs";
            return Err(Failure::usage(format!("{} {text}", folder.display())));
        }
    }
    let page = match (&arguments.html, folders.as_slice()) {
        (Some(page), [_, ..]) => page.clone(),
        (None, [one]) if !is_run(one) => one.join(LIST),
        _ => {
            let text = "say where the page of these runs goes: sensormark collect FOLDER… --html FILE";
            return Err(Failure::usage(text));
        }
    };
    let rows = write(&folders, &page, None)
        .map_err(|why| Failure::input_output(format!("{} was not written: {why}", page.display())))?;
    let unread = rows.iter().filter(|row| row.answer.is_err()).count();
    let unread =
        if unread > 0 { format!("; {unread} cannot be read, and the page says why") } else { String::new() };
    messages::say(format_args!("wrote {}, runs: {}{unread}", page.display(), rows.len()));
    Ok(ExitCode::SUCCESS)
}

fn unreadable(folder: &Path, error: &io::Error) -> Failure {
    Failure::input_output(format!("cannot read {}: {error}", folder.display()))
}

/// Makes the page of this results folder. Of a run whose own page was just drawn, it says what that says.
/// What stands in its way is a warning, because the results are kept already.
pub fn refresh(results: &Path, drawn: Option<(&Path, &Report)>) {
    let page = results.join(LIST);
    if let Err(why) = write(&[results.to_owned()], &page, drawn) {
        messages::say(format_args!("warning: {} was not written: {why}", page.display()));
    }
}

fn write(folders: &[PathBuf], page: &Path, drawn: Option<(&Path, &Report)>) -> io::Result<Vec<Row>> {
    let mut rows = earlier(page)?;
    let place = match page.parent() {
        Some(parent) if parent != Path::new("") => parent.canonicalize()?,
        _ => std::env::current_dir()?,
    };
    rows.extend(drawn.map(|(run, report)| row(&place, run, files(run), Ok(collection::answer(report)))));
    loop {
        let runs = scan(folders)?;
        // What could not be read is tried again.
        let kept = |files| rows.iter().find(|row| row.files == files)?.answer.clone().ok();
        let answered = |run, files| kept(files).map_or_else(|| answer(run), Ok);
        rows = runs.iter().map(|(run, files)| row(&place, run, *files, answered(run, *files))).collect();
        rows.sort_by_cached_key(|row| {
            let started = row
                .answer
                .iter()
                .find_map(|answer| answer["started"].as_str()?.parse::<jiff::Timestamp>().ok());
            Reverse((started, row.name.clone()))
        });
        replace(&place, page, &collection::render(&rows))?;
        // A run that ended meanwhile may have written this page before this one replaced it.
        if scan(folders)? == runs {
            return Ok(rows);
        }
    }
}

/// The rows of the page that is there.
///
/// # Errors
/// It cannot be read, or is a page of somebody else.
fn earlier(list: &Path) -> io::Result<Vec<Row>> {
    if !list.exists() {
        return Ok(Vec::new());
    }
    let page = if list.is_file() { fs::read_to_string(list)? } else { String::new() };
    collection::rows(&page).ok_or_else(|| io::Error::other("what is there is no page of runs; rename it"))
}

/// The runs in these folders and below, each with the number of its files.
fn scan(folders: &[PathBuf]) -> io::Result<BTreeMap<PathBuf, u64>> {
    let mut runs = BTreeMap::new();
    let mut within: Vec<(PathBuf, usize)> = folders.iter().map(|folder| (folder.clone(), 0)).collect();
    while let Some((folder, depth)) = within.pop() {
        if is_run(&folder) {
            let run = folder.canonicalize()?;
            runs.insert(run.clone(), files(&run));
        } else if depth == 0 || depth < DEPTH && folder.is_dir() && !folder.is_symlink() {
            let below = match fs::read_dir(&folder) {
                Err(_) if depth > 0 => continue,
                below => below?,
            };
            within.extend(below.flatten().map(|entry| (entry.path(), depth + 1)));
        }
    }
    Ok(runs)
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

fn row(place: &Path, run: &Path, files: u64, answer: Result<Answer, String>) -> Row {
    let seen = seen_from(place, run);
    let parts = seen.iter().map(|part| percent_encode(part.as_bytes(), ENCODED).to_string());
    Row {
        link: parts.collect::<Vec<_>>().join("/"),
        name: seen.to_string_lossy().into_owned(),
        has_page: run.join(PAGE).is_file(),
        files,
        answer,
    }
}

/// The path of a run from the folder of the page.
fn seen_from(place: &Path, run: &Path) -> PathBuf {
    let [from, to] = [place, run].map(|path| path.components().collect::<Vec<Component<'_>>>());
    let shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = from[shared..].iter().map(|_| Component::ParentDir);
    up.chain(to[shared..].iter().copied()).collect()
}

/// What the run came to. The trials of one that goes on are not read: it writes its row itself.
fn answer(run: &Path) -> Result<Answer, String> {
    let read = || {
        let folder = ResultsFolder::open(run)?;
        let record = folder.run()?;
        let is_over = record.finished.is_some() || run.join(PAGE).is_file();
        let trials = if is_over { folder.trials()? } else { Vec::new() };
        let report = Report::new(record, trials, &ReportOptions::default());
        Ok::<_, FolderError>(collection::answer(&report))
    };
    let folder = run.parent().unwrap_or(run).join("");
    read().map_err(|error| error.to_string().replace(&*folder.to_string_lossy(), ""))
}

/// Writes the page beside its place, under a name of its own, and renames it.
fn replace(place: &Path, page: &Path, text: &str) -> io::Result<()> {
    let mut beside = tempfile::Builder::new();
    beside.prefix(".index").permissions(Permissions::from_mode(0o666));
    let mut file = beside.tempfile_in(place)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(page).map(drop).map_err(Into::into)
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
                        write(&[results.to_owned()], &results.join(LIST), None).expect("a list");
                    });
                }
            });
            let page = fs::read_to_string(results.path().join(LIST)).expect("a list");
            let listed = collection::rows(&page).expect("rows").len();
            assert_eq!(listed, (round + 1) * AT_ONCE);
        }
        let left = fs::read_dir(results.path()).expect("ours").count();
        assert_eq!(left, 25 * AT_ONCE + 1, "nothing lies beside");
    }
}
