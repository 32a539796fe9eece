//! The loop of a run: hear, step the Jobs, plan, write, act; then wait for the executor or for the next time.

mod act;
mod answers;
mod resume;
mod see;

use std::{collections::BTreeMap, sync::atomic::Ordering, time::Duration};

use jobflow_core::{
    FactCache, FlowRecord, JobKey, NodePhase, Plan, Policy, Time,
    facts::{Answer, FactKey, TemplateVersion},
    plan::{Urgency, plan_with_answers},
    report::Report,
    snapshot::EffectKind,
};
use jobflow_k8s::render;

use super::{
    CHECKPOINT, Control, End, Input, JOURNAL, Line, Moment, Prepared, RunError, Settings, Surroundings,
    Watcher, input::ReadyJob,
};
use crate::{
    client::{Client, ClientError, Message},
    executor::claim,
    host::{Host, Round},
    pod::addresses::{AddressBook, Addresses, Range},
    questions::{Commands, Questions},
    resources::Books,
    rundir::{Checkpoint, JournalWriter, RunDir},
};

/// How long it takes at most until an interruption is noticed, or a display is drawn anew.
const TICK: Duration = Duration::from_millis(50);

/// How often an executor may be lost in a run before the run gives up.
const MOST_EXECUTORS: u32 = 20;

/// A Job that is there, with what its containers are made from.
struct Held {
    ready: ReadyJob,
    addresses: Addresses,
}

struct Drive<'a> {
    folder: RunDir,
    input: &'a Input,
    prepared: Prepared,
    policy: Policy,
    settings: &'a Settings,
    surroundings: &'a Surroundings,
    watcher: &'a mut dyn Watcher,
    record: FlowRecord,
    host: Host,
    held: BTreeMap<JobKey, Held>,
    facts: FactCache,
    books: Books<JobKey>,
    addresses: AddressBook,
    stop_requests: BTreeMap<JobKey, (EffectKind, Time)>,
    journal: JournalWriter<Line>,
    checkpoint: Checkpoint,
    client: Client,
    offset: u64,
    executors: u32,
    report: Report,
    /// What the last plan wants to know.
    wanted: Vec<FactKey>,
    /// Asks what takes time, from the first question on.
    questions: Option<Questions>,
    commands: Commands,
    /// Somebody asks things of the run while it goes on, and may do so again.
    controlled: bool,
}

pub(super) fn run(
    folder: RunDir,
    input: &Input,
    settings: &Settings,
    surroundings: &Surroundings,
    watcher: &mut dyn Watcher,
) -> Result<End, RunError> {
    let mut drive = Drive::take_up(folder, input, settings, surroundings, watcher)?;
    loop {
        let wake_at = drive.turn()?;
        if let Some(end) = drive.end()? {
            return Ok(end);
        }
        if surroundings.interrupt.load(Ordering::Relaxed) {
            return drive.interrupt();
        }
        drive.wait(wake_at)?;
        drive.heed();
    }
}

/// Addresses for so many replicas. A run that has more than there are shares them among its own.
fn addresses(book: &mut AddressBook, replicas: u32) -> Addresses {
    let all = Addresses::at_the_beginning_of(book.range());
    book.take(replicas).unwrap_or(all)
}

/// What can be answered on the spot: templates are at hand, and a Job is built to see whether it can be.
fn answer(input: &Input, prepared: &Prepared, key: &FactKey) -> Option<Answer> {
    if let FactKey::Rendered(key) = key {
        return Some(match prepared.job(input, *key, "check") {
            Ok(ready) => Answer::Rendered(ready.rendered.digest),
            Err(faults) => Answer::Unrenderable(render::why(&faults).into()),
        });
    }
    let FactKey::Template(node) = key else { return None };
    let entry = &prepared.flow.entries[node.position()];
    let named = entry.template.as_deref().unwrap_or(&entry.name);
    let there = entry.job_spec.is_some() || input.templates.contains_key(named);
    Some(if there {
        Answer::Template(TemplateVersion::default())
    } else {
        Answer::NoTemplate
    })
}

