//! Showing what runs: bars on a terminal, plain lines elsewhere, JSON lines for machines, or nothing.
//!
//! Everything goes to standard error; standard output is for results.

use crate::arguments::ProgressName;
use crate::messages::{harmless, say};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sensormark_engine::context::{Observer, RunEvent};
use sensormark_engine::role::Progress as RoleProgress;
use sensormark_engine::time_left::Left;
use sensormark_report::clean::clean;
use sensormark_result::measurement::Verdict;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Counts nearer than this to each other make no rate.
const SHORTEST_RATE_SECONDS: f64 = 0.2;

/// Shows the events of a run.
pub struct Progress {
    mode: Mode,
    state: Mutex<State>,
}

enum Mode {
    Bar(ProgressBar),
    Plain,
    Quiet,
    Json,
}

struct State {
    began: Instant,
    trials: usize,
    finished: usize,
    seconds: f64,
    /// What is left of the run, and since when.
    left: Option<(Instant, Left)>,
    label: String,
    phase: String,
    /// When operations were last counted, how many, and how many a second since the time before.
    counted: Option<(Instant, u64)>,
    rate: Option<f64>,
}

/// What is known of the operations of this moment, as text.
#[derive(Default)]
struct Now {
    /// Operations a second, and errors.
    pace: String,
    /// Operations done, and of how many.
    done: String,
}

impl Now {
    fn of(progress: RoleProgress, rate: Option<f64>) -> Self {
        let mut pace = rate.map_or_else(String::new, |rate| format!(", {rate:.0}/s"));
        if progress.errors > 0 {
            pace.push_str(&format!(", {} errors", progress.errors));
        }
        let done = match progress.of {
            0 => format!(" {}", progress.done),
            of => format!(" {}/{of}", progress.done),
        };
        Self { pace, done }
    }
}

impl State {
    /// Takes note of a count of operations.
    fn count(&mut self, done: u64) {
        let now = Instant::now();
        match self.counted {
            Some((at, before)) if done >= before => {
                let seconds = now.duration_since(at).as_secs_f64();
                if seconds < SHORTEST_RATE_SECONDS {
                    return;
                }
                self.rate = Some((done - before) as f64 / seconds);
            }
            _ => self.rate = None,
        }
        self.counted = Some((now, done));
    }

    /// Another phase: its operations are counted from nothing.
    fn enter(&mut self, phase: String) {
        (self.phase, self.counted, self.rate) = (phase, None, None);
    }
}

impl Progress {
    /// Shows progress in this way.
    pub fn new(name: ProgressName) -> Self {
        let mode = match name {
            ProgressName::Quiet => Mode::Quiet,
            ProgressName::Json => Mode::Json,
            ProgressName::Plain => Mode::Plain,
            ProgressName::Auto if std::io::stderr().is_terminal() => Mode::Bar(bar()),
            ProgressName::Auto => Mode::Plain,
        };
        let state = State {
            began: Instant::now(),
            trials: 0,
            finished: 0,
            seconds: 0.0,
            left: None,
            label: String::new(),
            phase: String::new(),
            counted: None,
            rate: None,
        };
        Self { mode, state: Mutex::new(state) }
    }

    /// Removes what is only there while it works.
    pub fn finish(&self) {
        if let Mode::Bar(bar) = &self.mode {
            bar.finish_and_clear();
        }
    }

    /// Says something after [`Progress::finish`].
    pub fn afterwards(&self, text: String) {
        match &self.mode {
            Mode::Bar(_) | Mode::Plain => {
                say(text);
            }
            Mode::Json => self.event(RunEvent::Note(text)),
            Mode::Quiet => {}
        }
    }

    /// Says a line. Parts of it come from servers and files, so nothing in it may command the terminal.
    fn say(&self, line: &str) {
        match &self.mode {
            Mode::Bar(bar) => bar.println(harmless(line)),
            Mode::Plain => {
                say(line);
            }
            Mode::Quiet | Mode::Json => {}
        }
    }

    /// Says a step of the work to who asked for all of them with `--verbose`.
    fn step(&self, text: &str) {
        let text = clean(text);
        match &self.mode {
            Mode::Bar(bar) => bar.suspend(|| tracing::debug!("{text}")),
            Mode::Plain | Mode::Quiet | Mode::Json => tracing::debug!("{text}"),
        }
    }

