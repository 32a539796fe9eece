//! The same for programs: names, words of the status, numbers, times in milliseconds since 1970.

use jobflow_core::NodeId;
use jobflow_core::report::{Asked, Explanation, Stands, Wait, Why};
use serde_json::{Value, json};

use super::rules::{answer_words, condition, condition_words, question_words};
use super::{Account, Scene};

impl Scene<'_> {
    /// All accounts.
    pub(crate) fn as_json(&self, accounts: &[Account]) -> Value {
        let stop = self.reasons.record.stop;
        json!({
            "flow": self.seen.flow,
            "run": self.run,
            "phase": self.seen.phase.as_str(),
            "inUse": self.in_use,
            "at": self.view.now.0,
            "stop": stop.map(|stop| json!({ "cause": format!("{:?}", stop.cause), "since": stop.since.0 })),
            "nodes": accounts.iter().map(|account| self.account_json(account)).collect::<Vec<_>>(),
        })
    }

    fn account_json(&self, account: &Account) -> Value {
        let Account { chain, release } = account;
        json!({
            "name": chain.first().map(|link| self.name(link.node)),
            "chain": chain.iter().map(|link| self.link_json(link)).collect::<Vec<_>>(),
            "release": release,
        })
    }

    fn link_json(&self, link: &Explanation) -> Value {
        let Explanation {
            node,
            why,
            waits,
            limit,
            next: _,
        } = link;
        let record = &self.view.record.nodes[*node];
        let shortage = self.reasons.shortages.iter().find(|(short, _)| short == node);
        let names = |nodes: &[NodeId]| nodes.iter().map(|node| self.name(*node)).collect::<Vec<_>>();
        json!({
            "name": self.name(*node),
            "phase": record.phase().as_str(),
            "attempt": record.attempt,
            "reason": record.reason.map(jobflow_core::Reason::as_str),
            "message": record.message.as_deref(),
            "exitCode": record.exit_code,
            "cause": record.cause.map(|cause| json!({ "name": self.name(cause.node), "reason": cause.reason.as_str() })),
            "stop": record.stop.map(|stop| json!({ "cause": format!("{:?}", stop.cause), "since": stop.since.0 })),
            "why": why.map(|why| self.why_json(why)),
            "rules": waits.iter().map(|wait| self.wait_json(link, wait)).collect::<Vec<_>>(),
            "limit": limit.as_ref().map(|limit| json!({ "most": limit.most, "alive": names(&limit.alive) })),
            "shortage": shortage.map(|(_, shortage)| json!(shortage)),
            "notes": self.notes_of(*node).iter().map(|note| &note.text).collect::<Vec<_>>(),
        })
    }

    fn why_json(&self, why: Why) -> Value {
        match why {
            Why::Targets { unmet, first } => {
                json!({ "kind": "Targets", "unmet": unmet, "first": self.name(first) })
            }
            Why::Unanswered { unmet, first, answer } => {
                let answer = answer.map(|answer| answer.to_string());
                json!({ "kind": "Unanswered", "unmet": unmet, "first": self.name(first), "answer": answer })
            }
            Why::Gate(gate) => json!({ "kind": "Gate", "switch": self.name(gate) }),
            Why::FinallyNotOpen => json!({ "kind": "FinallyNotOpen" }),
            Why::HeldBack(reason) => json!({ "kind": "HeldBack", "reason": reason.as_str() }),
            Why::Preparing => json!({ "kind": "Preparing" }),
            Why::NextWave => json!({ "kind": "NextWave" }),
            Why::Until(at) => json!({ "kind": "Until", "at": at.0 }),
            Why::PodsLeft => json!({ "kind": "PodsLeft" }),
            Why::InFlight => json!({ "kind": "InFlight" }),
            Why::Job => json!({ "kind": "Job" }),
            // A reason that a later version adds is told without its fields.
            other => json!({ "kind": format!("{other:?}") }),
        }
    }

    fn wait_json(&self, link: &Explanation, wait: &Wait) -> Value {
        let (stands, since, until) = match wait.stands {
            Stands::NotYet => ("NotYet", None, None),
            Stands::Holds { since } => ("Holds", Some(since.0), None),
            Stands::Delayed { since, until } => ("Delayed", Some(since.0), Some(until.0)),
            Stands::Never { .. } => ("Never", None, None),
            Stands::LeftOut => ("LeftOut", None, None),
        };
        let never = match wait.stands {
            Stands::Never { reason, cause } => {
                Some(json!({ "reason": reason.as_str(), "cause": self.name(cause.node) }))
            }
            Stands::NotYet | Stands::Holds { .. } | Stands::Delayed { .. } | Stands::LeftOut => None,
        };
        json!({
            "target": self.name(wait.target),
            "condition": condition(self.view.graph, link, wait).map(condition_words),
            "stands": stands,
            "since": since,
            "until": until,
            "never": never,
            "pods": wait.share.map(|share| json!({ "reached": share.reached, "wanted": share.wanted })),
            "asked": wait.asked.iter().map(|asked| self.asked_json(asked)).collect::<Vec<_>>(),
        })
    }

    fn asked_json(&self, asked: &Asked) -> Value {
        let answer = asked.answer.as_ref().map(|fact| {
            let dated = self.place.dates_answers();
            json!({
                "answer": answer_words(&fact.answer),
                "when": dated.then_some(fact.when.0),
                "streak": dated.then_some(fact.streak),
            })
        });
        json!({ "question": question_words(&asked.question), "last": answer })
    }
}
