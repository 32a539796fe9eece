//! What an entry waits for, in the core's words.

use std::collections::BTreeMap;
use std::sync::Arc;

use jobflow_core::condition::{Condition, CustomCondition, Rule, Rules, TaskCondition, TaskStatus};
use jobflow_core::graph::{Strategy, Target};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::counts::{at_least, seconds};
use super::{Entries, Known, Placed, probe};
use crate::fault::{Code, Fault, FieldPath, closest};
use crate::types::{self, DependsOn, PodCondition, RuleCondition};

/// What an entry waits for.
#[derive(Default)]
pub(super) struct Waits {
    pub(super) targets: Vec<Waited>,
    pub(super) strategy: Strategy,
    /// Positions in `targets` by name.
    positions: BTreeMap<Arc<str>, usize>,
}

/// One target, with where it is named first.
pub(super) struct Waited {
    pub(super) name: Arc<str>,
    pub(super) path: FieldPath,
    /// At least one.
    pub(super) rules: Vec<Rule>,
}

/// What an entry waits for. Absent, null, empty: nothing.
pub(super) fn of(
    placed: &Placed<'_>,
    entries: &Entries<'_>,
    known: Known<'_>,
    faults: &mut Vec<Fault>,
) -> Waits {
    let Some(depends_on) = &placed.entry.depends_on else {
        return Waits::default();
    };
    let path = placed.path.field("dependsOn");
    let mut waits = Waits::default();
    let explicit = explicit_rules(depends_on, &path, faults);
    custom(depends_on, &path, known, &mut waits, faults);
    for (name, path, rule) in explicit {
        waits.add(name, path, rule);
    }
    for (at, name) in depends_on.targets.iter().flatten().enumerate() {
        let path = path.field("targets").index(at);
        // A target that stands twice, or has rules of its own, is named again but asks for nothing more.
        if !waits.has(name) {
            waits.add(name, path, default_rule(depends_on));
        }
    }
    probe::add(depends_on, &path, entries, &mut waits, faults);
    waits.strategy = strategy(depends_on, &path, waits.targets.len(), faults);
    waits
}

impl Waits {
    fn has(&self, name: &str) -> bool {
        self.positions.contains_key(name)
    }

    fn add(&mut self, name: &str, path: FieldPath, rule: Rule) {
        if let Some(target) = self.positions.get(name).and_then(|at| self.targets.get_mut(*at)) {
            target.rules.push(rule);
            return;
        }
        let name: Arc<str> = name.into();
        self.positions.insert(Arc::clone(&name), self.targets.len());
        self.targets.push(Waited {
            name,
            path,
            rules: vec![rule],
        });
    }
}

impl Waited {
    /// The target in the core's words.
    pub(super) fn target(&self) -> Target<Arc<str>> {
        let rules = match self.rules.as_slice() {
            [rule] => Rules::One(rule.clone()),
            rules => Rules::Many(rules.into()),
        };
        Target {
            node: Arc::clone(&self.name),
            rules,
        }
    }
}

/// The condition of targets without rules: what is written, else `Started` with a probe, else `Completed`.
fn default_rule(depends_on: &DependsOn) -> Rule {
    match (depends_on.condition, probe::is_there(depends_on)) {
        (Some(condition), _) => Rule::new(whole(condition)),
        (None, true) => Rule {
            condition: Condition::Started,
            ..Rule::implied()
        },
        (None, false) => Rule::implied(),
    }
}

fn whole(condition: types::Condition) -> Condition {
    match condition {
        types::Condition::Completed => Condition::Completed,
        types::Condition::Started => Condition::Started,
        types::Condition::Running => Condition::Running,
        types::Condition::Ready => Condition::Ready(None),
        types::Condition::Failed => Condition::Failed,
        types::Condition::Finished => Condition::Finished,
    }
}

type Explicit<'a> = (&'a str, FieldPath, Rule);

fn explicit_rules<'a>(
    depends_on: &'a DependsOn,
    path: &FieldPath,
    faults: &mut Vec<Fault>,
) -> Vec<Explicit<'a>> {
    let rules = path.field("rules");
    let written = depends_on.rules.iter().flatten().enumerate();
    written
        .filter_map(|(at, rule)| {
            let path = rules.index(at);
            let condition = condition(rule, depends_on, &path, faults)?;
            let delay =
                seconds(rule.delay_seconds, 0, &path.field("delaySeconds"), faults).unwrap_or_default();
            let explicit = rule.condition.is_some() || depends_on.condition.is_some();
            let core = Rule {
                condition,
                delay,
                explicit,
            };
            Some((rule.target.as_str(), path.field("target"), core))
        })
        .collect()
}

