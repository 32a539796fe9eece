//! Which cluster is meant, and what keeps it from being reached.

use jobflow_test_cluster::User;

use crate::world::{Ran, World};

fn kubeconfig(server: &str, token: &str, authority: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Config, current-context: here, \
         clusters: [{{name: c, cluster: {{server: '{server}'{authority}}}}}], \
         users: [{{name: u, user: {{token: '{token}'}}}}], \
         contexts: [{{name: here, context: {{cluster: c, user: u, namespace: team}}}}, {{name: there, context: {{cluster: none, user: u}}}}]}}"
    )
}

/// The address of the shared API server, and the file of who signed its certificate.
fn server(world: &World) -> (String, String) {
    let text = std::fs::read_to_string(world.cluster.kubeconfig(User::Admin)).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let cluster = &value["clusters"][0]["cluster"];
    let text = |field: &str| cluster[field].as_str().unwrap().to_owned();
    (text("server"), text("certificate-authority"))
}

fn told(world: &World, kubeconfig: &str, arguments: &[&str]) -> (i32, String) {
    std::fs::write(world.path("config"), kubeconfig).unwrap();
    let mut command = world.bare(arguments);
    let ran = Ran::of(command.env("KUBECONFIG", world.path("config")));
    assert_eq!(ran.stdout, "");
    (ran.code, ran.stderr)
}

#[test]
fn without_a_kubeconfig_it_says_where_one_is_looked_for() {
    let world = World::new();
    let ran = Ran::of(&mut world.bare(&["list"]));
    insta::assert_snapshot!("no_kubeconfig", ran.shown(&world));
    let ran = Ran::of(&mut world.bare(&["list", "--kubeconfig", "none.yaml"]));
    insta::assert_snapshot!("no_such_kubeconfig", ran.shown(&world));
}

#[test]
fn a_name_that_the_kubeconfig_lacks_gets_a_suggestion() {
    let world = World::new();
    let config = kubeconfig("https://127.0.0.1:1", "t", "");
    let (code, said) = told(&world, &config, &["list", "--context", "heer"]);
    assert!(
        code == 2 && said.contains("no context `heer`") && said.contains("did you mean `here`?"),
        "{said}"
    );
    let (code, said) = told(&world, &config, &["list", "--context", "there"]);
    assert!(code == 2 && said.contains("no cluster `none`"), "{said}");
    let (code, said) = told(&world, &config, &["list", "--user", "nobody"]);
    assert!(
        code == 2 && said.contains("no user `nobody`") && said.contains("it has: u"),
        "{said}"
    );
    let (code, said) = told(&world, &config.replace("current-context: here, ", ""), &["list"]);
    assert!(
        code == 2 && said.contains("no current context") && said.contains("here, there"),
        "{said}"
    );
    let (code, said) = told(&world, "{clusters: [", &["list"]);
    assert!(code == 2 && said.contains("cannot use the kubeconfig"), "{said}");
}

#[test]
fn what_keeps_a_server_from_answering_is_told_with_what_to_do() {
    let world = World::new();
    let (server, authority) = server(&world);
    let (code, said) = told(&world, &kubeconfig("https://127.0.0.1:1", "t", ""), &["list"]);
    assert!(
        code == 3 && said.contains("onnection refused") && said.contains("get-contexts"),
        "{said}"
    );
    let (code, said) = told(&world, &kubeconfig(&server, "t", ""), &["list"]);
    assert!(
        code == 3 && said.contains("certificate") && said.contains("help:"),
        "{said}"
    );
    let trusting = format!(", certificate-authority: '{authority}'");
    let (code, said) = told(&world, &kubeconfig(&server, "wrong", &trusting), &["list"]);
    assert!(
        code == 3 && said.contains("(401)") && said.contains("log in"),
        "{said}"
    );
}

#[test]
fn a_server_that_says_nothing_is_not_waited_for_without_end() {
    let world = World::new();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", silent.local_addr().unwrap());
    let (code, said) = told(
        &world,
        &kubeconfig(&address, "t", ""),
        &["list", "--request-timeout", "300ms"],
    );
    assert!(
        code == 3 && said.contains("did not answer within 0.3 s") && said.contains("--request-timeout"),
        "{said}"
    );
}

#[test]
fn what_is_forbidden_is_told_with_verb_and_resource() {
    let world = World::new();
    let mut command = world.bare(&["list", "-n", "kube-system"]);
    let ran = Ran::of(command.env("KUBECONFIG", world.cluster.kubeconfig(User::TenantA)));
    assert_eq!((ran.code, ran.stdout.as_str()), (3, ""));
    let forbidden = "User \"tenant-a\" cannot list resource \"jobflows\" in API group \"flow.volcano.sh\" in the namespace \"kube-system\"";
    assert!(ran.stderr.contains(forbidden), "{}", ran.stderr);
}

