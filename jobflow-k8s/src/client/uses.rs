//! Which Jobs were made from which template: `status.jobDependsOnList` of a JobTemplate, as Volcano's tools read it.
//! The newest first, bounded, and written at most once in half a minute.
//!
//! Deliberately absent: anything that decides; the list is for people.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jobflow_core::Time;

/// The most Jobs that are listed.
const MOST: usize = 100;

/// How often a template's status is written at most.
const PERIOD: Duration = Duration::from_secs(30);

/// A template: its namespace and name.
pub(super) type Template = (String, String);

/// A Job by its age, the newest first, and its name.
type Aged = (Reverse<Time>, String);

/// What is known of the use of every template.
#[derive(Debug, Default)]
pub(super) struct Uses {
    jobs: BTreeMap<Template, BTreeSet<Aged>>,
    /// Templates whose list may have to be written, and when that may be.
    due: BTreeMap<Template, Duration>,
    /// When lists were written last.
    written: BTreeMap<Template, Duration>,
}

impl Uses {
    /// A Job of a template is there. Time is counted from some beginning.
    pub(super) fn there(&mut self, template: Template, created: Time, job: &str, now: Duration) {
        let jobs = self.jobs.entry(template.clone()).or_default();
        if jobs.insert((Reverse(created), job.to_owned())) {
            self.change(template, now);
        }
    }

    /// A Job of a template is gone.
    pub(super) fn gone(&mut self, template: Template, created: Time, job: &str, now: Duration) {
        let Some(jobs) = self.jobs.get_mut(&template) else {
            return;
        };
        if jobs.remove(&(Reverse(created), job.to_owned())) {
            if jobs.is_empty() {
                self.jobs.remove(&template);
            }
            self.change(template, now);
        }
    }

    /// The list couldn't be written; it is tried again in its time.
    pub(super) fn change(&mut self, template: Template, now: Duration) {
        let last = self.written.get(&template);
        let at = last.map_or(now, |last| (*last + PERIOD).max(now));
        self.due.entry(template).or_insert(at);
    }

    /// The templates whose lists may be written now, each with its list.
    pub(super) fn take(&mut self, now: Duration) -> Vec<(Template, Vec<String>)> {
        let due: Vec<Template> = self
            .due
            .iter()
            .filter(|(_, at)| **at <= now)
            .map(|(template, _)| template.clone())
            .collect();
        self.written.retain(|_, at| *at + PERIOD > now);
        due.into_iter()
            .map(|template| {
                self.due.remove(&template);
                self.written.insert(template.clone(), now);
                let list = self.list(&template);
                (template, list)
            })
            .collect()
    }

    /// When the next list may be written.
    pub(super) fn next(&self) -> Option<Duration> {
        self.due.values().min().copied()
    }

    fn list(&self, template: &Template) -> Vec<String> {
        let jobs = self.jobs.get(template).into_iter().flatten();
        jobs.take(MOST).map(|(_, name)| name.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template() -> Template {
        ("ns".to_owned(), "t".to_owned())
    }

    fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_newest_come_first_and_no_more_than_a_hundred() {
        let mut uses = Uses::default();
        for number in 0..150 {
            uses.there(template(), Time(number), &format!("job-{number}"), secs(0));
        }
        let taken = uses.take(secs(0));
        let [(of, list)] = &taken[..] else {
            panic!("one template")
        };
        assert_eq!((of, list.len(), list[0].as_str()), (&template(), 100, "job-149"));
    }

    #[test]
    fn a_list_is_written_once_in_half_a_minute() {
        let mut uses = Uses::default();
        uses.there(template(), Time(1), "one", secs(0));
        assert_eq!(uses.take(secs(0)).len(), 1);
        uses.there(template(), Time(2), "two", secs(1));
        uses.gone(template(), Time(1), "one", secs(2));
        assert_eq!((uses.take(secs(29)), uses.next()), (vec![], Some(secs(30))));
        assert_eq!(uses.take(secs(30)), [(template(), vec!["two".to_owned()])]);
        assert_eq!(uses.next(), None);
    }

    #[test]
    fn what_is_seen_again_changes_nothing() {
        let mut uses = Uses::default();
        uses.there(template(), Time(1), "one", secs(0));
        uses.take(secs(0));
        uses.there(template(), Time(1), "one", secs(40));
        assert_eq!(uses.next(), None);
    }
}
