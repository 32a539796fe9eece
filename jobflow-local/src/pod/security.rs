//! Security contexts: honoured where a process can honour them, refused where it can't, never passed over.

use jobflow_k8s::fault::FieldPath;
use serde_json::Value;

use super::{
    PodFault,
    template::{Container, PodSpec},
};

/// Who runs a container, and with what rights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Security {
    /// The user to become.
    pub uid: Option<u32>,
    /// The group to become.
    pub gid: Option<u32>,
    /// Whether no program that it starts may gain rights.
    pub no_new_privileges: bool,
}

/// The user and group of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// The user.
    pub user: u32,
    /// The group.
    pub group: u32,
}

/// Reads what the pod and the container ask for; `paths` are those of the pod and of the container.
///
/// # Errors
///
/// A fault for each thing that can't be honoured.
pub fn security(
    spec: &PodSpec,
    paths: (&FieldPath, &FieldPath),
    container: &Container,
    own: Own,
) -> Result<Security, Vec<PodFault>> {
    let mut faults = Vec::new();
    let mut security = Security::default();
    let levels = [
        (paths.0, spec.security_context.as_ref()),
        (paths.1, container.security_context.as_ref()),
    ];
    let mut must_not_be_root = false;
    for (path, context) in levels {
        for (field, value) in context.and_then(Value::as_object).into_iter().flatten() {
            let path = path.field("securityContext").field(field);
            match field.as_str() {
                "runAsUser" => security.uid = number(&path, value, &mut faults),
                "runAsGroup" => security.gid = number(&path, value, &mut faults),
                "runAsNonRoot" => must_not_be_root = value == &Value::Bool(true),
                "allowPrivilegeEscalation" => security.no_new_privileges = value == &Value::Bool(false),
                _ if is_satisfied(field, value, security.uid.unwrap_or(own.user)) => {}
                _ => faults.push(PodFault::new(
                    path,
                    "can't be honoured by a process of this machine; remove it",
                )),
            }
        }
    }
    if must_not_be_root && security.uid.unwrap_or(own.user) == 0 {
        let message = "demands another user than root: set runAsUser, or run as another user";
        faults.push(PodFault::new(
            paths.1.field("securityContext").field("runAsNonRoot"),
            message,
        ));
    }
    let security = security.but_what_is(own);
    if own.user != 0 {
        faults.extend(security.out_of_reach(paths.1));
    }
    if faults.is_empty() {
        Ok(security)
    } else {
        Err(faults)
    }
}

impl Security {
    /// Leaves out what holds for this process anyway.
    fn but_what_is(self, own: Own) -> Self {
        let uid = self.uid.filter(|uid| *uid != own.user);
        // Whoever becomes another user leaves this process's group, too.
        let gid = self.gid.filter(|gid| uid.is_some() || *gid != own.group);
        Self { uid, gid, ..self }
    }

    /// Whether the process has to become somebody else.
    pub fn changes_user(&self) -> bool {
        self.uid.is_some() || self.gid.is_some()
    }

    /// Finds what only root can do.
    fn out_of_reach(self, path: &FieldPath) -> impl Iterator<Item = PodFault> {
        let wanted = [("runAsUser", "user", self.uid), ("runAsGroup", "group", self.gid)];
        wanted.into_iter().filter_map(move |(field, kind, number)| {
            let message = format!(
                "wants {kind} {}, and only root can change it: remove it, or run as that {kind}",
                number?
            );
            Some(PodFault::new(path.field("securityContext").field(field), message))
        })
    }
}

/// Tells whether a plain process already is what the field asks for.
fn is_satisfied(field: &str, value: &Value, uid: u32) -> bool {
    match field {
        "privileged" | "readOnlyRootFilesystem" => value == &Value::Bool(false),
        "seccompProfile" | "appArmorProfile" => value.get("type") == Some(&Value::from("Unconfined")),
        "procMount" => value == &Value::from("Default"),
        // Only root has capabilities that could be dropped.
        "capabilities" => uid != 0 && value.get("add").is_none_or(is_empty),
        "supplementalGroups" | "sysctls" => is_empty(value),
        // What it asks of volumes of the run, which belong to the user that runs everything, holds for that user.
        "fsGroup" | "fsGroupChangePolicy" => uid != 0,
        _ => value.is_null(),
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_none_or(Vec::is_empty)
}

fn number(path: &FieldPath, value: &Value, faults: &mut Vec<PodFault>) -> Option<u32> {
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    if number.is_none() {
        faults.push(PodFault::new(
            path.clone(),
            format!("{value} is no user or group number"),
        ));
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(pod: Value, container: Value, own: u32) -> Result<Security, Vec<String>> {
        let own = Own {
            user: own,
            group: own,
        };
        let spec = PodSpec {
            security_context: Some(pod),
            ..PodSpec::default()
        };
        let container = Container {
            security_context: Some(container),
            ..Container::default()
        };
        let faults = |faults: Vec<PodFault>| faults.into_iter().map(|fault| fault.path.to_string()).collect();
        security(
            &spec,
            (&FieldPath::root(), &FieldPath::root().field("c")),
            &container,
            own,
        )
        .map_err(faults)
    }

    #[test]
    fn a_containers_user_wins_over_the_pods() {
        let expected = Security {
            uid: Some(7),
            gid: Some(8),
            no_new_privileges: true,
        };
        let container =
            json!({"runAsUser": 7, "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}});
        assert_eq!(
            check(
                json!({"runAsUser": 5, "runAsGroup": 8, "runAsNonRoot": true}),
                container,
                0
            ),
            Ok(expected)
        );
    }

    #[test]
    fn what_holds_anyway_needs_no_change() {
        let context = json!({"runAsUser": 5, "runAsGroup": 5, "runAsNonRoot": true});
        assert_eq!(check(context, json!({}), 5), Ok(Security::default()));
    }

    #[test]
    fn nothing_is_passed_over() {
        let refused = |context: Value, own| check(json!({}), context, own).unwrap_err();
        assert_eq!(
            refused(json!({"privileged": true}), 5),
            ["c.securityContext.privileged"]
        );
        assert_eq!(
            refused(json!({"somethingNew": 1}), 5),
            ["c.securityContext.somethingNew"]
        );
        assert_eq!(
            refused(json!({"runAsUser": 6, "runAsGroup": 6}), 5),
            ["c.securityContext.runAsUser", "c.securityContext.runAsGroup"]
        );
        assert_eq!(
            refused(json!({"runAsNonRoot": true}), 0),
            ["c.securityContext.runAsNonRoot"]
        );
        assert_eq!(
            refused(json!({"runAsUser": -1}), 0),
            ["c.securityContext.runAsUser"]
        );
    }
}
