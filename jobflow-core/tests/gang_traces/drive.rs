//! Looks for the moments at which the machine writes what Volcano wrote, one status after the other.

use std::collections::{BTreeMap, BTreeSet};

use jobflow_core::Time;
use jobflow_core::gang::{Command, GangPlan, GangState, PodKey, Pods, step};

use crate::recording::{Line, Recording};
use crate::written::Written;

/// One way to have come to a status.
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

/// Follows all ways at once; the error says which status none of them reaches, and what was written instead.
pub(crate) fn drive(recording: &Recording, statuses: &[&Line]) -> Result<(), String> {
    let (first, rest) = statuses.split_first().unwrap();
    let mut places = vec![Place::start(recording, first)];
    if Written::of(&places[0].state.status) != first.status {
        return Err(format!("a new Job has the status {:?}", first.status));
    }
    for line in rest {
        places = advance(recording, line, &places)?;
    }
    let end = places.iter().any(|place| place.is_end(recording));
    end.then_some(())
        .ok_or_else(|| "other pods were made or stopped, or more would be written".to_owned())
}

fn advance(recording: &Recording, line: &Line, places: &[Place]) -> Result<Vec<Place>, String> {
    let (mut reached, mut instead) = (Vec::new(), Vec::new());
    for place in places {
        for (seen, command) in place.moments(recording, line) {
            match place.step(recording, line, seen, command) {
                Some((after, status)) if status == line.status => add(&mut reached, after),
                Some((_, status)) if !instead.contains(&status) => instead.push(status),
                Some(_) | None => {}
            }
        }
    }
    let lost = || {
        format!(
            "no way to {} {:#?}\ninstead {instead:#?}",
            line.milliseconds, line.status
        )
    };
    if reached.is_empty() {
        Err(lost())
    } else {
        Ok(reached)
    }
}

/// A way that came to the same by later moments can do no more than the one that came by earlier ones.
fn add(places: &mut Vec<Place>, place: Place) {
    if !places.iter().any(|other| other.is_as_good_as(&place)) {
        places.push(place);
    }
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

    /// All pairs of moments before `line`, early ones first, without a command and with the next one that came.
    fn moments(&self, recording: &Recording, line: &Line) -> Vec<((usize, usize), Option<Command>)> {
        let came = recording
            .commands
            .get(self.commands)
            .filter(|(place, _)| *place < line.place);
        let commands = [None, came.map(|(_, command)| *command)];
        let commands = &commands[..1 + usize::from(came.is_some())];
        let pairs =
            (self.pods..line.place).flat_map(|pods| (self.group..line.place).map(move |group| (pods, group)));
        pairs
            .flat_map(|pair| commands.iter().map(move |command| (pair, *command)))
            .collect()
    }

    /// What the machine writes at that moment; `None` if nothing.
    fn step(
        &self,
        recording: &Recording,
        line: &Line,
        (pods, group): (usize, usize),
        command: Option<Command>,
    ) -> Option<(Self, Written)> {
        let admission = recording.seen[group].admission;
        let seen = Pods {
            admission,
            seen: recording.seen[pods].seen.clone(),
        };
        let plan = step(
            &recording.spec,
            &self.state,
            &seen,
            command,
            Time(line.milliseconds),
        );
        let status = Written::of(&plan.next.status);
        let commands = self.commands + usize::from(command.is_some());
        plan.written.then(|| {
            (
                Self {
                    pods,
                    group,
                    commands,
                    ..self.clone()
                }
                .with(plan),
                status,
            )
        })
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

    fn is_as_good_as(&self, other: &Self) -> bool {
        let earlier = self.pods <= other.pods && self.group <= other.group && self.commands == other.commands;
        earlier && self.state == other.state && self.started == other.started && self.stopped == other.stopped
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
