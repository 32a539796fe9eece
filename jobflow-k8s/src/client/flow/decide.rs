//! What follows from what is known: parse, read the record, plan, and either write what was planned or go on from it.

use std::sync::Arc;

use jobflow_core::facts::{Answer, FactKey};
use jobflow_core::plan::{Urgency, plan_with_answers};
use jobflow_core::report::{Report, Why};
use jobflow_core::{Effect, NodeId, NodePhase, Plan, Span, Time};

use super::frozen::Templates;
use super::prepare::{Parsed, Source, same_places};
use super::{FlowDriver, Held, Pending, Request, Stepped, Surroundings};
use crate::parse::{Flow, wishes};

/// How long an end that nothing waits for may wait for others, so that they are written together.
const GATHER: Span = Span(200);

/// When a plan that asked for nothing is made again although its time has come.
const AGAIN: Span = Span::from_secs(1);

impl FlowDriver {
    pub(super) fn go_on(&mut self, stepped: &mut Stepped, around: &Surroundings<'_>, now: Time) {
        if !self.take_up(stepped, around, now) {
            return;
        }
        self.ask_owners(stepped);
        self.freeze(stepped, around, now);
        self.note_in_flight(now);
        if !self.released.is_empty() {
            let effects = std::mem::take(&mut self.released);
            self.act(stepped, &effects, around, now);
            return stepped.wake_by(now);
        }
        let Some(plan) = self.plan(around, now) else {
            return;
        };
        self.ask(stepped, &plan.wanted, now);
        self.probe(stepped, &plan, around, now);
        if around.settings.dry_run {
            return self.show(stepped, plan, around);
        }
        match plan.urgency {
            Urgency::Now => self.write_or_gather(stepped, plan, around, now),
            Urgency::Soon | Urgency::None => self.adopt(stepped, plan, around, now),
        }
    }

    /// Parses the flow and reads its record, where that is due. False if nothing can be planned.
    fn take_up(&mut self, stepped: &mut Stepped, around: &Surroundings<'_>, now: Time) -> bool {
        let Some(base) = &self.base else { return false };
        if base.is_deleting() {
            self.gone = true;
            return false;
        }
        if !self.parse(around) {
            return false;
        }
        let Some(parsed) = &self.parsed else { return false };
        if parsed.flow().is_none() {
            self.refuse(stepped, around, now);
            return false;
        }
        let ready = parsed.is_read || self.read_record(stepped, around, now);
        if ready {
            self.tell_generation(around, now);
        }
        ready
    }

    /// Parses the spec if it isn't the one that is known. False while requests about the entries of before are
    /// unanswered.
    fn parse(&mut self, around: &Surroundings<'_>) -> bool {
        let Some(base) = &self.base else { return false };
        if self
            .parsed
            .as_ref()
            .is_some_and(|parsed| parsed.is_of(base.generation()))
        {
            return true;
        }
        let object = Arc::clone(&base.object);
        let before = self
            .parsed
            .as_ref()
            .and_then(|parsed| parsed.flow().map(Arc::clone));
        let templates = Templates::of(&object, &self.frozen, around);
        let fresh = Parsed::of(&object, self.parsed.take(), templates, around);
        let moved = match (&before, fresh.flow()) {
            (Some(before), Some(flow)) => !same_places(before, flow),
            (None, Some(_)) => true,
            (Some(_) | None, None) => false,
        };
        self.snapshot.wishes = wishes(&object.spec);
        self.snapshot.wishes.frozen = !fresh.faults.is_empty();
        self.parsed = Some(fresh);
        self.facts = jobflow_core::FactCache::default();
        self.prepared.forget_all();
        if moved {
            self.keep_hashes(before.as_deref());
            self.start_over(around);
        }
        true
    }

