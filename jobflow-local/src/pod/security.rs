//! Security contexts: honoured where a process can honour them, refused where it can't, never passed over.

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

/// Reads what the pod and the container ask for; `own` is the user of this process.
///
/// # Errors
///
/// A fault for each thing that can't be honoured.
pub fn security(
    spec: &PodSpec,
    path: &str,
    container: &Container,
    own: u32,
) -> Result<Security, Vec<PodFault>> {
    let mut faults = Vec::new();
    let mut security = Security::default();
    let levels = [
        ("spec", spec.security_context.as_ref()),
        (path, container.security_context.as_ref()),
    ];
    let mut must_not_be_root = false;
    for (path, context) in levels {
        for (field, value) in context.and_then(Value::as_object).into_iter().flatten() {
            let path = format!("{path}.securityContext.{field}");
            match field.as_str() {
                "runAsUser" => security.uid = number(&path, value, &mut faults),
                "runAsGroup" => security.gid = number(&path, value, &mut faults),
                "runAsNonRoot" => must_not_be_root = value == &Value::Bool(true),
                "allowPrivilegeEscalation" => security.no_new_privileges = value == &Value::Bool(false),
                _ if is_satisfied(field, value, security.uid.unwrap_or(own)) => {}
                _ => faults.push(PodFault::new(
                    path,
                    "can't be honoured by a process of this machine; remove it",
                )),
            }
        }
    }
    if must_not_be_root && security.uid.unwrap_or(own) == 0 {
        let message = "demands another user than root: set runAsUser, or run as another user";
        faults.push(PodFault::new(
            format!("{path}.securityContext.runAsNonRoot"),
            message,
        ));
    }
    if let Some(uid) = security.uid.filter(|uid| own != 0 && *uid != own) {
        let message = format!("user {uid} is wanted, and only root can become another user");
        faults.push(PodFault::new(
            format!("{path}.securityContext.runAsUser"),
            message,
        ));
    }
    if faults.is_empty() {
        Ok(security)
    } else {
        Err(faults)
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

fn number(path: &str, value: &Value, faults: &mut Vec<PodFault>) -> Option<u32> {
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    if number.is_none() {
        faults.push(PodFault::new(path, format!("{value} is no user or group number")));
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(pod: Value, container: Value, own: u32) -> Result<Security, Vec<String>> {
        let spec = PodSpec {
            security_context: Some(pod),
            ..PodSpec::default()
        };
        let container = Container {
            security_context: Some(container),
            ..Container::default()
        };
        let faults = |faults: Vec<PodFault>| faults.into_iter().map(|fault| fault.path).collect();
        security(&spec, "c", &container, own).map_err(faults)
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
            refused(json!({"runAsUser": 6}), 5),
            ["c.securityContext.runAsUser"]
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
