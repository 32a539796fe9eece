use super::*;

fn typed(arguments: &[&str]) -> Arguments {
    Arguments::try_parse_from(["jobflow-controller"].iter().chain(arguments)).unwrap()
}

#[test]
fn the_definitions_fit_together() {
    Arguments::command().debug_assert();
    documented().debug_assert();
}

#[test]
fn the_defaults_are_right_and_those_of_kubernetes_own_controllers() {
    let settings = typed(&[]).settings().unwrap();
    let lease = settings.lease.unwrap();
    assert_eq!(lease.timings, crate::lease::Timings::default());
    assert!(settings.namespaces.is_empty() && settings.take_over && !settings.dry_run && settings.events);
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let wrong = [
        "--namespace=Upper,ok,-a",
        "--own-namespace=yes",
        "--concurrency=0",
        "--status-interval=1",
        "--take-over=maybe",
        "--commands=",
        "--pods=some",
        "--probes=1",
        "--deny-probes=10.0.0.1,node-1",
        "--streaming-lists=true",
        "--shutdown-grace=forever",
        "--leader-elect=1",
        "--lease-name=_",
        "--lease-namespace=a.b",
        "--lease-duration=15",
        "--health-address=:8081",
        "--metrics-address=localhost",
        "--log-format=xml",
        "--log-level=kube=loud",
        "--events=\u{1b}[31m",
    ];
    let refused = typed(&wrong).settings().unwrap_err();
    let named: Vec<_> = refused.0.iter().map(|fault| fault.argument.as_str()).collect();
    let expected: Vec<_> = std::iter::once("--namespace")
        .chain(wrong.iter().filter_map(|argument| argument.split('=').next()))
        .collect();
    assert_eq!(named, expected);
    assert!(!refused.to_string().contains('\u{1b}'));
    assert!(
        refused
            .to_string()
            .contains(r#"--concurrency: "0" is not a number from 1 to 256"#)
    );
}

#[test]
fn times_and_addresses_that_don_t_fit_together_are_told() {
    let wrong = [
        "--lease-duration=10s",
        "--lease-renew-deadline=20s",
        "--lease-retry-period=10s",
        "--health-address=127.0.0.1:1",
        "--metrics-address=127.0.0.1:1",
    ];
    let refused = typed(&wrong).settings().unwrap_err();
    let named: Vec<_> = refused.0.iter().map(|fault| fault.argument.as_str()).collect();
    assert_eq!(
        named,
        [
            "--lease-renew-deadline",
            "--lease-retry-period",
            "--metrics-address"
        ]
    );
}

#[test]
fn every_argument_but_those_that_print_has_an_environment_variable() {
    for argument in Arguments::command().get_arguments() {
        let name = argument.get_long().unwrap_or_default();
        if matches!(name, "help" | "version" | "dump-config") {
            continue;
        }
        let expected = format!("JOBFLOW_CONTROLLER_{}", name.to_uppercase().replace('-', "_"));
        let found = argument
            .get_env()
            .map(|variable| variable.to_string_lossy().into_owned());
        assert_eq!(found, Some(expected));
    }
}
