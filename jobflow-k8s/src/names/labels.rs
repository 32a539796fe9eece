//! Labels and annotations of a created Job.

use sha2::{Digest, Sha256};

/// Label and annotation: `<namespace>.<flow>`, as Volcano writes it.
pub const CREATED_BY_FLOW: &str = "volcano.sh/createdByJobFlow";
/// Label and annotation: `<namespace>.<template>`, as Volcano writes it.
pub const CREATED_BY_TEMPLATE: &str = "volcano.sh/createdByJobTemplate";
/// Label: the entry's name.
pub const LABEL_ENTRY: &str = "flow.volcano.sh/entry";
/// Label: the instance, 0 without `forEach`.
pub const LABEL_INDEX: &str = "flow.volcano.sh/index";
/// Label: the attempt, from 1.
pub const LABEL_ATTEMPT: &str = "flow.volcano.sh/attempt";
/// Annotation: `<entry>/<index>/<attempt>`, which of a flow's jobs this is.
pub const ANNOTATION_NODE: &str = "flow.volcano.sh/node";
/// Annotation: `<uid>/<generation>` of the template that the Job was made from.
pub const ANNOTATION_TEMPLATE: &str = "flow.volcano.sh/template";
/// Annotation: the template's `ttlSecondsAfterFinished`, which is never passed on.
pub const ANNOTATION_TTL: &str = "flow.volcano.sh/ttl-seconds-after-finished";

/// Label and annotation of a template that is frozen for one flow: the name that it had.
pub const FROZEN: &str = "flow.volcano.sh/frozen";

const MOST_VALUE: usize = 63;
const HASH_BYTES: usize = 5;

/// A text as the value of a label: whole if it fits, else its beginning and a hash of the whole.
#[must_use]
pub fn label_value(text: &str) -> String {
    if is_label_value(text) {
        return text.to_owned();
    }
    let digest = Sha256::digest(text.as_bytes());
    let hash: String = digest
        .iter()
        .take(HASH_BYTES)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let room = MOST_VALUE - HASH_BYTES * 2 - 1;
    let start: String = text
        .chars()
        .take(room)
        .map(|c| if allowed(c) { c } else { '-' })
        .collect();
    let start = start.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    if start.is_empty() {
        hash
    } else {
        format!("{start}-{hash}")
    }
}

fn is_label_value(text: &str) -> bool {
    let end = |c: char| c.is_ascii_alphanumeric();
    let allowed = |c: char| end(c) || matches!(c, '-' | '_' | '.');
    let ends = text.is_empty() || text.starts_with(end) && text.ends_with(end);
    text.len() <= MOST_VALUE && ends && text.chars().all(allowed)
}

/// Whether a label or annotation of a template is copied to its Jobs: not if it is the bookkeeping of a tool, or ours.
#[must_use]
pub fn is_copied(key: &str) -> bool {
    const TOOLS: [&str; 4] = [
        "kubectl.kubernetes.io/",
        "meta.helm.sh/",
        "helm.sh/",
        "argocd.argoproj.io/",
    ];
    const INSTANCES: [&str; 2] = ["app.kubernetes.io/managed-by", "app.kubernetes.io/instance"];
    !is_reserved(key) && !INSTANCES.contains(&key) && !TOOLS.iter().any(|tool| key.starts_with(tool))
}

/// Whether a label or annotation of a template tells of what it was frozen, and for whom.
#[must_use]
pub fn is_of_frozen(key: &str) -> bool {
    [FROZEN, ANNOTATION_TEMPLATE].contains(&key)
}

/// Whether a label or annotation is written by the controller only; one in a patch is a fault.
#[must_use]
pub fn is_reserved(key: &str) -> bool {
    key.starts_with("volcano.sh/createdBy") || key.starts_with("flow.volcano.sh/")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_value_that_fits_is_kept_whole() {
        for text in ["", "a", "ns.flow", "A_b-c.d9", &"x".repeat(63)] {
            assert_eq!(label_value(text), text);
        }
    }

    #[test]
    fn a_namespace_of_30_and_a_flow_of_34_characters_fit_by_a_hash() {
        let (one, two) = (
            format!("{}.{}a", "n".repeat(30), "f".repeat(33)),
            format!("{}.{}b", "n".repeat(30), "f".repeat(33)),
        );
        let values = [label_value(&one), label_value(&two)];
        assert_ne!(values[0], values[1]);
        assert!(
            values
                .iter()
                .all(|value| value.len() == 63 && value.starts_with(&"n".repeat(30))),
            "{values:?}"
        );
    }

    #[test]
    fn bookkeeping_of_tools_is_not_copied() {
        for key in [
            "kubectl.kubernetes.io/last-applied-configuration",
            "meta.helm.sh/release-name",
            "helm.sh/chart",
            "argocd.argoproj.io/instance",
            "app.kubernetes.io/managed-by",
            "app.kubernetes.io/instance",
            "volcano.sh/createdByJobFlow",
            "flow.volcano.sh/entry",
        ] {
            assert!(!is_copied(key), "{key}");
        }
        for key in [
            "team",
            "app.kubernetes.io/name",
            "volcano.sh/preemptable",
            "sidecar.istio.io/inject",
        ] {
            assert!(is_copied(key), "{key}");
        }
    }

    proptest! {
        #[test]
        fn every_text_gives_a_valid_value(text in ".{0,100}") {
            prop_assert!(is_label_value(&label_value(&text)));
        }
    }
}
