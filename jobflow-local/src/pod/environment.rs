//! The environment of a container: what a kubelet would give it, in the kubelet's order.
//!
//! What comes from the machine is at the bottom and can be replaced by everything, but `$(VAR)` sees only what the
//! manifest and the plugins declare, as in a cluster.

use std::collections::BTreeMap;

use jobflow_k8s::fault::FieldPath;

use super::{
    PodFault,
    config::ConfigObjects,
    expansion::expand,
    fields::field,
    identity::PodIdentity,
    plugins::Variable,
    template::{Container, EnvFrom, EnvVar, KeyRef, PodTemplate, ResourceFieldRef, ValueFrom},
};
use crate::resources::{Machine, Quantity};

type Data = BTreeMap<String, Vec<u8>>;

/// What the values of variables may come from.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The pod.
    pub pod: &'a PodIdentity,
    /// Its template.
    pub template: &'a PodTemplate,
    /// ConfigMaps and Secrets.
    pub objects: &'a ConfigObjects,
    /// Whose amounts stand for a limit that isn't set.
    pub machine: &'a Machine,
}

/// Builds the variables that the manifest and the plugins declare for a container, `path` being its own.
///
/// # Errors
///
/// A fault for each reference that leads nowhere (unless it is optional), and for each value that can't be one.
pub fn declared(
    scope: Scope<'_>,
    path: &FieldPath,
    container: &Container,
    plugins: &[Variable],
) -> Result<BTreeMap<String, String>, Vec<PodFault>> {
    let mut variables = BTreeMap::new();
    let mut faults = Vec::new();
    for (index, source) in container.env_from.iter().enumerate() {
        match whole_object(scope.objects, source) {
            Ok(found) => variables.extend(found),
            Err(message) => faults.push(PodFault::new(path.field("envFrom").index(index), message)),
        }
    }
    for (index, variable) in container.env.iter().enumerate() {
        match value(scope, container, variable, &variables) {
            Ok(found) => variables.extend(found.map(|text| (variable.name.clone(), text))),
            Err(message) => faults.push(PodFault::new(path.field("env").index(index), message)),
        }
    }
    variables.extend(plugins.iter().cloned());
    for (name, value) in &variables {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            let own = container.env.iter().position(|variable| variable.name == *name);
            let path = own.map_or_else(|| path.field("envFrom"), |index| path.field("env").index(index));
            let message = format!("{name:?} can't be a variable: empty, `=` or a zero byte");
            faults.push(PodFault::new(path, message));
        }
    }
    if faults.is_empty() {
        Ok(variables)
    } else {
        Err(faults)
    }
}

/// Returns the command of a container and its arguments, with `$(VAR)` replaced.
pub fn command(container: &Container, declared: &BTreeMap<String, String>) -> Vec<String> {
    let words = container.command.iter().chain(&container.args);
    words
        .map(|word| expand(word, |name| declared.get(name).map(String::as_str)))
        .collect()
}

fn whole_object(objects: &ConfigObjects, source: &EnvFrom) -> Result<Vec<Variable>, String> {
    let (kind, reference, data) = match (&source.config_map_ref, &source.secret_ref) {
        (Some(reference), None) => ("ConfigMap", reference, objects.map(&reference.name)),
        (None, Some(reference)) => ("Secret", reference, objects.secret(&reference.name)),
        (None, None) | (Some(_), Some(_)) => return Err("needs one of configMapRef and secretRef".to_owned()),
    };
    let Some(data) = data else {
        return if reference.optional == Some(true) {
            Ok(Vec::new())
        } else {
            Err(missing(kind, &reference.name))
        };
    };
    data.iter()
        .map(|(key, value)| Ok((format!("{}{key}", source.prefix), as_text(key, value)?)))
        .collect()
}

fn missing(kind: &str, name: &str) -> String {
    format!("there is no {kind} `{name}`: give the file that defines it, or make the reference optional")
}

fn as_text(key: &str, value: &[u8]) -> Result<String, String> {
    // The value itself is not shown: it may be secret.
    String::from_utf8(value.to_vec()).map_err(|_| format!("key `{key}` is not text"))
}

fn value(
    scope: Scope<'_>,
    container: &Container,
    variable: &EnvVar,
    known: &BTreeMap<String, String>,
) -> Result<Option<String>, String> {
    let text = variable.value.as_deref().unwrap_or_default();
    match &variable.value_from {
        Some(from) if text.is_empty() => referenced(scope, container, from),
        Some(_) | None => Ok(Some(expand(text, |name| known.get(name).map(String::as_str)))),
    }
}

fn referenced(scope: Scope<'_>, container: &Container, from: &ValueFrom) -> Result<Option<String>, String> {
    match from {
        ValueFrom {
            field_ref: Some(reference),
            ..
        } => field(scope.pod, &reference.field_path).map(Some),
        ValueFrom {
            resource_field_ref: Some(reference),
            ..
        } => resource(scope, container, reference).map(Some),
        ValueFrom {
            config_map_key_ref: Some(reference),
            ..
        } => key("ConfigMap", scope.objects.map(&reference.name), reference),
        ValueFrom {
            secret_key_ref: Some(reference),
            ..
        } => key("Secret", scope.objects.secret(&reference.name), reference),
        ValueFrom {
            field_ref: None,
            resource_field_ref: None,
            config_map_key_ref: None,
            secret_key_ref: None,
        } => Err("valueFrom has no source that is known here".to_owned()),
    }
}

fn key(kind: &str, data: Option<&Data>, reference: &KeyRef) -> Result<Option<String>, String> {
    let KeyRef { name, key, optional } = reference;
    match data.map(|data| data.get(key)) {
        Some(Some(value)) => as_text(key, value).map(Some),
        Some(None) | None if *optional == Some(true) => Ok(None),
        Some(None) => Err(format!("{kind} `{name}` has no key `{key}`")),
        None => Err(missing(kind, name)),
    }
}

/// Returns a request or limit in the unit that is asked for.
pub(crate) fn resource(
    scope: Scope<'_>,
    own: &Container,
    reference: &ResourceFieldRef,
) -> Result<String, String> {
    let ResourceFieldRef {
        container_name,
        resource,
        divisor,
    } = reference;
    let named = |name: &String| {
        let mut all = scope.template.all_containers();
        all.find(|(_, container)| container.name == *name)
            .map(|(_, container)| container)
    };
    let container = match container_name.as_ref().filter(|name| !name.is_empty()) {
        Some(name) => named(name).ok_or_else(|| format!("there is no container `{name}`"))?,
        None => own,
    };
    let (kind, name) = resource
        .split_once('.')
        .ok_or_else(|| format!("`{resource}` is no resource"))?;
    let resources = &container.resources;
    let found = match kind {
        "limits" => resources.limits.get(name).map(Quantity::read).transpose(),
        "requests" => {
            let request = resources
                .requests
                .get(name)
                .or_else(|| resources.limits.get(name));
            request.map(Quantity::read).transpose()
        }
        _ => return Err(format!("`{resource}` is no resource")),
    };
    let found = found.map_err(|error| error.to_string())?;
    let unlimited = || match kind {
        "limits" => scope.machine.amounts.get(name).copied(),
        _ => None,
    };
    let amount = found.or_else(unlimited).unwrap_or_default();
    let divisor = divisor
        .as_ref()
        .map(Quantity::read)
        .transpose()
        .map_err(|error| error.to_string())?;
    Ok(amount.in_units_of(divisor.unwrap_or_default()).to_string())
}

#[cfg(test)]
mod tests;
