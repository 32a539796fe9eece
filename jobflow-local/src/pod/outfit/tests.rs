use super::*;
use crate::pod::{
    addresses::{AddressBook, Range},
    identity::{JobIdentity, PodPlace},
};
use cap_std::{ambient_authority, fs::Dir};
use jobflow_k8s::job::JobView;
use serde_json::{Value, json};

struct World {
    _folder: tempfile::TempDir,
    site: Site,
    run: Dir,
}

fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let run = Dir::open_ambient_dir(&path, ambient_authority()).unwrap();
    let site = Site::new(
        path,
        "/work".into(),
        vec!["jobflow".into(), "__enter".into()],
        Own {
            user: 1000,
            group: 1000,
        },
    );
    World {
        _folder: folder,
        site,
        run,
    }
}

fn work_out(site: &Site, container: Value, volumes: Value) -> Result<Outfit, Vec<String>> {
    let mut container = container;
    container["name"] = json!("main");
    let template = json!({"spec": {"containers": [container], "volumes": volumes}});
    let template = PodTemplate::read(&template).unwrap();
    let identity = JobIdentity {
        name: "j".into(),
        namespace: "n".into(),
        uid: "u".into(),
        queue: "default".into(),
    };
    let addresses = AddressBook::of(Range::FIRST).take(1).unwrap();
    let spec = json!({"tasks": [{"name": "w", "replicas": 1}], "plugins": {"svc": []},
        "volumes": [{"mountPath": "/shared", "volumeClaimName": "shared"}]});
    let view = JobView::of(serde_json::from_value(spec.clone()).unwrap());
    let job = JobShape::read(spec.as_object().unwrap(), &view, identity.clone(), addresses).unwrap();
    let place = PodPlace {
        task: "w",
        index: 0,
        version: 0,
        retry_count: 0,
    };
    let pod = PodIdentity::new(
        &identity,
        place,
        &template.metadata,
        addresses.of(0),
        "here",
        None,
    );
    let which = Which {
        job: &job,
        template: &template,
        pod: &pod,
        folder: "3-0-1.w-0-0",
        task: 0,
        index: 0,
        container: 0,
        run: 0,
    };
    outfit(site, which).map_err(|faults| faults.iter().map(ToString::to_string).collect())
}

#[test]
fn a_working_folder_in_a_mount_is_the_real_one() {
    let World { _folder, site, run } = world();
    let container = json!({"command": ["ls"], "workingDir": "/data/in", "volumeMounts": [{"name": "d", "mountPath": "/data", "subPath": "s"}]});
    let volumes = json!([{"name": "d", "persistentVolumeClaim": {"claimName": "c"}}]);
    let task = work_out(&site, container, volumes)
        .unwrap()
        .lay_out(&site, &run)
        .unwrap();
    assert_eq!(task.cwd, site.run.join("volumes/claims/c/s/in"));
    assert!(task.cwd.is_dir());
    let hosts = std::fs::read_to_string(site.run.join("volumes/jobs/j/svc/w.host")).unwrap();
    assert_eq!(hosts, "127.1.0.1");
}

#[test]
fn an_absolute_mount_path_is_refused_with_the_ways_out() {
    let World {
        _folder,
        mut site,
        run: _,
    } = world();
    let container = json!({"command": ["cat", "/shared/a"]});
    let faults = work_out(&site, container.clone(), json!([])).unwrap_err();
    assert_eq!(faults.len(), 1);
    for way in ["workingDir", "--map /shared=/shared", "--isolate"] {
        assert!(faults[0].contains(way), "{}", faults[0]);
    }
    site.volumes.maps = vec![("/shared".into(), "/shared".into())];
    assert!(work_out(&site, container.clone(), json!([])).is_ok());
    site.volumes.maps = Vec::new();
    site.isolate = true;
    assert!(work_out(&site, container, json!([])).is_ok());
}

#[test]
fn a_map_gives_a_claim_or_a_path_a_folder_of_the_users() {
    let World {
        _folder,
        mut site,
        run,
    } = world();
    let mine = tempfile::tempdir().unwrap();
    site.volumes.maps = vec![
        ("shared".into(), mine.path().into()),
        ("/app".into(), mine.path().into()),
    ];
    for working_folder in ["/shared", "/app"] {
        let container = json!({"command": ["ls"], "workingDir": working_folder});
        let task = work_out(&site, container, json!([]))
            .unwrap()
            .lay_out(&site, &run)
            .unwrap();
        assert_eq!(task.cwd, mine.path());
    }
    let faults = work_out(
        &site,
        json!({"command": ["ls"], "workingDir": "/other"}),
        json!([]),
    )
    .unwrap_err();
    assert!(faults[0].contains("--map /other=DIR"), "{}", faults[0]);
}

#[test]
fn the_hosts_of_a_job_are_files_of_the_run() {
    let World { _folder, site, run } = world();
    let container = json!({"command": ["sh", "-c", "cat /etc/volcano/w.host"]});
    let task = work_out(&site, container, json!([]))
        .unwrap()
        .lay_out(&site, &run)
        .unwrap();
    let folder = site.run.join("volumes/jobs/j/svc");
    assert_eq!(task.argv[2], format!("cat {}/w.host", folder.display()));
    let variable = task.env.iter().find(|(name, _)| name == SVC_VARIABLE).unwrap();
    assert_eq!(Path::new(&variable.1), folder);
}

