//! Whether the controller lives and is ready, and why not.
//!
//! Comes in: progress of watches, findings, where we stand. Goes out: two verdicts, each a list of reasons. A verdict is
//! a pure function of what was told and the time. Deliberately absent: requests of its own, and anything that a tenant
//! could change: findings about single flows are told elsewhere.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jobflow_k8s::client::Progress;

use crate::clock::Moment;
use crate::findings::Check;

/// How long a watch may be silent before the leader isn't ready: servers send a bookmark about once a minute.
const UNREADY_AFTER: Duration = Duration::from_secs(5 * 60);
/// How long a watch may be silent before a restart is tried.
const DEAD_AFTER: Duration = Duration::from_secs(15 * 60);

/// What is known of the controller's health.
#[derive(Debug, Default)]
pub struct Health(Mutex<State>);

#[derive(Clone, Debug, Default)]
struct State {
    leads: Option<Leader>,
    checks: BTreeMap<Check, Vec<String>>,
    checked: bool,
    ending: bool,
}

/// What a leader hears of the server.
pub trait Listening: std::fmt::Debug + Send + Sync {
    /// Whether all that there is has been read.
    fn has_read_all(&self) -> bool;
    /// How long the quietest watch has heard nothing, and of what it is.
    fn silence(&self) -> (Duration, &'static str);
}

impl Listening for Progress {
    fn has_read_all(&self) -> bool {
        self.is_synced()
    }

    fn silence(&self) -> (Duration, &'static str) {
        Self::silence(self)
    }
}

#[derive(Clone, Debug)]
struct Leader {
    since: Moment,
    hears: Arc<dyn Listening>,
}

impl Health {
    /// A term begins, with watches of its own.
    pub fn leads(&self, hears: Arc<dyn Listening>, now: Moment) {
        self.state().leads = Some(Leader { since: now, hears });
    }

    /// A term ended.
    pub fn follows(&self) {
        self.state().leads = None;
    }

    /// The controller was told to end.
    pub fn ends(&self) {
        self.state().ending = true;
    }

    /// What a check found; nothing if all is well. Says whether that is news.
    pub fn found(&self, check: Check, lines: Vec<String>) -> bool {
        let mut state = self.state();
        match lines.is_empty() {
            true => state.checks.remove(&check).is_some(),
            false => state.checks.insert(check, lines.clone()) != Some(lines),
        }
    }

    /// The checks were all made once.
    pub fn checked(&self) {
        self.state().checked = true;
    }

    /// Why a restart might help; nothing if it lives.
    #[must_use]
    pub fn dead(&self, now: Moment) -> Vec<String> {
        self.state().silent(now, DEAD_AFTER).into_iter().collect()
    }

    /// Why it is not ready; nothing if it is.
    #[must_use]
    pub fn unready(&self, now: Moment) -> Vec<String> {
        self.state().unready(now)
    }

    /// What was found and keeps nobody from anything.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.state().lines(|check| !check.blocks())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn unready(&self, now: Moment) -> Vec<String> {
        let mut reasons = Vec::new();
        if self.ending {
            reasons.push("it was told to end".to_owned());
        }
        if !self.checked {
            reasons.push("the checks at start have not been made yet".to_owned());
        }
        reasons.extend(self.lines(Check::blocks));
        reasons.extend(self.unread());
        reasons.extend(self.silent(now, UNREADY_AFTER));
        reasons
    }

    fn lines(&self, wanted: impl Fn(Check) -> bool) -> Vec<String> {
        let wanted = self.checks.iter().filter(|(check, _)| wanted(**check));
        wanted
            .flat_map(|(check, lines)| lines.iter().map(|line| format!("{}: {line}", check.name())))
            .collect()
    }

    /// A leader that has not read all yet.
    fn unread(&self) -> Option<String> {
        let leader = self
            .leads
            .as_ref()
            .filter(|leader| !leader.hears.has_read_all())?;
        let (_, of) = leader.hears.silence();
        Some(format!(
            "flows, jobs and templates have not been read yet; {of} are the last to be waited for"
        ))
    }

    /// A watch that was heard of too long ago; a new leader has time to hear of it first.
    fn silent(&self, now: Moment, limit: Duration) -> Option<String> {
        let leader = self.leads.as_ref()?;
        let (silence, of) = leader.hears.silence();
        let is_new = leader.since.until(now) <= limit;
        (silence > limit && !is_new).then(|| format!("nothing was heard of {of} for {} s", silence.as_secs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug)]
    struct Hears(bool, u64);

    impl Listening for Hears {
        fn has_read_all(&self) -> bool {
            self.0
        }

        fn silence(&self) -> (Duration, &'static str) {
            (Duration::from_secs(self.1), "jobs")
        }
    }

    fn at(seconds: u64) -> Moment {
        Moment(Duration::from_secs(seconds))
    }

    fn leader(has_read_all: bool, silence: u64) -> Health {
        let health = Health::default();
        health.checked();
        health.leads(Arc::new(Hears(has_read_all, silence)), at(0));
        health
    }

    #[test]
    fn one_that_follows_is_ready_once_it_has_checked() {
        let health = Health::default();
        assert_eq!(
            health.unready(at(0)),
            ["the checks at start have not been made yet"]
        );
        health.checked();
        assert_eq!(health.unready(at(100_000)), [""; 0]);
        assert_eq!(health.dead(at(100_000)), [""; 0]);
    }

    #[test]
    fn a_leader_is_ready_when_it_has_read_all_and_hears_more() {
        let unread = leader(false, 1).unready(at(1));
        assert!(unread.first().unwrap().contains("not been read"), "{unread:?}");
        assert_eq!(leader(true, 300).unready(at(10_000)), [""; 0]);
        assert_eq!(
            leader(true, 301).unready(at(10_000)),
            ["nothing was heard of jobs for 301 s"]
        );
    }

    #[test]
    fn a_leader_whose_watch_is_silent_for_long_is_dead_but_not_a_new_one() {
        assert_eq!(leader(true, 900).dead(at(10_000)), [""; 0]);
        assert_eq!(
            leader(true, 901).dead(at(10_000)),
            ["nothing was heard of jobs for 901 s"]
        );
        assert_eq!(leader(false, 10_000).dead(at(900)), [""; 0]);
        let health = leader(false, 10_000);
        health.follows();
        assert_eq!(health.dead(at(1_000_000)), [""; 0]);
    }

    #[test]
    fn only_findings_that_stop_everything_keep_it_from_being_ready() {
        let health = leader(true, 0);
        for check in Check::ALL {
            assert!(health.found(check, vec!["line".to_owned()]));
            assert!(!health.found(check, vec!["line".to_owned()]), "no news");
            assert_eq!(
                health.unready(at(1)).len(),
                usize::from(check.blocks()),
                "{check:?}"
            );
            assert_eq!(health.warnings().len(), usize::from(!check.blocks()), "{check:?}");
            assert!(health.found(check, Vec::new()));
        }
        health.found(Check::NotPermitted, vec!["create jobs".to_owned()]);
        assert_eq!(health.unready(at(1)), ["NotPermitted: create jobs"]);
        assert_eq!(health.dead(at(1)), [""; 0], "a restart mends no right");
        health.ends();
        assert_eq!(health.unready(at(1)).first().unwrap(), "it was told to end");
    }
}