impl<'a> Drive<'a> {
    /// Plans and acts until nothing follows any more; returns when to look again.
    fn turn(&mut self) -> Result<Option<Time>, RunError> {
        loop {
            let now = self.now();
            self.hear_answers(now);
            let round = self.host.round(now);
            let stepped = self.carry_out(&round)?;
            let admitted = self.admit();
            let plan = self.plan(now);
            let acted = !plan.effects.is_empty();
            if plan.urgency != Urgency::None {
                self.journal.append(&Line::of_plan(&plan, &self.record, now))?;
            }
            self.take(&plan);
            self.act(&plan, now)?;
            let again = plan.wake_at.is_some_and(|at| at <= now);
            if !stepped && !admitted && !acted && !again && plan.urgency == Urgency::None {
                self.ask_for_answers(now)?;
                self.look_around(now)?;
                return Ok(round.wake_at.into_iter().chain(plan.wake_at).min());
            }
        }
    }

    fn plan(&mut self, now: Time) -> Plan {
        let snapshot = self.snapshot(now);
        let (input, prepared) = (self.input, &self.prepared);
        let answer = |key: &FactKey| answer(input, prepared, key);
        plan_with_answers(
            &prepared.flow.graph,
            &self.policy,
            &snapshot,
            &mut self.facts,
            answer,
            now,
        )
    }

    /// Takes the planned record over and tells what changed.
    fn take(&mut self, plan: &Plan) {
        self.record = plan.next.clone();
        self.report.clone_from(&plan.report);
        self.wanted.clone_from(&plan.wanted);
        for change in &plan.changes {
            let moment = Moment {
                flow: self.input.name(),
                run: &self.folder.record().id,
                graph: &self.prepared.flow.graph,
                record: &self.record,
                report: &self.report,
                host: &self.host,
                now: (self.surroundings.clock)(),
            };
            self.watcher.changed(change, moment);
        }
    }

    /// Writes what the Jobs became, then asks the executor for what follows from it.
    fn carry_out(&mut self, round: &Round) -> Result<bool, RunError> {
        for key in &round.changed {
            self.write_job(*key)?;
        }
        self.forget_gone()?;
        for ask in &round.asks {
            self.ask(ask)?;
        }
        Ok(!round.changed.is_empty() || !round.asks.is_empty())
    }

    fn write_job(&mut self, key: JobKey) -> Result<(), RunError> {
        let (Some(job), Some(held)) = (self.host.job(key), self.held.get(&key)) else {
            return Ok(());
        };
        let gang = Box::new(job.gang().clone());
        let line = Line::Job {
            key,
            gang,
            admitted: job.is_admitted(),
            addresses: held.addresses,
        };
        Ok(self.journal.append(&line)?)
    }

    /// Gang admission: a Job gets its pods once all that it needs at least fit.
    fn admit(&mut self) -> bool {
        let waiting: Vec<JobKey> = self
            .host
            .jobs()
            .filter(|(_, job)| job.needs_admission())
            .map(|(key, _)| *key)
            .collect();
        let mut any = false;
        for key in waiting {
            let Some(held) = self.held.get(&key) else { continue };
            if self.books.take(key, held.ready.prepared.minimum()).is_ok() {
                self.host.admit(key, true);
                any = true;
            }
        }
        any
    }

    fn look_around(&mut self, now: Time) -> Result<(), RunError> {
        if self.checkpoint.is_due(now.0) {
            self.write_checkpoint(now)?;
        }
        let moment = Moment {
            flow: self.input.name(),
            run: &self.folder.record().id,
            graph: &self.prepared.flow.graph,
            record: &self.record,
            report: &self.report,
            host: &self.host,
            now: now.0,
        };
        self.watcher.passed(moment);
        Ok(())
    }

