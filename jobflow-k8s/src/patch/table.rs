//! What a strategic merge does with each field, from a Job's spec down to what a container reads.
//!
//! Comes in: the kind of an object and the name of a field. Goes out: how lists in that field are merged, and the kind
//! of what is inside. The rows of pods are the tags `patchStrategy` and `patchMergeKey` of Kubernetes' core/v1 and
//! meta/v1; a test compares them with those of its sources. Absent on purpose: whatever has no row is an atomic list,
//! a map that is merged, or a scalar.

/// The kind of an object that a merge walks through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The spec of a Volcano Job.
    JobSpec,
    /// A task of it.
    Task,
    /// A pod template.
    PodTemplate,
    /// The metadata of a pod template, or of a template of a claim.
    Metadata,
    /// The spec of a pod.
    PodSpec,
    /// A container of any sort.
    Container,
    /// A volume of a pod.
    Volume,
    /// A volume that lives as long as its pod.
    EphemeralVolume,
    /// A template of a claim.
    ClaimTemplate,
    /// A claim on a resource.
    ResourceClaim,
    /// A variable of a container.
    Env,
    /// Where a variable's value comes from.
    EnvSource,
    /// A probe of a container.
    Probe,
    /// What is done at the start and the end of a container.
    Lifecycle,
    /// One of these two.
    Handler,
    /// Anything else: no merged lists below.
    Other,
}

/// How a list is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// Replaced as a whole.
    Atomic,
    /// A set of scalars, joined.
    Set,
    /// Elements with the same value of this field are merged.
    Keyed(&'static str),
}

/// How a field is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// How a list in it is merged.
    pub lists: Lists,
    /// The kind of its value, or of the elements of its list.
    pub inner: Kind,
}

/// Looks up how a field is merged.
#[must_use]
pub fn field(kind: Kind, name: &str) -> Field {
    let row = ROWS
        .iter()
        .find(|(of, field, _, _)| *of == kind && *field == name);
    row.map_or(
        Field {
            lists: Lists::Atomic,
            inner: Kind::Other,
        },
        |(_, _, lists, inner)| Field {
            lists: *lists,
            inner: *inner,
        },
    )
}

type Row = (Kind, &'static str, Lists, Kind);

const ROWS: &[Row] = {
    use Kind::*;
    use Lists::*;
    &[
        (JobSpec, "tasks", Keyed("name"), Task),
        (JobSpec, "volumes", Keyed("mountPath"), Other),
        (Task, "template", Atomic, PodTemplate),
        (PodTemplate, "metadata", Atomic, Metadata),
        (PodTemplate, "spec", Atomic, PodSpec),
        (Metadata, "finalizers", Set, Other),
        (Metadata, "ownerReferences", Keyed("uid"), Other),
        (PodSpec, "containers", Keyed("name"), Container),
        (PodSpec, "initContainers", Keyed("name"), Container),
        (PodSpec, "ephemeralContainers", Keyed("name"), Container),
        (PodSpec, "volumes", Keyed("name"), Volume),
        (PodSpec, "imagePullSecrets", Keyed("name"), Other),
        (PodSpec, "hostAliases", Keyed("ip"), Other),
        (PodSpec, "topologySpreadConstraints", Keyed("topologyKey"), Other),
        (PodSpec, "schedulingGates", Keyed("name"), Other),
        (PodSpec, "resourceClaims", Keyed("name"), ResourceClaim),
        (Container, "env", Keyed("name"), Env),
        (Container, "ports", Keyed("containerPort"), Other),
        (Container, "volumeMounts", Keyed("mountPath"), Other),
        (Container, "volumeDevices", Keyed("devicePath"), Other),
        (Container, "livenessProbe", Atomic, Probe),
        (Container, "readinessProbe", Atomic, Probe),
        (Container, "startupProbe", Atomic, Probe),
        (Container, "lifecycle", Atomic, Lifecycle),
        (Lifecycle, "postStart", Atomic, Handler),
        (Lifecycle, "preStop", Atomic, Handler),
        (Env, "valueFrom", Atomic, EnvSource),
        (Volume, "ephemeral", Atomic, EphemeralVolume),
        (EphemeralVolume, "volumeClaimTemplate", Atomic, ClaimTemplate),
        (ClaimTemplate, "metadata", Atomic, Metadata),
    ]
};
