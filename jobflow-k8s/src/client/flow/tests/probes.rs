//! What a flow asks of pods, and what it makes of the answers.

use jobflow_core::NodePhase;
use jobflow_core::facts::{Answer, FactKey};
use jobflow_core::probe::ProbeAnswer;
use serde_json::json;

use super::super::Input;
use super::scene::{Scene, names};

/// `a`, whose Job runs with a pod, and `b`, which waits until its port answers.
fn running() -> Scene {
    let probe = json!({"tcpSocketList": [{"port": 80}]});
    let depends_on = json!({"targets": ["a"], "probe": probe});
    let mut scene = Scene::new(json!({"flows": [{"name": "a"}, {"name": "b", "dependsOn": depends_on}]}));
    scene.step();
    scene.answer_flow();
    scene.step();
    scene.answer_write();
    scene.step();
    scene.answer_mark();
    assert_eq!(names(&scene.step()), ["CreateJob f-a"]);
    scene.answer_job("f-a", "1", "");
    scene.step();
    assert_eq!(scene.probes, [], "no pod runs yet");
    scene.runs("f-a", "1");
    scene.step();
    scene
}

#[test]
fn an_answer_counts_for_the_job_that_was_asked_and_no_other() {
    let mut scene = running();
    let [(key, job)] = scene.probes.clone().try_into().unwrap();
    assert_eq!(job, "1");
    assert!(matches!(&key, FactKey::Probe { probe, .. } if probe.port == 80));
    let answer = Answer::Probe(ProbeAnswer::Success);
    scene.receive(Input::Probed(key.clone(), "9".to_owned(), answer.clone()));
    assert_eq!(names(&scene.step()), [""; 0]);
    scene.receive(Input::Probed(key, job, answer));
    assert_eq!(names(&scene.step()), ["WriteStatus"]);
    scene.answer_write();
    scene.step();
    scene.answer_job("f-b", "2", "");
    scene.step();
    assert_eq!(scene.probes, [], "what has held isn't asked any more");
}

#[test]
fn the_last_answer_is_written_for_people_once_a_second_and_decides_nothing() {
    let mut scene = running();
    let [(key, job)] = scene.probes.clone().try_into().unwrap();
    scene.step();
    scene.later(1_000);
    assert_eq!(names(&scene.step()), ["WriteStatus"]);
    scene.answer_write();
    let told = |scene: &Scene| scene.stored()["nodes"][1]["message"].clone();
    assert_eq!(told(&scene), json!(null), "nobody has answered");
    let hear = |scene: &mut Scene, answer| {
        scene.receive(Input::Probed(key.clone(), job.clone(), Answer::Probe(answer)));
        assert_eq!(names(&scene.step()), [""; 0]);
        scene.later(1_000);
    };
    hear(&mut scene, ProbeAnswer::Refused);
    assert_eq!(names(&scene.step()), ["WriteStatus"]);
    scene.answer_write();
    assert_eq!(told(&scene), "a refuses the connection");
    hear(&mut scene, ProbeAnswer::Refused);
    assert_eq!(names(&scene.step()), [""; 0], "it says nothing new");
    hear(&mut scene, ProbeAnswer::Status(503));
    assert_eq!(names(&scene.step()), ["WriteStatus"]);
    scene.answer_write();
    assert_eq!(told(&scene), "a answers with status 503");
    let mut scene = scene.restarted();
    scene.step();
    scene.answer_flow();
    scene.step();
    let node = scene.record().nodes.iter().nth(1).unwrap().1;
    assert_eq!(node.message, None);
}

#[test]
fn where_probes_are_switched_off_nothing_is_asked() {
    let mut scene = running();
    scene.settings.probes = false;
    scene.runs("f-a", "1");
    scene.step();
    assert_eq!(scene.probes, []);
    assert_eq!(scene.phase("b"), NodePhase::Waiting);
}