    /// The run's end, if nothing is left to do.
    fn end(&mut self) -> Result<Option<End>, RunError> {
        self.forget_gone()?;
        let quiet = self.host.jobs().next().is_none();
        if self.record.phase.is_end() && quiet {
            let now = self.now();
            self.write_checkpoint(now)?;
            self.journal.sync()?;
            // The executor leaves by itself when nothing runs; asking it spares ten seconds.
            let _ = self.client.shut_down(Duration::ZERO);
            return Ok(Some(End::Ended(self.record.phase)));
        }
        let alive = |phase: NodePhase| phase.is_live() && phase != NodePhase::Paused;
        let anything = self.record.nodes.iter().any(|(_, node)| alive(node.phase()));
        let suspended = self.prepared.flow.wishes.holds_back() && !self.controlled && !anything && quiet;
        if suspended {
            let now = self.now();
            self.write_checkpoint(now)?;
        }
        Ok(suspended.then_some(End::Suspended))
    }

    /// Hears the executor; at least one message unless the time is up.
    fn wait(&mut self, wake_at: Option<Time>) -> Result<(), RunError> {
        let now = (self.surroundings.clock)();
        let left = |at: Time| Duration::from_millis(u64::try_from(at.0 - now).unwrap_or(0));
        let mut timeout = wake_at.map_or(TICK, |at| left(at).min(TICK));
        loop {
            match self.client.next(timeout) {
                Ok(Some(message)) => self.hear(message),
                Ok(None) => return Ok(()),
                Err(ClientError::ExecutorGone) => return self.replace_executor(),
                Err(other) => return Err(other.into()),
            }
            timeout = Duration::ZERO;
        }
    }

    fn hear(&mut self, message: Message) {
        match message {
            Message::Line(line, next) => {
                self.host.hear(&line);
                self.offset = next;
            }
            Message::Blocked(reason) => self.watcher.blocked(reason.as_deref()),
            Message::State(..) => {}
        }
    }

    /// The executor is gone: another one cleans up after it, and says what was lost.
    fn replace_executor(&mut self) -> Result<(), RunError> {
        self.executors += 1;
        if self.executors > MOST_EXECUTORS {
            return Err(ClientError::ExecutorGone.into());
        }
        self.client = Client::connect_or_launch(self.folder.path(), &self.surroundings.launch)?;
        self.client.watch(self.offset)?;
        self.move_to(claim::read(self.folder.path())?)?;
        let now = self.now();
        self.host.ask_again(now);
        Ok(())
    }

    /// Gives every Job addresses of the range that the executor has claimed. None of their pods runs where it is
    /// another one than before: that executor was a new one.
    pub(super) fn move_to(&mut self, range: Range) -> Result<(), RunError> {
        if self.addresses.range() == range {
            return Ok(());
        }
        self.addresses = AddressBook::of(range);
        for held in self.held.values_mut() {
            held.addresses = addresses(&mut self.addresses, held.ready.rendered.view.gang().replicas());
        }
        let keys: Vec<JobKey> = self.held.keys().copied().collect();
        keys.into_iter().try_for_each(|key| self.write_job(key))
    }

    /// Nothing new is started, everything is told to end, and the record stays as it is.
    fn interrupt(mut self) -> Result<End, RunError> {
        let at = self.now();
        self.journal.append(&Line::Interrupted { at })?;
        self.write_checkpoint(at)?;
        self.journal.sync()?;
        let _ = self.client.shut_down(self.settings.grace);
        // It leaves when everything has ended; SIGKILL has the last word.
        while let Ok(message) = self.client.next(TICK) {
            if let Some(Message::Blocked(reason)) = message {
                self.watcher.blocked(reason.as_deref());
            }
        }
        Ok(End::Interrupted)
    }

    fn now(&self) -> Time {
        Time((self.surroundings.clock)())
    }
}
