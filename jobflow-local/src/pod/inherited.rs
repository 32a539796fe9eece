//! The part of a task's environment that comes from the machine: a short list, and what was asked for by name.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

const KEPT: [&str; 5] = ["PATH", "LANG", "TZ", "VIRTUAL_ENV", "CONDA_PREFIX"];
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Which further variables a task gets from whoever started the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Inherit {
    /// Those with these names.
    Named(Vec<String>),
    /// All.
    All,
}

/// Chooses from the variables of this process; `HOME` and `TMPDIR` become folders of the run, always.
pub fn inherited(
    own: &BTreeMap<String, String>,
    inherit: &Inherit,
    home: &Path,
    temporary: &Path,
) -> BTreeMap<String, String> {
    let is_wanted = |name: &str| match inherit {
        Inherit::Named(names) => KEPT.contains(&name) || names.iter().any(|wanted| wanted == name),
        Inherit::All => true,
    };
    let mut chosen = BTreeMap::from([("PATH".to_owned(), DEFAULT_PATH.to_owned())]);
    let wanted = own.iter().filter(|(name, _)| is_wanted(name));
    chosen.extend(wanted.map(|(name, value)| (name.clone(), value.clone())));
    for (name, folder) in [("HOME", home), ("TMPDIR", temporary)] {
        let asked_for = matches!(inherit, Inherit::Named(names) if names.iter().any(|wanted| wanted == name));
        if !asked_for {
            chosen.insert(name.to_owned(), folder.to_string_lossy().into_owned());
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(inherit: &Inherit) -> BTreeMap<String, String> {
        let own = ["PATH=/bin", "HOME=/root", "AWS_SECRET=x", "LANG=C", "CI=1"];
        let own = own.iter().filter_map(|pair| pair.split_once('='));
        let own = own
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        inherited(&own, inherit, Path::new("/run/home"), Path::new("/run/tmp"))
    }

    #[test]
    fn a_credential_of_the_user_does_not_reach_a_task() {
        let names: Vec<String> = choose(&Inherit::Named(Vec::new())).into_keys().collect();
        assert_eq!(names, ["HOME", "LANG", "PATH", "TMPDIR"]);
    }

    #[test]
    fn what_is_asked_for_by_name_is_given() {
        let chosen = choose(&Inherit::Named(vec!["CI".into(), "HOME".into()]));
        assert_eq!((chosen["CI"].as_str(), chosen["HOME"].as_str()), ("1", "/root"));
        let all = choose(&Inherit::All);
        assert_eq!(
            (all["AWS_SECRET"].as_str(), all["HOME"].as_str()),
            ("x", "/run/home")
        );
    }
}
