//! What a trial does to its server in mid-load, and what it does when the server has stopped by itself: both end in a start on the same data.

use super::super::kill::Due;
use super::super::script::MemberKill;
use super::Coordinator;
use crate::context::stopped;
use crate::failure::TrialFailure;
use crate::role::RoleProcess;
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{Figure, TrialRecord};
use std::time::{Duration, Instant};

impl Coordinator<'_> {
    /// Notes a server that has stopped, and kills it, or a member of it, when it is time for that. The clients will say what they had of it: that is waited for.
    pub(super) fn look_at_server(&mut self) -> Result<(), TrialFailure> {
        match self.kill.due() {
            Due::Nothing => {}
            Due::Kill if self.deployment.is_ours() => {
                self.deployment.kill()?;
                self.stop_clients();
                self.kill.done(false);
            }
            Due::Kill => {
                self.roles.iter_mut().for_each(RoleProcess::kill);
                self.kill.done(true);
            }
            Due::KillMember(kill) => {
                self.announce("member killed");
                self.deployment.kill_member(kill.member(self.deployment.members()))?;
                self.kill.done(false);
            }
            Due::Restart(kill) => self.restart_member(kill)?,
            Due::Stop => {
                self.stop_clients();
                self.kill.over();
            }
        }
        if self.crash.is_none() && !self.kill.is_of_all() {
            self.crash = self.deployment.check().err();
            if let Some(crash) = &self.crash {
                self.context.observer.event(stopped(crash));
                self.stop_clients();
            }
        }
        Ok(())
    }

    /// Starts a member again that was killed alone; the recorder goes on with its new process.
    fn restart_member(&mut self, kill: MemberKill) -> Result<(), TrialFailure> {
        self.announce("start the member again");
        let began = Instant::now();
        self.deployment.restart_member(kill.member(self.deployment.members()))?;
        self.kill.came_back(began.elapsed());
        self.watch.recorder().follow("server", &self.deployment.roots())?;
        Ok(())
    }

    /// Has everything run again that was killed or has stopped, on the same data, and keeps how long its start took.
    pub(super) fn bring_back(&mut self, record: &mut TrialRecord) -> Result<(), TrialFailure> {
        if !self.deployment.is_ours() {
            return Ok(());
        }
        let took = if self.crash.is_some() || self.kill.is_of_all() {
            self.announce("start again");
            let began = Instant::now();
            self.deployment.restart()?;
            began.elapsed()
        } else {
            if let Some(kill) = self.kill.missing_member() {
                self.restart_member(kill)?;
            }
            self.kill.start_took().unwrap_or(Duration::ZERO)
        };
        let figure = Figure::new(took.as_secs_f64(), "s");
        record.figures.insert(names::RESTART.to_owned(), figure);
        Ok(())
    }
}
