//! A command in a namespace of its own sees the run's folders at the paths of its manifest, and nothing else changed.

#[cfg(test)]
mod enter {
    use std::{
        fs,
        os::unix::{fs::PermissionsExt, process::CommandExt},
        path::Path,
        process::{Command, Output},
    };

    use jobflow_local::enter::{Bind, EnterPlan};

    const NOBODY: u32 = 65_534;

    fn bind(source: &Path, target: &str, read_only: bool) -> Bind {
        Bind {
            source: source.into(),
            target: target.into(),
            read_only,
        }
    }

    /// Runs a script; none where the machine allows no namespaces.
    fn run(folder: &Path, mounts: Vec<Bind>, script: &str, user: Option<u32>) -> Option<Output> {
        let root = folder.join("root");
        fs::create_dir_all(&root).unwrap();
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
        let plan = EnterPlan {
            mounts,
            root,
            cwd: "/".into(),
            no_new_privileges: true,
            argv: ["sh", "-c", script].map(str::to_owned).to_vec(),
            ..EnterPlan::default()
        };
        // A copy that another user may execute, wherever the tests were built. Another process makes it: a child that a
        // thread of ours forks meanwhile would hold the file open for writing, and it could not be executed.
        let program = folder.join("jobflow-executor");
        let copied = Command::new("cp")
            .args([Path::new(env!("CARGO_BIN_EXE_jobflow-executor")), &program])
            .status();
        assert!(copied.unwrap().success());
        let mut command = Command::new(program);
        command.args(["__enter", &serde_json::to_string(&plan).unwrap()]);
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        let output = command.output().unwrap();
        let refused = String::from_utf8_lossy(&output.stderr).contains("does not allow --isolate");
        (!refused).then_some(output)
    }

    fn check(user: Option<u32>) {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let fixed = folder.path().join("fixed");
        let message = folder.path().join("message");
        for path in [&data, &fixed] {
            fs::create_dir(path).unwrap();
            fs::write(path.join("a"), "content").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
        }
        fs::write(&message, "").unwrap();
        fs::set_permissions(&message, fs::Permissions::from_mode(0o666)).unwrap();
        let mounts = vec![
            bind(&data, "/no-such-folder/deep/data", false),
            bind(&data, "/etc/volcano-of-a-test", false),
            bind(&fixed, "/no-such-folder/deep/data/below", true),
            bind(&message, "/dev/termination-log-of-a-test", false),
        ];
        let script = "cat /no-such-folder/deep/data/a /etc/volcano-of-a-test/a; cat /etc/passwd | head -c 4;
            echo made > /etc/volcano-of-a-test/b; echo words > /dev/termination-log-of-a-test; echo > /dev/null;
            echo x > /no-such-folder/deep/data/below/a || echo refused; id -u; grep NoNewPrivs /proc/self/status";
        fs::create_dir(data.join("below")).unwrap();
        let Some(output) = run(folder.path(), mounts, script, user) else {
            return;
        };
        let text = String::from_utf8_lossy(&output.stdout);
        let user = user.unwrap_or_else(|| nix::unistd::geteuid().as_raw());
        let expected = format!("contentcontentrootrefused\n{user}\nNoNewPrivs:\t1\n");
        assert_eq!(text, expected, "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(fs::read_to_string(data.join("b")).unwrap(), "made\n");
        assert_eq!(fs::read_to_string(&message).unwrap(), "words\n");
        assert_eq!(fs::read_to_string(fixed.join("a")).unwrap(), "content");
        for path in [
            "/no-such-folder",
            "/etc/volcano-of-a-test",
            "/dev/termination-log-of-a-test",
        ] {
            assert!(!Path::new(path).exists(), "{path} is on the machine");
        }
    }

    #[test]
    fn the_present_user_sees_mounts_where_they_should_be() {
        check(None);
    }

    #[test]
    fn so_does_a_user_without_rights() {
        if nix::unistd::geteuid().is_root() {
            check(Some(NOBODY));
        }
    }

    #[test]
    fn another_user_works_in_a_folder_that_it_could_not_get_to() {
        if !nix::unistd::geteuid().is_root() {
            return;
        }
        let private = tempfile::tempdir().unwrap();
        let open = private.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        let plan = EnterPlan {
            cwd: open.clone(),
            user: Some(NOBODY),
            argv: ["sh", "-c", "id -u; id -G; echo x > made"]
                .map(str::to_owned)
                .to_vec(),
            ..EnterPlan::default()
        };
        let output = Command::new(env!("CARGO_BIN_EXE_jobflow-executor"))
            .args(["__enter", &serde_json::to_string(&plan).unwrap()])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(
            text,
            format!("{NOBODY}\n{NOBODY}\n"),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(open.join("made").exists());
    }

    #[test]
    fn a_command_that_is_not_there_ends_as_a_start_error() {
        let folder = tempfile::tempdir().unwrap();
        let plan = EnterPlan {
            cwd: "/".into(),
            argv: vec!["no-such-command".into()],
            ..EnterPlan::default()
        };
        let output = Command::new(env!("CARGO_BIN_EXE_jobflow-executor"))
            .args(["__enter", &serde_json::to_string(&plan).unwrap()])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(128));
        assert!(String::from_utf8_lossy(&output.stderr).contains("cannot execute no-such-command"));
    }
}
