//! Commands: what the user gives in the place of a task's own, and containers that have none at all.

use jobflow_k8s::fault::FieldPath;

use super::CommandFor;
use crate::pod::{
    PodFault,
    template::{Container, PodTemplate},
};

/// Whose pod it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner<'a> {
    pub(super) entry: &'a str,
    pub(super) task: &'a str,
}

/// Puts a given command in the place of the task's own, which is its first container's.
pub(super) fn give(commands: &[CommandFor], owner: Owner<'_>, template: &mut PodTemplate) {
    let (Some(given), Some(container)) = (chosen(commands, owner), template.spec.containers.first_mut())
    else {
        return;
    };
    // The user wrote it for a shell: `$(date)` is the shell's, and no reference to a variable of the manifest.
    let script = given.command.replace('$', "$$");
    container.command = vec!["sh".to_owned(), "-c".to_owned(), script];
    container.args = Vec::new();
}

/// What was said for the entry wins over what was said for all; what was said last wins over what was said before.
fn chosen<'a>(commands: &'a [CommandFor], owner: Owner<'_>) -> Option<&'a CommandFor> {
    let of = |entry: Option<&str>| {
        commands
            .iter()
            .rfind(|given| given.task == owner.task && given.entry.as_deref() == entry)
    };
    of(Some(owner.entry)).or_else(|| of(None))
}

/// Finds containers without a command: there is no image here whose own could be used.
pub(super) fn missing(owner: Owner<'_>, template: &PodTemplate) -> Vec<PodFault> {
    let Owner { entry, task } = owner;
    let first = template.spec.init_containers.len();
    let without = template
        .all_containers()
        .enumerate()
        .filter(|(_, (_, container))| container.command.is_empty());
    let fault = |(place, (path, container)): (usize, (FieldPath, &Container))| {
        let flag = if place == first {
            format!(", or give it one with --command {entry}/{task}='…'")
        } else {
            String::new()
        };
        let message = format!(
            "container `{}` has no command, and the one in its image can't be known here: set `command`{flag}",
            container.name
        );
        PodFault::new(path.field("command"), message)
    };
    without.map(fault).collect()
}

/// Finds commands that were given for tasks which the entry doesn't have.
pub(super) fn strangers(commands: &[CommandFor], entry: &str, tasks: &[&str]) -> Vec<PodFault> {
    let of_entry = commands
        .iter()
        .filter(|given| given.entry.as_deref() == Some(entry));
    of_entry
        .filter(|given| !tasks.contains(&given.task.as_str()))
        .map(|given| {
            let known = tasks.join(", ");
            let message = format!(
                "--command {entry}/{} is for none of its tasks, which are: {known}",
                given.task
            );
            PodFault::new(FieldPath::root().field("spec").field("tasks"), message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const OWNER: Owner<'_> = Owner {
        entry: "etl",
        task: "main",
    };

    fn given(entry: Option<&str>, task: &str, command: &str) -> CommandFor {
        CommandFor {
            entry: entry.map(str::to_owned),
            task: task.to_owned(),
            command: command.to_owned(),
        }
    }

    fn template() -> PodTemplate {
        let containers = json!([{"name": "a", "args": ["x"]}, {"name": "b", "command": ["b"]}]);
        let spec = json!({"spec": {"initContainers": [{"name": "i"}], "containers": containers}});
        PodTemplate::read(&spec).unwrap()
    }

    #[test]
    fn the_most_specific_and_then_the_last_command_wins() {
        let commands = [
            given(None, "main", "1"),
            given(Some("etl"), "main", "2"),
            given(Some("etl"), "main", "3 $(date)"),
            given(Some("other"), "main", "4"),
            given(None, "main", "5"),
        ];
        let mut template = template();
        give(&commands, OWNER, &mut template);
        assert_eq!(template.spec.containers[0].command, ["sh", "-c", "3 $$(date)"]);
        assert!(template.spec.containers[0].args.is_empty());
        assert_eq!(template.spec.containers[1].command, ["b"]);
    }

    #[test]
    fn a_container_without_a_command_is_told_the_way_out() {
        let faults = missing(OWNER, &template());
        let paths: Vec<String> = faults.iter().map(|fault| fault.path.to_string()).collect();
        assert_eq!(
            paths,
            ["spec.initContainers[0].command", "spec.containers[0].command"]
        );
        assert!(!faults[0].message.contains("--command"));
        assert!(faults[1].message.contains("--command etl/main='…'"));
    }

    #[test]
    fn a_command_for_a_task_that_is_not_there_is_a_slip_of_the_pen() {
        let commands = [
            given(Some("etl"), "mian", "1"),
            given(Some("other"), "x", "2"),
            given(None, "x", "3"),
        ];
        let faults = strangers(&commands, "etl", &["main", "side"]);
        assert_eq!(faults.len(), 1);
        assert_eq!(
            faults[0].message,
            "--command etl/mian is for none of its tasks, which are: main, side"
        );
    }
}
