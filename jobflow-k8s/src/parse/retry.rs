//! Retry rules in the core's words.

use jobflow_core::gang::JobPhase;
use jobflow_core::retry::{Backoff, Retry, RetryOn};

use super::counts::{count, seconds};
use crate::fault::{Code, Fault, FieldPath};
use crate::types;

const MOST_ATTEMPTS: u32 = 1000;

/// An entry's rule; without one the flow's. The entry's rule stands in the place of the flow's as a whole.
pub(super) fn of(
    entry: Option<&types::Retry>,
    flow: Option<&types::Retry>,
    path: &FieldPath,
    faults: &mut Vec<Fault>,
) -> Retry {
    match (entry, flow) {
        (Some(retry), _) => rule(retry, path, faults),
        // The flow's own rule is judged once, by `policy`.
        (None, Some(retry)) => rule(retry, path, &mut Vec::new()),
        (None, None) => Retry::default(),
    }
}

/// A rule, with its faults.
pub(super) fn rule(retry: &types::Retry, path: &FieldPath, faults: &mut Vec<Fault>) -> Retry {
    let types::Retry {
        limit,
        infrastructure_limit,
        backoff,
        on,
    } = retry;
    let mut limit_of =
        |value, field| count(value, (0, MOST_ATTEMPTS), &path.field(field), faults).unwrap_or(0);
    let limit = limit_of(*limit, "limit");
    let infrastructure_limit = limit_of(*infrastructure_limit, "infrastructureLimit");
    let backoff = backoff
        .as_ref()
        .map(|backoff| self::backoff(backoff, &path.field("backoff"), faults));
    let path = path.field("on");
    let written = on.iter().flatten().enumerate();
    let on = written
        .map(|(at, rule)| self::on(rule, &path.index(at), faults))
        .collect();
    Retry {
        limit,
        infrastructure_limit,
        backoff: backoff.unwrap_or_default(),
        on,
    }
}

fn backoff(backoff: &types::Backoff, path: &FieldPath, faults: &mut Vec<Fault>) -> Backoff {
    let types::Backoff {
        initial_seconds,
        factor_percent,
        max_seconds,
        jitter_percent,
    } = backoff;
    let usual = Backoff::default();
    Backoff {
        initial: seconds(*initial_seconds, 0, &path.field("initialSeconds"), faults).unwrap_or(usual.initial),
        factor_percent: count(
            *factor_percent,
            (100, 10_000),
            &path.field("factorPercent"),
            faults,
        )
        .unwrap_or(usual.factor_percent),
        max: seconds(*max_seconds, 0, &path.field("maxSeconds"), faults).unwrap_or(usual.max),
        jitter_percent: count(*jitter_percent, (0, 100), &path.field("jitterPercent"), faults)
            .unwrap_or(usual.jitter_percent),
    }
}

fn on(rule: &types::RetryOn, path: &FieldPath, faults: &mut Vec<Fault>) -> RetryOn {
    let types::RetryOn {
        exit_codes,
        reasons,
        phases,
    } = rule;
    if exit_codes.is_none() && reasons.is_none() && phases.is_none() {
        let message = "an empty rule would try everything again: exitCodes, reasons or phases are needed";
        faults.push(Fault::error(Code::MissingField, path.clone(), message));
    }
    RetryOn {
        exit_codes: exit_codes.clone().unwrap_or_default(),
        reasons: reasons.clone().unwrap_or_default(),
        phases: self::phases(
            phases.as_deref().unwrap_or_default(),
            &path.field("phases"),
            faults,
        ),
    }
}

fn phases(phases: &[String], path: &FieldPath, faults: &mut Vec<Fault>) -> Vec<JobPhase> {
    const ENDS: [&str; 3] = ["Failed", "Terminated", "Aborted"];
    let mut found = Vec::new();
    for (at, name) in phases.iter().enumerate() {
        match JobPhase::parse(name).filter(|_| ENDS.contains(&name.as_str())) {
            Some(phase) => found.push(phase),
            None => {
                let message = format!("`{name}` is no phase that a job fails in: {}", ENDS.join(", "));
                faults
                    .push(Fault::error(Code::BadValue, path.index(at), message).with_suggestion(name, ENDS));
            }
        }
    }
    found
}
