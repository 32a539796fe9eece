//! Rules on targets in words: which condition, what it comes to, since when, what is missing.

use jobflow_core::FlowGraph;
use jobflow_core::condition::{Condition, TaskStatus};
use jobflow_core::facts::{Answer, FactKey};
use jobflow_core::graph::Strategy;
use jobflow_core::probe::{Ask, Probe};
use jobflow_core::report::{Asked, Explanation, Stands, Wait};

use super::Scene;
use crate::standing::{between, reason_words};

impl Scene<'_> {
    /// A line for how targets are combined, and one a rule.
    pub(super) fn rules(&self, link: &Explanation) -> Vec<String> {
        if link.waits.is_empty() {
            return Vec::new();
        }
        let strategy = match self.view.graph.entry(link.node).strategy {
            Strategy::All => "all must hold:".to_owned(),
            Strategy::Any => "one must hold:".to_owned(),
            Strategy::AtLeast(count) => format!("{count} must hold:"),
        };
        let width = |wait: &Wait| self.name(wait.target).chars().count();
        let width = link.waits.iter().map(width).max().unwrap_or_default();
        let mut lines = vec![strategy];
        for wait in &link.waits {
            let condition = condition(self.view.graph, link, wait).map_or_else(String::new, condition_words);
            let name = self.name(wait.target);
            lines.push(format!("  {name:width$}  {condition}: {}", self.stands(wait)));
            lines.extend(
                wait.asked
                    .iter()
                    .map(|asked| format!("    {}", self.asked(asked))),
            );
        }
        lines
    }

    fn stands(&self, wait: &Wait) -> String {
        let now = self.view.now;
        match wait.stands {
            Stands::NotYet => match wait.share {
                Some(share) => format!("not yet, {} of {} pods", share.reached, share.wanted),
                None => "not yet".to_owned(),
            },
            Stands::Holds { since } => format!("holds, for {}", between(since, now)),
            Stands::Delayed { since, until } => {
                format!(
                    "has held for {}, counts in {}",
                    between(since, now),
                    between(now, until)
                )
            }
            Stands::Never { reason, cause } => {
                format!("never: {} ({})", reason_words(reason), self.name(cause.node))
            }
            Stands::LeftOut => "left out: it was skipped as intended".to_owned(),
        }
    }

    fn asked(&self, asked: &Asked) -> String {
        let question = question_words(&asked.question);
        let Some(fact) = &asked.answer else {
            return format!("asked {question}: no answer yet");
        };
        if !self.place.dates_answers() {
            return format!("asked {question}: {}", answer_words(&fact.answer));
        }
        let ago = between(fact.when, self.view.now);
        format!(
            "asked {question}: {} ({ago} ago, {} times in a row)",
            answer_words(&fact.answer),
            fact.streak
        )
    }
}

/// Whether rules say more than that targets have to complete.
pub(super) fn is_telling(link: &Explanation, graph: &FlowGraph) -> bool {
    let is_usual = |wait: &Wait| {
        let completes = matches!(condition(graph, link, wait), Some(Condition::Completed));
        completes && !matches!(wait.stands, Stands::Delayed { .. } | Stands::Never { .. })
    };
    !link.waits.iter().all(is_usual)
}

/// The condition that a wait is about.
pub(super) fn condition<'a>(graph: &'a FlowGraph, link: &Explanation, wait: &Wait) -> Option<&'a Condition> {
    let mut targets = graph.entries().get(link.node.position())?.targets.iter();
    let target = targets.find(|target| target.node == wait.target)?;
    let rule = target.rules.as_slice().get(wait.rule as usize)?;
    Some(&rule.condition)
}

/// A condition as flows write it.
pub(super) fn condition_words(condition: &Condition) -> String {
    match condition {
        Condition::Completed => "Completed".to_owned(),
        Condition::Started => "Started".to_owned(),
        Condition::Running => "Running".to_owned(),
        Condition::Ready(_) => "Ready".to_owned(),
        Condition::Failed => "Failed".to_owned(),
        Condition::Finished => "Finished".to_owned(),
        Condition::Task(task) if task.task.is_empty() => format!("each task {}", status_words(task.status)),
        Condition::Task(task) => format!("task {} {}", task.task, status_words(task.status)),
        Condition::Probe(probe) => probe_words(probe),
        Condition::Custom(custom) => format!("{} {}", custom.0.kind(), custom.0.arguments()),
        // A condition that a later version adds has no word here yet.
        _ => "a condition".to_owned(),
    }
}

fn probe_words(probe: &Probe) -> String {
    let task = match probe.task.is_empty() {
        true => String::new(),
        false => format!("task {} ", probe.task),
    };
    match &probe.ask {
        Ask::TcpSocket => format!("{task}answers at port {}", probe.port),
        Ask::HttpGet(get) => format!("{task}answers {} at port {}", get.path, probe.port),
    }
}

const fn status_words(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Pending => "Pending",
        TaskStatus::Running => "Running",
        TaskStatus::Succeeded => "Succeeded",
        TaskStatus::Failed => "Failed",
        TaskStatus::Started => "Started",
        TaskStatus::Ready => "Ready",
        TaskStatus::Finished => "Finished",
    }
}

pub(super) fn question_words(question: &FactKey) -> String {
    match question {
        FactKey::Custom { kind, question } => format!("{kind} {question}"),
        FactKey::Probe { probe, .. } => format!("whether it {}", probe_words(probe)),
        FactKey::Template(_) => "for its template".to_owned(),
        FactKey::Rendered(_) => "for its job".to_owned(),
        FactKey::Queue(name) => format!("whether the queue {name} takes jobs"),
        // A question that a later version adds has no words here yet.
        _ => "something".to_owned(),
    }
}

pub(super) fn answer_words(answer: &Answer) -> String {
    match answer {
        Answer::Custom(text) => text.to_string(),
        Answer::Unrenderable(message) => message.to_string(),
        Answer::Probe(answer) => format!("it {answer}"),
        Answer::Template(_) => "it is there".to_owned(),
        Answer::NoTemplate => "there is none".to_owned(),
        Answer::Rendered(_) => "it can be built".to_owned(),
        Answer::Queue(open) => if *open {
            "it does"
        } else {
            "it doesn't, or isn't there"
        }
        .to_owned(),
        // An answer that a later version adds has no words here yet.
        _ => "something".to_owned(),
    }
}
