//! The rights of the controller: the one list that manifests, chart, checks and documentation are compared with.
//!
//! Deliberately absent: Secrets, exec, roles, impersonation, and whatever nothing here does. Of pods it only looks.

use std::fmt::Write;

use crate::arguments::{LeaseSettings, Settings};

/// A right: these verbs on this resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Right {
    /// The API group.
    pub group: &'static str,
    /// The resource, with its subresource.
    pub resource: &'static str,
    /// The verbs.
    pub verbs: &'static [&'static str],
    /// The objects that it is limited to; all, when empty.
    pub names: &'static [&'static str],
    /// What it is for.
    pub why: &'static str,
}

/// In each namespace whose flows are run.
pub const FLOWS: [Right; 9] = [
    right(
        "flow.volcano.sh",
        "jobflows",
        &["get", "list", "watch", "patch", "delete"],
        "flows, their birth mark, and their end when their time is up",
    ),
    right("flow.volcano.sh", "jobflows/status", &["update"], "the record"),
    right(
        "flow.volcano.sh",
        "jobflows/finalizers",
        &["update"],
        "owner references that block deletion, where that is enforced",
    ),
    right(
        "flow.volcano.sh",
        "jobtemplates",
        &["get", "list", "watch", "create"],
        "templates, and those that are frozen for a flow",
    ),
    right(
        "flow.volcano.sh",
        "jobtemplates/status",
        &["patch"],
        "the Jobs that were made from a template",
    ),
    right(
        "batch.volcano.sh",
        "jobs",
        &["get", "list", "watch", "create", "delete"],
        "the Jobs of flows",
    ),
    right("bus.volcano.sh", "commands", &["create"], "ending Jobs"),
    right(
        "",
        "pods",
        &["list", "watch"],
        "exit codes, readiness, and losses to the infrastructure",
    ),
    right("events.k8s.io", "events", &["create"], "telling transitions"),
];

/// On the cluster, unless only some namespaces are served.
pub const CLUSTER: [Right; 2] = [
    Right {
        names: &[
            "commands.bus.volcano.sh",
            "jobflows.flow.volcano.sh",
            "jobflowtemplates.flow.volcano.sh",
            "jobs.batch.volcano.sh",
            "jobtemplates.flow.volcano.sh",
        ],
        ..right(
            "apiextensions.k8s.io",
            "customresourcedefinitions",
            &["get", "list", "watch"],
            "whether definitions hold what is relied upon",
        )
    },
    right(
        "scheduling.volcano.sh",
        "queues",
        &["list", "watch"],
        "whether the queue that a Job waits in takes jobs",
    ),
];

/// In the controller's own namespace: the one Lease, and making it, which can't be limited to a name.
pub const LEASE: [Right; 2] = [
    Right {
        names: &["jobflow-controller"],
        ..right("coordination.k8s.io", "leases", &["get", "update"], "leading")
    },
    right(
        "coordination.k8s.io",
        "leases",
        &["create"],
        "leading for the first time",
    ),
];

const fn right(
    group: &'static str,
    resource: &'static str,
    verbs: &'static [&'static str],
    why: &'static str,
) -> Right {
    Right {
        group,
        resource,
        verbs,
        names: &[],
        why,
    }
}

/// One question to the server: may this controller do that?
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
    /// The namespace; none for the whole cluster.
    pub namespace: Option<String>,
    /// The API group.
    pub group: &'static str,
    /// The resource.
    pub resource: &'static str,
    /// The subresource.
    pub subresource: Option<&'static str>,
    /// The verb.
    pub verb: &'static str,
    /// The object, where it is about one.
    pub name: Option<String>,
}

/// All questions that these settings raise; in a dry run only those about reading.
#[must_use]
pub fn questions(settings: &Settings, lease_namespace: &str) -> Vec<Question> {
    let mut questions = Vec::new();
    let scopes: Vec<_> = settings.namespaces.iter().cloned().map(Some).collect();
    let scopes = if scopes.is_empty() { vec![None] } else { scopes };
    for scope in scopes {
        questions.extend(FLOWS.iter().flat_map(|right| right.asked(scope.clone(), None)));
    }
    questions.retain(|question| match question.resource {
        "events" => settings.events,
        "commands" => settings.commands,
        "pods" => settings.pods,
        _ => true,
    });
    if settings.dry_run {
        questions.retain(|question| matches!(question.verb, "get" | "list" | "watch"));
        return questions;
    }
    if let Some(LeaseSettings { name, .. }) = &settings.lease {
        let namespace = Some(lease_namespace.to_owned());
        let asked = LEASE.iter().flat_map(|right| {
            let name = (!right.names.is_empty()).then(|| name.clone());
            right.asked(namespace.clone(), name)
        });
        questions.extend(asked);
    }
    questions
}