#[test]
fn whoever_may_act_as_somebody_else_can() {
    let world = World::new();
    let ran = world.run_as(User::Admin, &["list", "--as", "tenant-b"]);
    assert!(
        ran.code == 3 && ran.stderr.contains("User \"tenant-b\" cannot list"),
        "{ran:?}"
    );
    let ran = world.run_as(
        User::Admin,
        &["list", "--as", "tenant-b", "--as-group", "system:masters"],
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = world.run(&["list", "--as", "admin"]);
    assert!(
        ran.code == 3 && ran.stderr.contains("cannot impersonate"),
        "{ran:?}"
    );
}

#[test]
fn several_kubeconfigs_are_one_and_those_that_are_missing_are_none() {
    let world = World::new();
    let (server, authority) = server(&world);
    let admin = world.cluster.kubeconfig(User::Admin);
    let context = format!(
        "{{contexts: [{{name: mine, context: {{cluster: jobflow-test, user: admin, namespace: {}}}}}]}}",
        world.namespace
    );
    std::fs::write(world.path("more"), context).unwrap();
    let paths = std::env::join_paths([world.path("none"), world.path("more"), admin]).unwrap();
    world.flow("mine", serde_json::json!(null));
    let mut command = world.bare(&["list", "--context", "mine", "-o", "name"]);
    let ran = Ran::of(command.env("KUBECONFIG", paths));
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "jobflow.flow.volcano.sh/mine\n"),
        "{} {server} {authority}",
        ran.stderr
    );
}

#[test]
fn the_plugin_shows_itself_as_kubectl_has_it() {
    let world = World::new();
    let ran = Ran::of(&mut world.bare(&["--help"]));
    assert!(
        ran.stdout.contains("Usage: kubectl jobflow [OPTIONS] <COMMAND>"),
        "{}",
        ran.stdout
    );
    assert!(
        !ran.stdout.contains("\n  run "),
        "runs of this machine are not the plugin's"
    );
    let ran = Ran::of(&mut world.bare(&["wait"]));
    assert!(
        ran.stderr.contains("Usage: kubectl jobflow wait"),
        "{}",
        ran.stderr
    );
}

#[test]
fn kubectl_finds_and_completes_it() {
    let world = World::new();
    world.flow("nightly", serde_json::json!(null));
    let folder = world.path("bin");
    std::fs::create_dir(&folder).unwrap();
    let plugin = env!("CARGO_BIN_EXE_kubectl-jobflow");
    for name in ["kubectl-jobflow", "kubectl_complete-jobflow"] {
        std::os::unix::fs::symlink(plugin, folder.join(name)).unwrap();
    }
    let kubectl = |arguments: &[&str]| {
        let mut command = assert_cmd::Command::new(world.cluster.binaries().kubectl());
        command
            .env_clear()
            .env("PATH", &folder)
            .env("HOME", world.folder.path())
            .env("KUBECONFIG", world.cluster.kubeconfig(User::TenantA))
            .args(arguments);
        Ran::of(&mut command)
    };
    let ran = kubectl(&["jobflow", "list", "-n", &world.namespace, "-o", "name"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "jobflow.flow.volcano.sh/nightly\n"),
        "{}",
        ran.stderr
    );
    let ran = kubectl(&["__complete", "jobflow", "get", "-n", &world.namespace, "nig"]);
    assert!(ran.stdout.contains("nightly\n:4"), "{ran:?}");
    let ran = kubectl(&["__complete", "jobflow", "desc"]);
    assert!(ran.stdout.contains("describe\tShow all"), "{ran:?}");
}

#[test]
fn words_of_a_cluster_need_nothing_before_them_and_those_of_this_machine_stay() {
    let world = World::new();
    world.flow("nightly", serde_json::json!(null));
    let jobflow = |arguments: &[&str]| {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_jobflow"));
        command
            .env_clear()
            .env("HOME", world.folder.path())
            .env("KUBECONFIG", world.cluster.kubeconfig(User::TenantA))
            .args(arguments);
        Ran::of(&mut command)
    };
    for arguments in [
        ["cluster", "list", "-o", "name", "-n", &world.namespace].as_slice(),
        &["list", "-o", "name", "-n", &world.namespace],
    ] {
        let ran = jobflow(arguments);
        assert_eq!(ran.stdout, "jobflow.flow.volcano.sh/nightly\n", "{ran:?}");
    }
    let ran = jobflow(&["logs", "nightly", "prepare"]);
    assert!(ran.stderr.contains("on this machine"), "{ran:?}");
    let ran = jobflow(&["crd"]);
    assert!(
        ran.code == 0 && ran.stdout.starts_with("---\n"),
        "no server is asked: {}",
        ran.stderr
    );
}

#[test]
fn each_command_of_the_plugin_has_a_man_page() {
    let world = World::new();
    let folder = world.path("pages");
    let ran = Ran::of(&mut world.bare(&["man", folder.to_str().unwrap()]));
    assert_eq!(ran.code, 0, "{ran:?}");
    for page in [
        "kubectl-jobflow.1",
        "kubectl-jobflow-why.1",
        "kubectl-jobflow-apply.1",
    ] {
        let text = std::fs::read_to_string(folder.join(page)).unwrap();
        assert!(!text.contains("kubectl-jobflow-help"), "{page}: {text}");
    }
}
