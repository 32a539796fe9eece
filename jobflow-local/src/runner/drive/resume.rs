//! The beginning of a run, or of its next part: reads the journals, takes the Jobs up, and connects to the executor.

use std::{collections::BTreeMap, fs};

use jobflow_core::{FactCache, JobKey, NodeId, Time, report::Report};

use super::{
    AddressBook, Books, CHECKPOINT, Checkpoint, Client, Commands, Drive, Held, Host, Input, JOURNAL,
    JournalWriter, Line, RunDir, RunError, Settings, Surroundings, Watcher,
};
use crate::{
    executor,
    host::JobPlan,
    resources::Shortage,
    runner::{
        NodeLine, Reasons, Seen,
        ledger::{Ledger, SavedJob},
    },
};

impl<'a> Drive<'a> {
    pub(super) fn take_up(
        folder: RunDir,
        input: &'a Input,
        settings: &'a Settings,
        surroundings: &'a Surroundings,
        watcher: &'a mut dyn Watcher,
    ) -> Result<Self, RunError> {
        let prepared = input.prepare(folder.path().to_owned(), settings, surroundings)?;
        let (mut journal, lines) = JournalWriter::open(folder.path().join(JOURNAL))?;
        let ledger = Ledger::of(lines, prepared.flow.graph.len());
        let now = Time((surroundings.clock)());
        if ledger.begun {
            journal.append(&Line::Resumed { at: now })?;
        }
        let client = Client::connect_or_launch(folder.path(), &surroundings.launch)?;
        let range = executor::claim::read(folder.path())?;
        let before = ledger.jobs.values().next().map(|job| job.addresses.range());
        let before = before.unwrap_or(range);
        watcher.began(&folder.record().id, folder.path(), ledger.begun);
        let mut policy = prepared.flow.policy.clone();
        policy.granted_losses = ledger.resumed.saturating_add(u32::from(ledger.begun));
        let mut drive = Self {
            checkpoint: Checkpoint::new(folder.path().join(CHECKPOINT)),
            books: Books::new(settings.machine.clone(), settings.ignore_resources),
            folder,
            input,
            prepared,
            policy,
            settings,
            surroundings,
            watcher,
            record: ledger.record,
            host: Host::default(),
            held: BTreeMap::new(),
            facts: FactCache::default(),
            addresses: AddressBook::of(before),
            stop_requests: BTreeMap::new(),
            journal,
            client,
            offset: 0,
            executors: 0,
            report: Report::new(),
            controlled: false,
            wanted: Vec::new(),
            questions: None,
            commands: Commands::default(),
        };
        drive.commands = Commands::new(drive.seed());
        for (from, until) in ledger.interruptions {
            drive.host.note_interruption(from, until.unwrap_or(now));
        }
        for (key, saved) in ledger.jobs {
            drive.restore(key, saved)?;
        }
        drive.move_to(range)?;
        drive.catch_up()?;
        Ok(drive)
    }

    fn restore(&mut self, key: JobKey, saved: SavedJob) -> Result<(), RunError> {
        let SavedJob {
            gang,
            admitted,
            addresses,
        } = saved;
        let uid = self.uid(key);
        let ready = self
            .prepared
            .job(self.input, key, &uid)
            .map_err(RunError::Faults)?;
        let spec = ready.rendered.view.gang();
        self.addresses.keep(addresses, spec.replicas());
        if admitted {
            let _ = self.books.take(key, ready.prepared.minimum());
        }
        let plan = JobPlan {
            name: ready.name(),
            uid,
            pods: ready.prepared.pods(),
        };
        self.held.insert(key, Held { ready, addresses });
        self.host.restore(key, plan, spec, gang);
        self.host.admit(key, admitted);
        Ok(())
    }

    /// Hears everything that the executor wrote so far, before anything is decided.
    fn catch_up(&mut self) -> Result<(), RunError> {
        let path = self.folder.path().join(executor::journal::JOURNAL);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            other => other?,
        };
        let whole = text
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        for line in String::from_utf8_lossy(&text[..whole]).lines() {
            if let Some(line) = executor::line::Line::parse(line) {
                self.host.hear(&line);
            }
        }
        self.offset = whole as u64;
        self.client.watch(self.offset)?;
        Ok(())
    }

    pub(super) fn write_checkpoint(&mut self, now: Time) -> Result<(), RunError> {
        let graph = &self.prepared.flow.graph;
        let nodes = self.record.nodes.iter();
        let line = |(node, _)| NodeLine::of(graph, &self.record, node);
        let seen = Seen {
            flow: self.input.name().to_owned(),
            phase: self.record.phase,
            started: self.record.start_time.map(|time| time.0),
            finished: self.record.completion_time.map(|time| time.0),
            at: now.0,
            nodes: nodes.map(line).collect(),
            reasons: Some(Reasons {
                record: self.record.clone(),
                report: self.report.clone(),
                shortages: self.shortages(),
            }),
        };
        Ok(self.checkpoint.write(&seen, now.0)?)
    }

    /// What the machine has too little of, for each Job that waits for its pods.
    fn shortages(&self) -> Vec<(NodeId, Shortage)> {
        let waiting = self.host.jobs().filter(|(_, job)| job.needs_admission());
        let short = |(key, _): (&JobKey, _)| {
            let minimum = self.held.get(key)?.ready.prepared.minimum();
            Some((key.node, self.books.short_of(key, minimum)?))
        };
        waiting.filter_map(short).collect()
    }
}