    /// Of entries that have ended the status says what they were made from only once they are edited.
    fn keep_hashes(&mut self, before: Option<&Flow>) {
        let nodes = &self.snapshot.record.nodes;
        for (entry, (_, record)) in before
            .iter()
            .flat_map(|flow| flow.entries.iter().zip(nodes.iter()))
        {
            if record.phase().is_end() && record.entry_hash != 0 {
                self.hashes.insert(entry.name.clone(), record.entry_hash);
            }
        }
    }

    /// Nodes have other numbers now: everything that is known by number is read or seen anew.
    fn start_over(&mut self, around: &Surroundings<'_>) {
        if let Some(parsed) = &mut self.parsed {
            parsed.is_read = false;
        }
        self.snapshot.fresh.clear();
        self.snapshot.stop_requests.clear();
        self.released.clear();
        self.pending.values_mut().for_each(Pending::disown);
        self.sight_all(around);
    }

    /// Whether the owners of foreign Jobs are still there.
    fn ask_owners(&mut self, stepped: &mut Stepped) {
        for (key, job) in std::mem::take(&mut self.owners) {
            let Some(owner) = job.metadata.owner_references.iter().flatten().next() else {
                continue;
            };
            let request = Request::ReadOwner {
                key,
                name: owner.name.clone(),
                uid: owner.uid.clone(),
            };
            self.send(stepped, Pending::Owner(key, job), request);
        }
    }

    fn plan(&mut self, around: &Surroundings<'_>, now: Time) -> Option<Plan> {
        let policy = self.policy(around, now)?;
        let flow = Arc::clone(self.parsed.as_ref()?.flow()?);
        let base = self.base.as_ref()?;
        self.snapshot.base = base.version().into();
        let source = Source {
            object: &base.object,
            flow: &flow,
            templates: Templates::of(&base.object, &self.frozen, around),
            schemas: around.schemas,
        };
        let (prepared, queues) = (&mut self.prepared, &mut self.queues);
        let answer = |question: &FactKey| {
            let FactKey::Queue(name) = question else {
                return prepared.answer(source, question);
            };
            if !queues.contains(name) {
                Arc::make_mut(queues).insert(Arc::clone(name));
            }
            (around.queues)(name).map(Answer::Queue)
        };
        Some(plan_with_answers(
            &flow.graph,
            &policy,
            &self.snapshot,
            &mut self.facts,
            answer,
            now,
        ))
    }

    /// Effects that are on their way, and those that have to wait for a time of their own.
    fn note_in_flight(&mut self, now: Time) {
        let waiting = self.holds.held(now).filter_map(|held| match held {
            Held::Job(key, kind) => Some((*key, *kind)),
            Held::Read
            | Held::Reread
            | Held::Write
            | Held::Mark
            | Held::DeleteFlow
            | Held::Commands
            | Held::Frozen
            | Held::Freeze(_)
            | Held::Stray(_)
            | Held::Fact(_) => None,
        });
        let sent = self.pending.values().flat_map(Pending::effects);
        self.snapshot.in_flight = waiting.chain(sent).collect();
    }

    /// Writes the plan; one that only tells of ends waits a moment for others if one was written just now.
    fn write_or_gather(&mut self, stepped: &mut Stepped, plan: Plan, around: &Surroundings<'_>, now: Time) {
        let due = self.last_write.map_or(now, |last| last + GATHER);
        if self.holds.holds(&Held::Write, now) {
            return self.look_only(stepped, &plan.effects, around, now);
        }
        if due > now && tells_of_ends_only(&plan, &self.snapshot.record) {
            stepped.wake_by(due);
            return self.look_only(stepped, &plan.effects, around, now);
        }
        self.write(stepped, Some(plan), around, now);
    }

    /// Reading asks for no record.
    fn look_only(&mut self, stepped: &mut Stepped, effects: &[Effect], around: &Surroundings<'_>, now: Time) {
        let looks: Vec<Effect> = effects
            .iter()
            .filter(|effect| is_a_look(effect))
            .cloned()
            .collect();
        self.act(stepped, &looks, around, now);
    }