impl Right {
    fn asked(&self, namespace: Option<String>, name: Option<String>) -> impl Iterator<Item = Question> {
        let (resource, subresource) = match self.resource.split_once('/') {
            Some((resource, subresource)) => (resource, Some(subresource)),
            None => (self.resource, None),
        };
        let group = self.group;
        self.verbs.iter().map(move |verb| Question {
            namespace: namespace.clone(),
            group,
            resource,
            subresource,
            verb,
            name: name.clone(),
        })
    }
}

impl Question {
    /// The right in words, for whoever has to grant it.
    #[must_use]
    pub fn text(&self) -> String {
        let subresource = self
            .subresource
            .map(|name| format!("/{name}"))
            .unwrap_or_default();
        let group = match self.group {
            "" => String::new(),
            group => format!(".{group}"),
        };
        let whose = self
            .name
            .as_ref()
            .map(|name| format!(" {name}"))
            .unwrap_or_default();
        let place = match &self.namespace {
            Some(namespace) => format!("in namespace {namespace}"),
            None => "in all namespaces".to_owned(),
        };
        format!(
            "may not {} {}{subresource}{group}{whose} {place}",
            self.verb, self.resource
        )
    }
}

/// The list as it is committed in `deploy/rights.txt`.
#[must_use]
pub fn listed() -> String {
    let mut text = "# The rights of jobflow-controller, and what each is for. Made from its source; nothing else is granted.\n".to_owned();
    let parts: [(&str, &[Right]); 3] = [
        ("in each namespace whose flows are run", &FLOWS),
        ("on the cluster, unless only some namespaces are served", &CLUSTER),
        ("in its own namespace", &LEASE),
    ];
    for (place, rights) in parts {
        let _ = write!(text, "\n# {place}\n");
        for right in rights {
            let names = match right.names {
                [] => String::new(),
                names => format!(" [{}]", names.join(" ")),
            };
            let _ = writeln!(
                text,
                "{} {}{names}: {}    # {}",
                right.group,
                right.resource,
                right.verbs.join(" "),
                right.why
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::arguments::Arguments;

    fn asked(arguments: &[&str]) -> Vec<String> {
        let typed = ["jobflow-controller"].iter().chain(arguments);
        let settings = Arguments::parse_from(typed).settings().unwrap();
        questions(&settings, "jobflow-system")
            .iter()
            .map(Question::text)
            .collect()
    }

    #[test]
    fn what_is_missing_is_named_with_its_place() {
        let asked = asked(&[]);
        assert!(asked.contains(&"may not create jobs.batch.volcano.sh in all namespaces".to_owned()));
        assert!(
            asked.contains(&"may not update jobflows/status.flow.volcano.sh in all namespaces".to_owned())
        );
        let lease =
            "may not update leases.coordination.k8s.io jobflow-controller in namespace jobflow-system";
        assert!(asked.contains(&lease.to_owned()), "{asked:?}");
    }

    #[test]
    fn only_what_the_settings_need_is_asked_for() {
        let two = asked(&[
            "--namespace=a,b",
            "--leader-elect=off",
            "--events=off",
            "--commands=off",
            "--pods=off",
        ]);
        assert!(
            two.iter()
                .all(|line| line.ends_with("namespace a") || line.ends_with("namespace b")),
            "{two:?}"
        );
        assert!(
            !two.iter()
                .any(|line| line.contains("events") || line.contains("commands") || line.contains("pods"))
        );
        let dry = asked(&["--dry-run"]);
        assert!(
            !dry.iter()
                .any(|line| line.contains("create") || line.contains("leases")),
            "{dry:?}"
        );
    }

    #[test]
    fn nothing_is_granted_on_what_holds_secrets_or_gives_rights() {
        for right in FLOWS.iter().chain(&CLUSTER).chain(&LEASE) {
            assert!(
                !right.verbs.contains(&"*") && !right.verbs.contains(&"impersonate"),
                "{right:?}"
            );
            let plain = right.resource.split('/').next().unwrap();
            assert!(
                !["*", "secrets", "configmaps", "serviceaccounts"].contains(&plain),
                "{right:?}"
            );
            assert_ne!(right.group, "rbac.authorization.k8s.io");
            assert!(plain != "pods" || right.verbs == ["list", "watch"], "{right:?}");
        }
    }
}
