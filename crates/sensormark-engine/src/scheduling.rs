//! How the kernel schedules the calling thread: real-time priority and timer slack, asked for and reported.
//!
//! Both are optional: without the right to them a run goes on, and its result says that they were refused. The call for real-time priority is a
//! foreign one, because no safe wrapper of it is among our dependencies.
//!
//! It is not CPU pinning, and it changes no other thread or process.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

/// What a paced thread asks of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SchedulingRequest {
    /// Real-time priority under SCHED_FIFO, 1 (lowest) to 99; none to stay with the default policy. Needs CAP_SYS_NICE or
    /// a limit of real-time priority (RLIMIT_RTPRIO).
    pub real_time_priority: Option<u8>,
    /// Timer slack in nanoseconds: how much later than asked a sleep may end so that the kernel can join timers.
    /// The kernel's default is 50,000; none to leave it. Threads under SCHED_FIFO have no slack.
    pub timer_slack_ns: Option<NonZeroU64>,
}

impl Default for SchedulingRequest {
    /// The default policy, and the least slack (1 ns), which needs no rights.
    fn default() -> Self {
        Self { real_time_priority: None, timer_slack_ns: Some(NonZeroU64::MIN) }
    }
}

/// What became of one wish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// It was not asked for.
    NotRequested,
    /// The kernel granted it.
    Granted,
    /// The kernel refused it, with the reason that it gave.
    Refused(String),
}

impl Grant {
    fn of(result: Option<Result<(), std::io::Error>>) -> Self {
        match result {
            None => Self::NotRequested,
            Some(Ok(())) => Self::Granted,
            Some(Err(error)) => Self::Refused(error.to_string()),
        }
    }
}

/// What the kernel granted a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchedulingGrant {
    /// Real-time priority under SCHED_FIFO.
    pub real_time: Grant,
    /// Timer slack.
    pub timer_slack: Grant,
}

impl SchedulingRequest {
    /// Asks the kernel to do all of this to the calling thread, until the thread ends. Never fails: refusals are in what it returns.
    #[must_use]
    pub fn apply(&self) -> SchedulingGrant {
        let slack = self
            .timer_slack_ns
            .map(|slack| rustix::thread::set_current_timer_slack(Some(slack)).map_err(std::io::Error::from));
        SchedulingGrant {
            real_time: Grant::of(self.real_time_priority.map(set_first_in_first_out)),
            timer_slack: Grant::of(slack),
        }
    }
}

/// Puts the calling thread under SCHED_FIFO; its children start with the default policy.
#[allow(unsafe_code)]
fn set_first_in_first_out(priority: u8) -> Result<(), std::io::Error> {
    let parameters = libc::sched_param { sched_priority: libc::c_int::from(priority) };
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the pointer is to a whole sched_param that outlives the call, which only reads it; 0 is the calling thread.
    let result = unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slack_is_granted_to_anyone() {
        let grant = std::thread::spawn(|| {
            let grant = SchedulingRequest::default().apply();
            (grant, rustix::thread::current_timer_slack().ok())
        });
        let (grant, slack_ns) = grant.join().expect("the thread ends well");
        assert_eq!(grant, SchedulingGrant { real_time: Grant::NotRequested, timer_slack: Grant::Granted });
        assert_eq!(slack_ns, Some(1));
    }

    #[test]
    fn an_impossible_priority_is_refused_and_says_why() {
        let request = SchedulingRequest { real_time_priority: Some(200), timer_slack_ns: None };
        let grant = std::thread::spawn(move || request.apply()).join().expect("the thread ends well");
        assert!(matches!(&grant.real_time, Grant::Refused(reason) if !reason.is_empty()), "{grant:?}");
        assert_eq!(grant.timer_slack, Grant::NotRequested);
    }
}