#[test]
fn the_termination_message_goes_to_a_file_of_the_run() {
    let World { _folder, site, run } = world();
    let container = json!({"command": ["sh", "-c", "echo hi > /dev/termination-log"]});
    let outfit = work_out(&site, container, json!([])).unwrap();
    let task = outfit.lay_out(&site, &run).unwrap();
    let real = site.run.join("messages/3-0-1.w-0-0.main.0");
    assert_eq!(task.argv[2], format!("echo hi > {}", real.display()));
    let message = |policy, failed| termination_message(&run, outfit.names(), policy, failed);
    std::fs::create_dir_all(site.run.join("logs/3-0-1.w-0-0")).unwrap();
    std::fs::write(site.run.join(&outfit.names().log), "last words\n").unwrap();
    use crate::pod::template::TerminationMessagePolicy::{FallbackToLogsOnError, File};
    assert_eq!(message(File, true), "");
    assert_eq!(message(FallbackToLogsOnError, false), "");
    assert_eq!(message(FallbackToLogsOnError, true), "last words");
    std::fs::write(&real, "x".repeat(5000)).unwrap();
    assert_eq!(message(File, false).len(), 4096);
    std::fs::remove_file(&real).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &real).unwrap();
    assert_eq!(message(File, false), "");
}

#[test]
fn volumes_of_files_have_their_files() {
    let World {
        _folder,
        mut site,
        run,
    } = world();
    let secret = json!({"kind": "Secret", "metadata": {"name": "s"}, "stringData": {"key": "pw"}});
    site.objects.add(&secret).unwrap();
    let container =
        json!({"command": ["ls"], "workingDir": "/p", "volumeMounts": [{"name": "p", "mountPath": "/p"}]});
    let volumes = json!([{"name": "p", "projected": {"defaultMode": 384, "sources": [
        {"secret": {"name": "s", "items": [{"key": "key", "path": "a/b"}]}},
        {"downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]}}]}}]);
    let outfit = work_out(&site, container, volumes).unwrap();
    assert!(!format!("{outfit:?}").contains("pw"));
    let task = outfit.lay_out(&site, &run).unwrap();
    assert_eq!(std::fs::read_to_string(task.cwd.join("a/b")).unwrap(), "pw");
    assert_eq!(std::fs::read_to_string(task.cwd.join("name")).unwrap(), "j-w-0");
}

#[test]
fn hostile_paths_and_unknown_volumes_are_named() {
    let World {
        _folder,
        site,
        run: _,
    } = world();
    let mount = |name: &str, path: &str, sub: &str| json!({"name": name, "mountPath": path, "subPath": sub});
    let container = json!({"command": ["ls"], "volumeMounts": [
        mount("a", "/a/../../etc", ""), mount("a", "/a", "../.."), mount("nfs", "/n", ""), mount("none", "/x", ""),
        mount("evil", "/e", ""), mount("socket", "/s", "")]});
    let volumes = json!([{"name": "a", "emptyDir": {}}, {"name": "nfs", "nfs": {"server": "x"}},
        {"name": "evil", "persistentVolumeClaim": {"claimName": "../../etc"}},
        {"name": "socket", "hostPath": {"path": "/run/docker.sock", "type": "Socket"}}]);
    let faults = work_out(&site, container, volumes).unwrap_err();
    assert_eq!(faults.len(), 6, "{faults:?}");
    assert!(
        faults[5].contains("--allow-host-path /run/docker.sock"),
        "{}",
        faults[5]
    );
}

#[test]
fn the_real_folder_of_the_machine_only_when_allowed() {
    let World {
        _folder,
        mut site,
        run: _,
    } = world();
    let container =
        json!({"command": ["ls"], "workingDir": "/h", "volumeMounts": [{"name": "h", "mountPath": "/h"}]});
    let volumes = json!([{"name": "h", "hostPath": {"path": "/srv/data/x"}}]);
    let cwd = |site: &Site| work_out(site, container.clone(), volumes.clone()).unwrap().cwd;
    assert_eq!(cwd(&site), site.run.join("volumes/host/srv/data/x"));
    site.volumes.host_prefixes = vec!["/srv/data".into()];
    assert_eq!(cwd(&site), Path::new("/srv/data/x"));
}

#[test]
fn another_user_goes_through_the_helper_and_finds_open_folders() {
    use std::os::unix::fs::PermissionsExt;
    let World {
        _folder,
        mut site,
        run,
    } = world();
    site.own = Own::default();
    let container = json!({"command": ["id"], "securityContext": {"runAsUser": 7}, "workingDir": "/v",
        "volumeMounts": [{"name": "v", "mountPath": "/v"}]});
    let volumes = json!([{"name": "v", "emptyDir": {}}]);
    let task = work_out(&site, container.clone(), volumes.clone())
        .unwrap()
        .lay_out(&site, &run)
        .unwrap();
    assert_eq!(task.uid, None);
    let plan: crate::enter::EnterPlan = serde_json::from_str(&task.argv[2]).unwrap();
    assert_eq!((plan.user, plan.group), (Some(7), None));
    let mode = plan.cwd.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o777);
    assert!(task.env.contains(&("HOME".to_owned(), "/".to_owned())));

    site.enter.clear();
    let task = work_out(&site, container, volumes)
        .unwrap()
        .lay_out(&site, &run)
        .unwrap();
    assert_eq!(
        (task.uid, task.argv.as_slice()),
        (Some(7), &["id".to_owned()][..])
    );
    let container = json!({"command": ["id"], "securityContext": {"allowPrivilegeEscalation": false}});
    assert_eq!(work_out(&site, container, json!([])).unwrap_err().len(), 1);
}
