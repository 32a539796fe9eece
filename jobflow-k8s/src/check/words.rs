//! Fields that people write for others, where no distance between letters would tell.

/// What `written` probably means, among the fields that are known there.
pub(super) fn meant(written: &str, is_known: impl Fn(&str) -> bool) -> Option<&'static str> {
    let (_, candidates) = WORDS.iter().find(|(words, _)| words.contains(&written))?;
    candidates.iter().copied().find(|name| is_known(name))
}

/// Words, and the fields that they may stand for, the likeliest first.
const WORDS: [(&[&str], &[&str]); 17] = [
    (&["jobTemplateName", "templateName"], &["name", "template"]),
    (
        &["jobTemplate", "templateRef", "jobTemplateRef", "uses"],
        &["template", "name"],
    ),
    (
        &[
            "dependencies",
            "depends",
            "needs",
            "after",
            "requires",
            "runAfter",
            "depend",
        ],
        &["dependsOn"],
    ),
    (&["jobs", "steps", "nodes", "stages", "dag"], &["flows"]),
    (&["if", "condition"], &["when"]),
    (&["job", "dependsOn", "on", "names", "flows"], &["targets"]),
    (
        &["retries", "retryPolicy", "backoffLimit", "maxRetries"],
        &["retry", "maxRetry", "limit"],
    ),
    (
        &["timeout", "deadlineSeconds"],
        &["timeoutSeconds", "activeDeadlineSeconds"],
    ),
    (&["spec"], &["jobSpec"]),
    (&["with", "items", "loop", "withItems", "foreach"], &["forEach"]),
    (&["params", "inputs"], &["parameters"]),
    (&["args", "arguments"], &["arguments", "args"]),
    (&["onExit", "cleanup", "always"], &["finally"]),
    (&["continueOn", "continueOnError", "optional"], &["allowFailure"]),
    (
        &["maxParallel", "concurrency", "maxConcurrency"],
        &["parallelism"],
    ),
    (&["retainPolicy", "jobRetainpolicy"], &["jobRetainPolicy"]),
    (&["priorityClass"], &["priorityClassName"]),
];