    /// What matters stands first: a narrow terminal cuts the end off.
    fn refresh(&self, state: &State, now: &Now) {
        if let Mode::Bar(bar) = &self.mode {
            bar.set_length(state.trials as u64);
            bar.set_position(state.finished as u64);
            let separator = if state.phase.is_empty() { "" } else { ", " };
            let message = format!(
                "{} left{}: {}{separator}{}{}",
                left(state),
                now.pace,
                state.label,
                state.phase,
                now.done
            );
            bar.set_message(clean(&message));
        }
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr_with_hz(8));
    let style =
        ProgressStyle::with_template("{bar:10} {pos}/{len} {wide_msg}").expect("the template is a constant");
    bar.set_style(style);
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

/// How many trials there are and how long they take; how long at most, where other programs could make that much of a difference.
fn announced(trials: usize, seconds: f64, most_seconds: f64) -> String {
    let noun = if trials == 1 { "trial" } else { "trials" };
    let about = format!("{trials} {noun}, about {}", span(seconds));
    if most_seconds > seconds * 1.1 {
        let most = span(most_seconds);
        return format!("{about}; up to {most} if other programs disturb them");
    }
    about
}

/// Time left: from the plan at first, then by what cases took (see `engine::time_left`).
fn left(state: &State) -> String {
    let seconds = match &state.left {
        Some((since, left)) => left.seconds_after(since.elapsed().as_secs_f64()),
        None => state.seconds - state.began.elapsed().as_secs_f64(),
    };
    span(seconds)
}

/// A span of time in words.
pub fn span(seconds: f64) -> String {
    let seconds = sensormark_data::units::round_u64(seconds.max(1.0));
    match seconds {
        0..=99 => format!("{seconds} s"),
        100..=5_999 => format!("{} min", (seconds + 30) / 60),
        _ => format!("{:.1} h", seconds as f64 / 3_600.0),
    }
}

/// How a finished trial begins its line.
const fn mark(verdict: &Verdict, disturbances: &[String]) -> &'static str {
    match (verdict.is_valid(), disturbances.is_empty()) {
        (true, true) => "ok  ",
        (true, false) => "~   ",
        (false, _) => "FAIL",
    }
}

/// The line of a trial that begins.
fn trial_begins(state: &State, label: &str, seconds: f64) -> String {
    format!(
        "[{}/{}] {label} (about {}; {} left)",
        state.finished + 1,
        state.trials,
        span(seconds),
        left(state)
    )
}

impl Observer for Progress {
    fn event(&self, event: RunEvent) {
        if let Mode::Json = self.mode {
            // JSON spells control characters out itself.
            let json = serde_json::to_string(&event).expect("events have string keys");
            let _ = writeln!(std::io::stderr(), "{json}");
            return;
        }
        let Ok(mut state) = self.state.lock() else {
            return;
        };
        let mut now = Now::default();
        match event {
            RunEvent::Started { trials, seconds, most_seconds } => {
                (state.trials, state.seconds) = (trials, seconds);
                self.say(&announced(trials, seconds, most_seconds));
            }
            RunEvent::TimeLeft { now, after } => {
                state.left = Some((Instant::now(), Left { now, after }));
            }
            RunEvent::Again { trials, .. } => state.trials += trials,
            RunEvent::Opening { title } => {
                self.step(&format!("{title}: starts"));
                state.enter("starting".to_owned());
                state.label = title;
            }
            RunEvent::TrialStarted { label, seconds } => {
                if let Mode::Plain = self.mode {
                    self.say(&trial_begins(&state, &label, seconds));
                }
                state.enter(String::new());
                state.label = label;
            }
            RunEvent::Phase { name } => {
                self.step(&format!("{}: begins the phase {name}", state.label));
                state.enter(name);
            }
            RunEvent::Progress(progress) => {
                state.count(progress.done);
                now = Now::of(progress, state.rate);
            }
            RunEvent::TrialFinished { label, verdict, disturbances } => {
                state.finished += 1;
                let mark = mark(&verdict, &disturbances);
                self.say(&format!("{mark} {label}: {}", verdict.told(&disturbances)));
            }
            RunEvent::Note(text) => self.say(&format!("note: {text}")),
        }
        self.refresh(&state, &now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_announcement_says_what_a_busy_machine_may_cost() {
        assert_eq!(
            announced(24, 110.0, 165.0),
            "24 trials, about 2 min; up to 3 min if other programs disturb them"
        );
        assert_eq!(announced(2, 12.0, 12.0), "2 trials, about 12 s");
        assert_eq!(announced(1, 12.0, 12.0), "1 trial, about 12 s");
    }

    #[test]
    fn a_servers_words_do_not_command_the_terminal() {
        let said = harmless("FAIL a: its log:\n\u{1b}]0;title\u{7}\u{1b}[2J\rok");
        assert_eq!(said.lines().count(), 2);
        assert!(!said.contains(['\u{1b}', '\u{7}', '\r']), "{said:?}");
    }

    #[test]
    fn the_time_left_is_corrected_while_it_runs() {
        let progress = Progress::new(ProgressName::Quiet);
        progress.event(RunEvent::Started { trials: 3, seconds: 30.0, most_seconds: 45.0 });
        let shown = || left(&progress.state.lock().expect("nobody panicked"));
        assert_eq!(shown(), "30 s");
        progress.event(RunEvent::TimeLeft { now: 20.0, after: 40.0 });
        assert_eq!(shown(), "60 s");
    }
}
