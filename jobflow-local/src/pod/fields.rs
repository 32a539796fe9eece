//! Fields of a pod that a container may ask for, as `fieldRef` and the downward API have them.

use std::collections::BTreeMap;

use super::identity::PodIdentity;

/// Returns the value of a field; the reason, if it doesn't exist here.
///
/// # Errors
///
/// For a path that isn't one of those that mean something on one machine.
pub fn field(pod: &PodIdentity, path: &str) -> Result<String, String> {
    if let Some(key) = subscript(path, "metadata.labels") {
        return Ok(pod.labels.get(key).cloned().unwrap_or_default());
    }
    if let Some(key) = subscript(path, "metadata.annotations") {
        return Ok(pod.annotations.get(key).cloned().unwrap_or_default());
    }
    match path {
        "metadata.name" => Ok(pod.name.clone()),
        "metadata.namespace" => Ok(pod.namespace.clone()),
        "metadata.uid" => Ok(pod.uid.clone()),
        "metadata.labels" => Ok(as_lines(&pod.labels)),
        "metadata.annotations" => Ok(as_lines(&pod.annotations)),
        "status.podIP" | "status.podIPs" => Ok(pod.address.to_string()),
        "status.hostIP" | "status.hostIPs" => Ok("127.0.0.1".to_owned()),
        "spec.nodeName" => Ok(pod.node.clone()),
        "spec.serviceAccountName" => Ok(pod.service_account.clone()),
        other => Err(format!("field `{other}` does not exist on one machine")),
    }
}

fn subscript<'a>(path: &'a str, map: &str) -> Option<&'a str> {
    let inner = path.strip_prefix(map)?.strip_prefix('[')?.strip_suffix(']')?;
    let quoted = |quote: char| inner.strip_prefix(quote)?.strip_suffix(quote);
    quoted('\'').or_else(|| quoted('"'))
}

/// As the downward API writes a whole map: `key="value"`, a line each.
fn as_lines(map: &BTreeMap<String, String>) -> String {
    let lines: Vec<String> = map
        .iter()
        .map(|(key, value)| format!("{key}={value:?}"))
        .collect();
    lines.join("\n")
}