/// The condition of one rule; none if it makes no sense, which is noted.
fn condition(
    rule: &types::Rule,
    depends_on: &DependsOn,
    path: &FieldPath,
    faults: &mut Vec<Fault>,
) -> Option<Condition> {
    let count = at_least(rule.at_least.as_ref(), &path.field("atLeast"), faults);
    if let Some(task) = rule.task.as_deref().filter(|task| !task.is_empty()) {
        let status = rule
            .condition
            .map_or(PodCondition::Succeeded, RuleCondition::of_pods);
        let status = task_status(status);
        return Some(Condition::Task(TaskCondition {
            task: task.into(),
            status,
            at_least: count,
        }));
    }
    let condition = match rule.condition {
        None => default_rule(depends_on).condition,
        Some(condition) => match condition.of_target() {
            Some(condition) => whole(condition),
            None => {
                let message =
                    format!("`{condition:?}` speaks of the pods of a task, and the rule names no `task`");
                faults.push(Fault::error(Code::MissingField, path.field("condition"), message));
                return None;
            }
        },
    };
    #[expect(clippy::wildcard_enum_match_arm, reason = "the enum is non-exhaustive")]
    match condition {
        Condition::Ready(_) => Some(Condition::Ready(count)),
        condition if count.is_some() => {
            let message = "`atLeast` counts pods: it needs a `task`, or the condition `Ready`";
            faults.push(Fault::error(Code::Conflict, path.field("atLeast"), message));
            Some(condition)
        }
        condition => Some(condition),
    }
}

/// The core's word for what pods must have reached.
pub(super) const fn task_status(condition: PodCondition) -> TaskStatus {
    match condition {
        PodCondition::Pending => TaskStatus::Pending,
        PodCondition::Running => TaskStatus::Running,
        PodCondition::Succeeded => TaskStatus::Succeeded,
        PodCondition::Failed => TaskStatus::Failed,
        PodCondition::Started => TaskStatus::Started,
        PodCondition::Ready => TaskStatus::Ready,
        PodCondition::Finished => TaskStatus::Finished,
    }
}

fn custom(
    depends_on: &DependsOn,
    path: &FieldPath,
    known: Known<'_>,
    waits: &mut Waits,
    faults: &mut Vec<Fault>,
) {
    for (at, custom) in depends_on.custom.iter().flatten().enumerate() {
        let path = path.field("custom").index(at);
        let Some(factory) = known
            .predicates
            .iter()
            .find(|factory| factory.kind() == custom.kind)
        else {
            let message = format!("no predicate of kind `{}` is known to this program", custom.kind);
            let kinds: Vec<_> = known.predicates.iter().map(|factory| factory.kind()).collect();
            let fault = Fault::error(Code::UnknownReference, path.field("kind"), message);
            faults.push(match closest(&custom.kind, kinds) {
                Some(kind) => fault.with_help(format!("did you mean `{kind}`?")),
                None => fault,
            });
            continue;
        };
        let Some(target) = custom.target.as_deref() else {
            let message = "the predicate needs a `target`";
            faults.push(Fault::error(Code::MissingField, path, message));
            continue;
        };
        let arguments = custom
            .args
            .as_ref()
            .map_or_else(|| "{}".to_owned(), ToString::to_string);
        match factory.build(&arguments) {
            Ok(predicate) => {
                let rule = Rule::new(Condition::Custom(CustomCondition(predicate)));
                waits.add(target, path.field("target"), rule);
            }
            Err(message) => faults.push(Fault::error(Code::BadValue, path.field("args"), message)),
        }
    }
}

fn strategy(depends_on: &DependsOn, path: &FieldPath, targets: usize, faults: &mut Vec<Fault>) -> Strategy {
    let path = path.field("atLeast");
    let count = at_least(depends_on.at_least.as_ref(), &path, faults);
    let needs = |message: &str| Fault::error(Code::MissingField, path.clone(), message);
    match (depends_on.strategy.unwrap_or_default(), count) {
        (types::Strategy::All, None) => Strategy::All,
        (types::Strategy::Any, None) => Strategy::Any,
        (types::Strategy::AtLeast, Some(count)) => {
            let all = u32::try_from(targets).unwrap_or(u32::MAX);
            // A number is taken as written, so that the graph refuses one that can't be met.
            Strategy::AtLeast(match &depends_on.at_least {
                Some(IntOrString::Int(number)) => u32::try_from(*number).unwrap_or(0),
                Some(IntOrString::String(_)) | None => count.of(all),
            })
        }
        (types::Strategy::AtLeast, None) => {
            if depends_on.at_least.is_none() {
                faults.push(needs("the strategy `AtLeast` needs `atLeast`"));
            }
            Strategy::All
        }
        (types::Strategy::All | types::Strategy::Any, Some(_)) => {
            faults.push(needs("`atLeast` needs `strategy: AtLeast`"));
            Strategy::All
        }
    }
}
