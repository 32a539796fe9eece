//! The kinds that the service serves. Deliberately absent: kinds that nothing here reads or writes.

/// A kind of objects, as it stands in a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind {
    /// The API group; empty for the core.
    pub group: &'static str,
    /// The version.
    pub version: &'static str,
    /// The plural, as in a path.
    pub plural: &'static str,
    /// The kind, as in an object.
    pub kind: &'static str,
    /// Whether objects stand in namespaces.
    pub namespaced: bool,
    /// Whether there is a `/status` of its own.
    pub status: bool,
    /// Whether it comes with a definition, and so counts generations and refuses writes without a version.
    pub custom: bool,
}

const fn custom(
    group: &'static str,
    version: &'static str,
    plural: &'static str,
    kind: &'static str,
    status: bool,
) -> Kind {
    Kind {
        group,
        version,
        plural,
        kind,
        namespaced: true,
        status,
        custom: true,
    }
}

const fn built_in(
    group: &'static str,
    version: &'static str,
    plural: &'static str,
    kind: &'static str,
    status: bool,
) -> Kind {
    Kind {
        custom: false,
        ..custom(group, version, plural, kind, status)
    }
}

const fn cluster_wide(kind: Kind) -> Kind {
    Kind {
        namespaced: false,
        ..kind
    }
}

/// Every kind that there is.
pub const KINDS: &[Kind] = &[
    custom("flow.volcano.sh", "v1alpha1", "jobflows", "JobFlow", true),
    custom("flow.volcano.sh", "v1alpha1", "jobtemplates", "JobTemplate", true),
    custom(
        "flow.volcano.sh",
        "v1alpha1",
        "jobflowtemplates",
        "JobFlowTemplate",
        false,
    ),
    custom("batch.volcano.sh", "v1alpha1", "jobs", "Job", true),
    custom("bus.volcano.sh", "v1alpha1", "commands", "Command", false),
    custom("scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup", true),
    cluster_wide(custom(
        "scheduling.volcano.sh",
        "v1beta1",
        "queues",
        "Queue",
        true,
    )),
    built_in("", "v1", "pods", "Pod", true),
    built_in("", "v1", "events", "Event", false),
    cluster_wide(built_in("", "v1", "namespaces", "Namespace", true)),
    built_in("coordination.k8s.io", "v1", "leases", "Lease", false),
    built_in("events.k8s.io", "v1", "events", "Event", false),
    cluster_wide(built_in(
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
        true,
    )),
];

/// The kind of this plural.
///
/// # Panics
///
/// If the service has none.
#[must_use]
pub fn kind(plural: &str) -> &'static Kind {
    let found = KINDS.iter().find(|kind| kind.plural == plural);
    found.expect("the service knows the kinds that tests use")
}

impl Kind {
    /// The kind that a path means.
    #[must_use]
    pub fn find(group: &str, version: &str, plural: &str) -> Option<&'static Self> {
        let mut all = KINDS.iter();
        all.find(|kind| kind.group == group && kind.version == version && kind.plural == plural)
    }

    /// `group/version`, as in an object.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            return self.version.to_owned();
        }
        format!("{}/{}", self.group, self.version)
    }

    /// `plural.group`, as in a message.
    #[must_use]
    pub fn resource(&self) -> String {
        if self.group.is_empty() {
            return self.plural.to_owned();
        }
        format!("{}.{}", self.plural, self.group)
    }

    /// `Kind.group`, as in a message.
    #[must_use]
    pub fn qualified(&self) -> String {
        if self.group.is_empty() {
            return self.kind.to_owned();
        }
        format!("{}.{}", self.kind, self.group)
    }

    /// Whether `metadata.generation` counts the changes of what its author wrote.
    #[must_use]
    pub const fn counts_generations(&self) -> bool {
        self.custom
    }

    /// Whether a PUT must say which version it was made from.
    #[must_use]
    pub fn refuses_unconditional_updates(&self) -> bool {
        self.custom || self.kind == "Lease"
    }
}
