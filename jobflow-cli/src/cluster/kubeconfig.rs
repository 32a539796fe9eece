//! Which cluster is meant, and as whom: the kubeconfig as kubectl reads it, or the service account of this pod.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use jobflow_k8s::fault::closest;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};

use crate::arguments::cluster::Connection;
use crate::failure::Failure;

const INTENT: &str = "cannot tell which cluster is meant";

/// The configuration of a client.
pub(super) async fn config(connection: &Connection) -> Result<Config, Failure> {
    let mut config = match read(connection)? {
        Some(kubeconfig) => of_file(kubeconfig, connection).await?,
        None => of_pod()?,
    };
    if let Some(user) = &connection.as_user {
        config.auth_info.impersonate = Some(user.clone());
        config.auth_info.impersonate_groups = Some(connection.as_group.clone()).filter(|all| !all.is_empty());
    }
    Ok(config)
}

/// Whether this is a pod.
fn is_in_cluster() -> bool {
    env::var_os("KUBERNETES_SERVICE_HOST").is_some()
}

fn of_pod() -> Result<Config, Failure> {
    if !is_in_cluster() {
        let help = "name one with --kubeconfig or KUBECONFIG, or put it at ~/.kube/config";
        let failure = Failure::could_not_run(INTENT).caused_by("there is no kubeconfig, and this is no pod");
        return Err(failure.with_help(help));
    }
    Config::incluster().map_err(|error| Failure::could_not_run(INTENT).because(&error))
}

/// The files that are read, and whether one that is missing is a fault.
fn files(
    connection: &Connection,
    variable: Option<OsString>,
    home: Option<OsString>,
) -> (Vec<PathBuf>, bool) {
    if let Some(path) = &connection.kubeconfig {
        return (vec![path.clone()], true);
    }
    let named = variable.as_ref().map(env::split_paths).into_iter().flatten();
    let named: Vec<PathBuf> = named.filter(|path| !path.as_os_str().is_empty()).collect();
    if !named.is_empty() {
        return (named, false);
    }
    let home = home.filter(|home| !home.is_empty());
    let usual = home.map(|home| PathBuf::from(home).join(".kube").join("config"));
    (usual.into_iter().collect(), false)
}

/// All files in one; none if none of them is there.
fn read(connection: &Connection) -> Result<Option<Kubeconfig>, Failure> {
    let (paths, needed) = files(connection, env::var_os("KUBECONFIG"), env::var_os("HOME"));
    let mut all: Option<Kubeconfig> = None;
    for path in paths {
        let next = match Kubeconfig::read_from(&path) {
            Err(KubeconfigError::ReadConfig(error, _))
                if error.kind() == io::ErrorKind::NotFound && !needed =>
            {
                continue;
            }
            read => read.map_err(|error| unreadable(&error, &path.display().to_string()))?,
        };
        let merged = match all {
            Some(all) => all.merge(next),
            None => Ok(next),
        };
        all = Some(merged.map_err(|error| unreadable(&error, &path.display().to_string()))?);
    }
    // An empty file says nothing, and is none.
    Ok(all.filter(|all| !all.contexts.is_empty() || all.current_context.is_some() || !is_in_cluster()))
}

fn unreadable(error: &KubeconfigError, path: &str) -> Failure {
    let failure = Failure::wrong_input(format!("cannot use the kubeconfig {path}"));
    if let KubeconfigError::ReadConfig(error, _) = error {
        return failure.caused_by(error.to_string());
    }
    failure.caused_by(error.to_string())
}

async fn of_file(kubeconfig: Kubeconfig, connection: &Connection) -> Result<Config, Failure> {
    let contexts: Vec<String> = kubeconfig
        .contexts
        .iter()
        .map(|named| named.name.clone())
        .collect();
    let clusters: Vec<String> = kubeconfig
        .clusters
        .iter()
        .map(|named| named.name.clone())
        .collect();
    if let Some(user) = &connection.user
        && !kubeconfig.auth_infos.iter().any(|named| named.name == *user)
    {
        let users = kubeconfig.auth_infos.iter().map(|named| named.name.as_str());
        return Err(unknown("user", user, &users.collect::<Vec<_>>()));
    }
    let options = KubeConfigOptions {
        context: connection.context.clone(),
        cluster: connection.cluster.clone(),
        user: connection.user.clone(),
    };
    let chosen = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    chosen.map_err(|error| unusable(error, &contexts, &clusters))
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the others say all there is to say"
)]
fn unusable(error: KubeconfigError, contexts: &[String], clusters: &[String]) -> Failure {
    let names = |all: &[String]| all.iter().map(String::clone).collect::<Vec<_>>();
    match error {
        KubeconfigError::CurrentContextNotSet => {
            let failure = Failure::wrong_input(INTENT).caused_by("the kubeconfig has no current context");
            let help = "name one with --context, or choose one with: kubectl config use-context NAME";
            failure.with_help(format!("{help}; {}", known("it has", &names(contexts))))
        }
        KubeconfigError::LoadContext(name) => unknown("context", &name, &as_texts(contexts)),
        KubeconfigError::LoadClusterOfContext(name) => unknown("cluster", &name, &as_texts(clusters)),
        error => Failure::wrong_input("cannot use the kubeconfig").caused_by(error.to_string()),
    }
}

fn as_texts(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

fn unknown(what: &str, name: &str, there: &[&str]) -> Failure {
    let failure = Failure::wrong_input(INTENT).caused_by(format!("the kubeconfig has no {what} `{name}`"));
    let help = match closest(name, there.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => known(
            "it has",
            &there.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(),
        ),
    };
    failure.with_help(help)
}

fn known(how: &str, names: &[String]) -> String {
    match names {
        [] => format!("{how} none"),
        names => format!("{how}: {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(flag: Option<&str>, variable: &str, home: &str) -> (Vec<String>, bool) {
        let connection = Connection {
            kubeconfig: flag.map(PathBuf::from),
            ..Connection::default()
        };
        let (paths, needed) = files(&connection, Some(variable.into()), Some(home.into()));
        (
            paths.iter().map(|path| path.display().to_string()).collect(),
            needed,
        )
    }

    #[test]
    fn the_flag_goes_before_the_variable_and_that_before_the_home() {
        for (flag, variable, home, files, needed) in [
            (Some("a"), "b:c", "/h", vec!["a"], true),
            (None, "b:c::", "/h", vec!["b", "c"], false),
            (None, "", "/h", vec!["/h/.kube/config"], false),
            (None, ":", "", vec![], false),
        ] {
            let files: Vec<String> = files.into_iter().map(str::to_owned).collect();
            assert_eq!(chosen(flag, variable, home), (files, needed));
        }
    }
}
