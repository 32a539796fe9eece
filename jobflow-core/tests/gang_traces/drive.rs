//! Looks for the moments at which the machine writes what Volcano wrote.

use std::collections::{BTreeMap, BTreeSet};

use jobflow_core::Time;
use jobflow_core::gang::{Command, GangPlan, GangState, PodKey, Pods, step};

use crate::recording::{Line, Recording};
use crate::written::Written;

/// Where a search stands after some statuses.
#[derive(Clone)]
struct Place {
    state: GangState,
    /// How far pods, group and commands have been seen.
    pods: usize,
    group: usize,
    commands: usize,
    started: BTreeMap<PodKey, (u32, u32)>,
    stopped: BTreeSet<PodKey>,
}

/// How far the best attempt came, and what it wrote instead of the next status.
#[derive(Default)]
struct Best {
    reached: usize,
    instead: Vec<Written>,
}

pub(crate) fn drive(recording: &Recording, statuses: &[&Line]) -> Result<(), String> {
    let (first, rest) = statuses.split_first().unwrap();
    let start = Place::start(recording, first);
    if Written::of(&start.state.status) != first.status {
        return Err(format!("a new Job has the status {:?}", first.status));
    }
    let mut best = Best::default();
    if search(recording, rest, 0, &start, &mut best) {
        return Ok(());
    }
    let wanted = rest
        .get(best.reached)
        .map(|line| (line.milliseconds, &line.status));
    Err(format!("no way past {wanted:#?}\ninstead {:#?}", best.instead))
}

fn search(recording: &Recording, statuses: &[&Line], reached: usize, place: &Place, best: &mut Best) -> bool {
    if reached > best.reached {
        *best = Best {
            reached,
            instead: Vec::new(),
        };
    }
    let Some(line) = statuses.get(reached) else {
        return place.is_end(recording);
    };
    for (pods, group) in moments(place, line.place) {
        for command in place.commands(recording, line.place) {
            let Some(after) = place.step(recording, line, (pods, group), command, best, reached) else {
                continue;
            };
            if search(recording, statuses, reached + 1, &after, best) {
                return true;
            }
        }
    }
    false
}

/// All pairs of moments up to `end`, early ones first.
fn moments(place: &Place, end: usize) -> impl Iterator<Item = (usize, usize)> {
    let (pods, group) = (place.pods, place.group);
    (pods..end).flat_map(move |pods| (group..end).map(move |group| (pods, group)))
}

impl Place {
    /// A Job that was just seen, and looked at once: that writes nothing where its queue is missing.
    fn start(recording: &Recording, first: &Line) -> Self {
        let created = Time(first.milliseconds);
        let mut state = GangState::new(created);
        let looked = step(&recording.spec, &state, &recording.seen[0], None, created);
        if !looked.written {
            state = looked.next;
        }
        let (started, stopped) = (BTreeMap::new(), BTreeSet::new());
        Self {
            state,
            pods: 0,
            group: 0,
            commands: 0,
            started,
            stopped,
        }
    }

    /// Nothing, or the next command that came before `end`.
    fn commands(&self, recording: &Recording, end: usize) -> Vec<Option<Command>> {
        let next = recording
            .commands
            .get(self.commands)
            .filter(|(place, _)| *place < end);
        std::iter::once(None)
            .chain(next.map(|(_, command)| Some(*command)))
            .collect()
    }

    fn step(
        &self,
        recording: &Recording,
        line: &Line,
        (pods, group): (usize, usize),
        command: Option<Command>,
        best: &mut Best,
        reached: usize,
    ) -> Option<Self> {
        let seen = Pods {
            admission: recording.seen[group].admission,
            seen: recording.seen[pods].seen.clone(),
        };
        let plan = step(
            &recording.spec,
            &self.state,
            &seen,
            command,
            Time(line.milliseconds),
        );
        let written = Written::of(&plan.next.status);
        if plan.written && written == line.status {
            let commands = self.commands + usize::from(command.is_some());
            return Some(
                Self {
                    pods,
                    group,
                    commands,
                    ..self.clone()
                }
                .with(plan),
            );
        }
        if plan.written && reached == best.reached && !best.instead.contains(&written) {
            best.instead.push(written);
        }
        None
    }

    fn with(mut self, plan: GangPlan) -> Self {
        for key in plan.start.iter().chain(&plan.fleeting) {
            let version = plan.next.version_of(*key).unwrap();
            self.started
                .entry(*key)
                .or_insert((version, plan.next.status.retry_count));
        }
        self.stopped.extend(plan.stop);
        self.state = plan.next;
        self
    }

    /// Whether the pods agree, and the machine has nothing to add to what Volcano wrote.
    fn is_end(&self, recording: &Recording) -> bool {
        let pods = self.started == recording.made && self.stopped.iter().eq(recording.stopped.iter());
        pods && (!recording.kept || self.rests(recording))
    }

    fn rests(&self, recording: &Recording) -> bool {
        let (seen, now) = (recording.seen.last().unwrap(), self.state.created);
        let mut state = self.state.clone();
        for _ in 0..10 {
            let plan = step(&recording.spec, &state, seen, None, now);
            if plan.written {
                return false;
            }
            state = plan.next;
        }
        true
    }
}