    /// Goes on from a plan that nothing waits for: its record is written with the next one, or after a while.
    fn adopt(&mut self, stepped: &mut Stepped, plan: Plan, around: &Surroundings<'_>, now: Time) {
        let news = plan.urgency != Urgency::None;
        if !answers(&plan.report).eq(answers(&self.report)) {
            self.dirty_since.get_or_insert(now);
        }
        self.report = plan.report;
        if plan.urgency == Urgency::Soon {
            self.dirty_since.get_or_insert(now);
            self.unwritten.extend(plan.changes);
            self.snapshot.record = plan.next;
        }
        let asked = stepped.requests.len();
        self.act(stepped, &plan.effects, around, now);
        match plan.wake_at {
            Some(at) if at > now => stepped.wake_by(at),
            Some(_) if news || stepped.requests.len() > asked => stepped.wake_by(now),
            Some(_) => stepped.wake_by(now + AGAIN),
            None => {}
        }
        self.write_idle(stepped, around, now);
    }

    fn write_idle(&mut self, stepped: &mut Stepped, around: &Surroundings<'_>, now: Time) {
        let Some(since) = self.dirty_since else { return };
        let interval = u64::try_from(around.settings.status_interval.as_millis()).unwrap_or(u64::MAX);
        let due = since + Span(interval);
        if due > now {
            stepped.wake_by(due);
        } else if !self.holds.holds(&Held::Write, now) {
            self.write(stepped, None, around, now);
        }
    }

    fn ask(&mut self, stepped: &mut Stepped, wanted: &[FactKey], now: Time) {
        for question in wanted {
            if !matches!(question, FactKey::Custom { .. }) {
                continue;
            }
            let held = Held::Fact(question.clone());
            let mut pending = self.pending.values();
            let is_asked =
                pending.any(|pending| matches!(pending, Pending::Ask(asked, _) if asked == question));
            if !is_asked && !self.holds.holds(&held, now) {
                let pending = Pending::Ask(question.clone(), now);
                self.send(stepped, pending, Request::Ask(question.clone()));
            }
        }
    }

    /// A dry run: what would be written and done is told, as often as it changes.
    fn show(&mut self, stepped: &mut Stepped, plan: Plan, around: &Surroundings<'_>) {
        if let Some(at) = plan.wake_at {
            stepped.wake_by(at);
        }
        let same = self.shown.as_ref().is_some_and(|shown| {
            (&shown.changes, &shown.effects, &shown.report) == (&plan.changes, &plan.effects, &plan.report)
        });
        if !same {
            around.observer.planned(self.flow(), &plan);
            self.shown = Some(plan);
        }
    }
}

const fn is_a_look(effect: &Effect) -> bool {
    matches!(effect, Effect::Look { .. } | Effect::LookAtPods { .. })
}

/// What nodes that wait for answers to probes have heard.
fn answers(report: &Report) -> impl Iterator<Item = &(NodeId, Why)> {
    report
        .iter()
        .filter(|(_, why)| matches!(why, Why::Unanswered { .. }))
}

/// Whether a plan is about attempts that ended, and nothing is started, stopped or concluded by it.
fn tells_of_ends_only(plan: &Plan, record: &jobflow_core::FlowRecord) -> bool {
    let next = &plan.next;
    let ends = |phase: NodePhase| phase.is_end() || phase == NodePhase::BackingOff;
    let concluded =
        (next.phase, next.stop, next.finally_since) != (record.phase, record.stop, record.finally_since);
    let starts = plan.effects.iter().any(|effect| !is_a_look(effect));
    !concluded
        && !starts
        && plan.changes.iter().any(|change| ends(change.to))
        && !plan
            .changes
            .iter()
            .any(|change| change.to == NodePhase::Submitting)
}

impl Stepped {
    /// Asks to be stepped again at that time, or earlier.
    pub(super) fn wake_by(&mut self, at: Time) {
        self.wake_at = Some(self.wake_at.map_or(at, |earlier| earlier.min(at)));
    }
}
