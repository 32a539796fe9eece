//! The machine of a flow, without a server: what it asks for, and what it makes of every answer.

mod frozen;
mod probes;
mod scene;

use jobflow_core::{FlowPhase, NodePhase};
use serde_json::{Value, json};

use crate::client::observer::Finding;
use crate::client::request::Response;
use scene::{Scene, names, refused};

/// How far a scene of one entry `a` has come.
fn read(spec: Value) -> Scene {
    let mut scene = Scene::new(spec);
    assert_eq!(names(&scene.step()), ["ReadFlow"]);
    scene.answer_flow();
    scene
}

fn single() -> Scene {
    read(json!({"flows": [{"name": "a"}]}))
}

/// Up to the create of `a`, which is on its way.
fn created() -> Scene {
    let mut scene = single();
    assert_eq!(names(&scene.step()), ["WriteStatus"]);
    scene.answer_write();
    assert_eq!(names(&scene.step()), ["MarkBirth"]);
    scene.answer_mark();
    assert_eq!(names(&scene.step()), ["CreateJob f-a"]);
    scene
}

#[test]
fn nothing_is_asked_before_the_flow_was_read_in_this_term() {
    let mut scene = Scene::new(json!({"flows": [{"name": "a"}]}));
    assert_eq!(names(&scene.step()), ["ReadFlow"]);
    assert_eq!(names(&scene.step()), Vec::<String>::new(), "one read at a time");
    scene.answer(refused(500, "busy"));
    assert_eq!(names(&scene.step()), Vec::<String>::new());
    scene.later(1_000);
    assert_eq!(names(&scene.step()), ["ReadFlow"]);
}

#[test]
fn the_intent_comes_first_then_the_mark_then_the_job() {
    let mut scene = created();
    let intent = &scene.stored()["nodes"][0];
    assert_eq!(
        (&intent["name"], &intent["phase"], &intent["uid"]),
        (&json!("a"), &json!("Submitting"), &Value::Null)
    );
    scene.answer_job("f-a", "1", "");
    assert_eq!(scene.phase("a"), NodePhase::Submitting, "a plan makes it Queued");
    scene.step();
    assert_eq!(scene.phase("a"), NodePhase::Queued);
}

#[test]
fn a_server_that_drops_the_record_makes_nothing_of_it() {
    let mut scene = single().with_unknown_server();
    let requests = scene.step();
    let sent = scene::body(&requests[0].1);
    assert_eq!(
        sent["status"].get("state"),
        None,
        "no phase is written before the server is known to keep ours"
    );
    scene.answer_dropped();
    assert_eq!(scene.told(), [Finding::SchemaLacksFields]);
    assert_eq!(names(&scene.step()), Vec::<String>::new());
    scene.later(1_000);
    assert_eq!(names(&scene.step()), ["WriteStatus"], "it is tried again");
}

#[test]
fn a_conflict_drops_the_plan_and_reads_the_flow() {
    let mut scene = single();
    scene.step();
    scene.answer(refused(409, "conflict"));
    assert_eq!(names(&scene.step()), ["ReadFlow"]);
    scene.object(|flow| flow.spec.suspend = Some(true));
    scene.answer_flow();
    assert_eq!(names(&scene.step()), Vec::<String>::new(), "suspended by now");
    assert_eq!(scene.phase("a"), NodePhase::Blocked);
}

#[test]
fn any_answer_to_a_create_but_the_job_is_looked_at_before_it_is_judged() {
    let exceeded = "jobs.batch.volcano.sh \"f-a\" is forbidden: exceeded quota: q";
    for (answer, reason) in [
        (refused(409, "already exists"), None),
        (refused(403, exceeded), None),
        (
            refused(
                400,
                "admission webhook \"validatejob.volcano.sh\" denied the request: unable to find job queue",
            ),
            None,
        ),
        (refused(500, "failed calling webhook"), None),
        (Response::Unanswered("timed out".to_owned()), None),
    ] {
        let _: Option<()> = reason;
        let words = format!("{answer:?}");
        let mut scene = created();
        scene.answer(answer);
        assert_eq!(names(&scene.step()), ["ReadJob f-a"], "{words}");
        scene.answer_job("f-a", "1", "");
        scene.step();
        assert_eq!(
            scene.phase("a"),
            NodePhase::Queued,
            "it is there, and ours: {words}"
        );
    }
}

#[test]
fn a_refusal_counts_once_a_read_shows_no_job() {
    let quota = "jobs.batch.volcano.sh \"f-a\" is forbidden: exceeded quota: q";
    let queue =
        "admission webhook \"validatejob.volcano.sh\" denied the request: unable to find job queue: x;";
    for (code, message, phase, reason) in [
        (422, "is invalid", NodePhase::Failed, "CreateRefused"),
        (413, "too large", NodePhase::Failed, "CreateRefused"),
        (400, queue, NodePhase::Submitting, "QueueUnavailable"),
        (403, quota, NodePhase::Submitting, "QuotaExceeded"),
        (403, "forbidden", NodePhase::Submitting, "NotPermitted"),
        (429, "slow down", NodePhase::Submitting, "ServerUnavailable"),
        (503, "down", NodePhase::Submitting, "ServerUnavailable"),
    ] {
        let mut scene = created();
        scene.answer(refused(code, message));
        scene.step();
        scene.answer_absent("f-a");
        let next = names(&scene.step());
        if phase == NodePhase::Failed {
            assert_eq!(next, ["WriteStatus"], "{code}");
            scene.answer_write();
        } else {
            assert_eq!(next, Vec::<String>::new(), "{code} waits");
        }
        assert_eq!(
            scene.node("a"),
            (phase, Some(reason.to_owned())),
            "{code} {message}"
        );
    }
}

#[test]
fn a_create_that_was_not_sent_is_sent_later_without_a_look() {
    let mut scene = created();
    scene.answer(Response::Unsent("the term ends".to_owned()));
    assert_eq!(names(&scene.step()), Vec::<String>::new());
    scene.later(1_000);
    assert_eq!(names(&scene.step()), ["CreateJob f-a"]);
}

#[test]
fn an_inherited_intent_is_looked_at_before_it_is_posted() {
    let mut scene = created().restarted();
    assert_eq!(names(&scene.step()), ["ReadFlow"]);
    scene.answer_flow();
    assert_eq!(names(&scene.step()), ["ReadJob f-a"]);
    scene.answer_absent("f-a");
    assert_eq!(names(&scene.step()), ["CreateJob f-a"]);
}

#[test]
fn many_inherited_intents_are_looked_at_by_one_list() {
    let entries: Vec<Value> = (0..20).map(|at| json!({"name": format!("n{at}")})).collect();
    let mut scene = read(json!({"flows": entries}));
    scene.step();
    scene.answer_write();
    scene.step();
    let mut scene = scene.restarted();
    scene.step();
    scene.answer_flow();
    assert_eq!(
        names(&scene.step()),
        ["ListJobs volcano.sh/createdByJobFlow=default.f"]
    );
}

#[test]
fn a_job_that_the_store_lost_is_read_before_its_node_fails() {
    let mut scene = running();
    scene.job_gone("f-a", "1", "Running");
    assert_eq!(names(&scene.step()), ["ReadJob f-a"]);
    scene.answer(refused(500, "busy"));
    assert_eq!(scene.phase("a"), NodePhase::Running, "a refusal says nothing");
    scene.later(1_000);
    assert_eq!(names(&scene.step()), ["ReadJob f-a"]);
    scene.answer_absent("f-a");
    assert_eq!(names(&scene.step()), ["WriteStatus"]);
    scene.answer_write();
    assert_eq!(
        scene.node("a"),
        (NodePhase::Failed, Some("JobDeleted".to_owned()))
    );
}

#[test]
fn an_end_that_was_seen_is_the_outcome_of_a_job_that_is_gone() {
    let mut scene = running();
    scene.job_gone("f-a", "1", "Completed");
    scene.step();
    scene.answer_absent("f-a");
    scene.step();
    scene.answer_write();
    assert_eq!(scene.phase("a"), NodePhase::Succeeded);
    assert_eq!(scene.flow_phase(), FlowPhase::Succeed);
}

#[test]
fn another_uid_under_the_name_is_a_loss_and_a_stray() {
    let mut scene = running();
    scene.job_gone("f-a", "1", "Running");
    scene.step();
    scene.answer_job("f-a", "2", "Running");
    let asked = names(&scene.step());
    assert_eq!(asked, ["WriteStatus"]);
    scene.answer_write();
    assert_eq!(names(&scene.step()), ["DeleteJob f-a 2"]);
    assert_eq!(
        scene.node("a"),
        (NodePhase::Failed, Some("JobDeleted".to_owned()))
    );
}

#[test]
fn a_foreign_job_takes_the_name_for_good_unless_it_is_leaving() {
    for (owner, deleting, asks_owner, phase, reason) in [
        (None, false, false, NodePhase::Failed, "NameConflict"),
        (None, true, false, NodePhase::Blocked, "NameTaken"),
        (Some("gone"), false, true, NodePhase::Blocked, "NameTaken"),
    ] {
        let mut scene = created();
        scene.answer(refused(409, "already exists"));
        scene.step();
        scene.answer_foreign("f-a", owner, deleting);
        if asks_owner {
            assert_eq!(names(&scene.step()), ["ReadOwner old gone"]);
            scene.answer_absent("old");
        }
        scene.step();
        scene.answer_write();
        assert_eq!(scene.node("a"), (phase, Some(reason.to_owned())));
    }
}

/// `a` runs, and its record says so.
fn running() -> Scene {
    let mut scene = created();
    scene.answer_job("f-a", "1", "");
    scene.job("f-a", "1", "Running");
    scene.step();
    scene.later(1_000);
    assert_eq!(
        names(&scene.step()),
        ["WriteStatus"],
        "idle changes go alone after a second"
    );
    scene.answer_write();
    assert_eq!(scene.phase("a"), NodePhase::Running);
    scene
}

#[test]
fn a_stop_asks_by_command_again_and_then_deletes() {
    let mut scene = running();
    scene.object(|flow| flow.spec.cancel = Some(crate::types::Cancel::default()));
    scene.show_flow();
    assert_eq!(
        names(&scene.step()),
        ["WriteStatus"],
        "the stop is recorded before its effect"
    );
    scene.answer_write();
    assert_eq!(names(&scene.step()), ["TerminateJob f-a"]);
    scene.answer(Response::Done);
    scene.later(29_000);
    assert!(!names(&scene.step()).contains(&"TerminateJob f-a".to_owned()));
    scene.later(1_000);
    assert_eq!(names(&scene.step()), ["TerminateJob f-a"]);
    scene.answer(Response::Done);
    scene.later(90_000);
    assert_eq!(names(&scene.step()), ["DeleteJob f-a 1"]);
    scene.answer_job_leaving("f-a", "1");
    scene.later(60_000);
    assert_eq!(
        names(&scene.step())
            .iter()
            .filter(|name| name.contains("Job"))
            .count(),
        0,
        "it is on its way out"
    );
}

#[test]
fn where_commands_cannot_be_created_jobs_are_deleted() {
    let mut scene = running();
    scene.object(|flow| flow.spec.cancel = Some(crate::types::Cancel::default()));
    scene.show_flow();
    scene.step();
    scene.answer_write();
    scene.step();
    scene.answer(refused(404, "404 page not found"));
    assert_eq!(names(&scene.step()), ["DeleteJob f-a 1"]);
}

#[test]
fn a_name_stays_taken_while_a_lost_create_may_arrive() {
    let mut scene = created();
    scene.answer(Response::Unanswered("connection lost".to_owned()));
    scene.step();
    scene.answer_job("f-a", "1", "Aborted");
    scene.object(|flow| flow.spec.cancel = Some(crate::types::Cancel::default()));
    scene.show_flow();
    scene.step();
    scene.answer_write();
    assert_eq!(
        names(&scene.step()),
        Vec::<String>::new(),
        "an Aborted Job is deleted at once, but not now"
    );
    scene.later(60_000);
    assert!(names(&scene.step()).contains(&"DeleteJob f-a 1".to_owned()));
}

#[test]
fn the_answer_to_a_lost_write_is_the_flow_itself() {
    let mut scene = single();
    let requests = scene.step();
    scene.store(&scene::body(&requests[0].1)["status"]);
    scene.answer(Response::Unanswered("connection lost".to_owned()));
    assert_eq!(names(&scene.step()), ["ReadFlow"]);
    scene.answer_flow();
    assert_eq!(scene.phase("a"), NodePhase::Submitting, "it was stored");
    assert_eq!(
        names(&scene.step()),
        ["ReadJob f-a"],
        "but nobody knows what became of it meanwhile"
    );
}

#[test]
fn a_deleted_flow_is_left_alone() {
    let mut scene = running();
    scene.delete_flow();
    scene.show_flow();
    scene.job("f-a", "1", "Failed");
    assert_eq!(names(&scene.step()), Vec::<String>::new());
    assert!(scene.driver.is_gone());
}

#[test]
fn an_invalid_flow_fails_and_a_valid_edit_starts_it() {
    let mut scene = read(json!({"flows": [{"name": "a", "dependsOn": {"targets": ["b"]}}]}));
    assert_eq!(names(&scene.step()), ["WriteStatus"]);
    scene.answer_write();
    let stored = scene.stored();
    assert_eq!(stored["state"]["phase"], "Failed", "{stored:#}");
    assert_eq!(names(&scene.step()), Vec::<String>::new());
    scene.edit(json!({"flows": [{"name": "a"}]}));
    scene.show_flow();
    assert_eq!(names(&scene.step()), ["WriteStatus"]);
    scene.answer_write();
    assert_eq!(scene.phase("a"), NodePhase::Submitting);
}

#[test]
fn an_invalid_edit_starts_nothing_and_ends_nothing() {
    let mut scene = running();
    scene.edit(json!({"flows": [{"name": "a"}, {"name": "b", "dependsOn": {"targets": ["c"]}}]}));
    scene.show_flow();
    scene.step();
    scene.later(1_000);
    scene.job("f-a", "1", "Completed");
    let asked = names(&scene.step());
    assert_eq!(asked, ["WriteStatus"]);
    scene.answer_write();
    assert_eq!(scene.phase("a"), NodePhase::Succeeded, "what runs is followed");
    assert_eq!(scene.flow_phase(), FlowPhase::Running);
    let conditions = scene.stored()["flowConditions"].to_string();
    assert!(conditions.contains("unknown-reference"), "{conditions}");
}

#[test]
fn an_edit_that_moves_entries_keeps_what_is_known_of_each() {
    let mut scene = running();
    scene.edit(json!({"flows": [{"name": "z"}, {"name": "a"}]}));
    scene.show_flow();
    assert_eq!(names(&scene.step()), ["WriteStatus"]);
    scene.answer_write();
    assert_eq!(
        (scene.phase("a"), scene.phase("z")),
        (NodePhase::Running, NodePhase::Submitting)
    );
    assert_eq!(names(&scene.step()), ["CreateJob f-z"]);
}

#[test]
fn a_missing_template_holds_back_its_entry_until_it_comes() {
    let mut scene = Scene::without_templates(
        json!({"flows": [{"name": "a"}, {"name": "b", "jobSpec": scene::job_spec()}]}),
    );
    scene.step();
    scene.answer_flow();
    scene.step();
    scene.answer_write();
    assert_eq!(
        scene.node("a"),
        (NodePhase::Blocked, Some("TemplateNotFound".to_owned()))
    );
    assert_eq!(scene.phase("b"), NodePhase::Submitting, "the rest goes on");
    scene.add_template("a");
    assert_eq!(
        names(&scene.step()),
        ["MarkBirth"],
        "nothing else is written meanwhile"
    );
    scene.answer_mark();
    assert!(names(&scene.step()).contains(&"WriteStatus".to_owned()));
}

#[test]
fn a_lost_record_is_made_anew_from_a_live_list_and_starts_nothing() {
    let mut scene = running();
    scene.lose_status();
    let mut scene = scene.restarted();
    scene.step();
    scene.answer_flow();
    assert_eq!(
        names(&scene.step()),
        ["ListJobs volcano.sh/createdByJobFlow=default.f"]
    );
    scene.answer_list(&[("f-a", "1", "Running")]);
    assert_eq!(names(&scene.step()), ["WriteStatus"]);
    scene.answer_write();
    assert_eq!(scene.phase("a"), NodePhase::Running);
    assert_eq!(scene.told(), [Finding::LedgerLost]);
}

#[test]
fn a_flow_of_volcanos_is_gone_on_with_in_one_write_that_starts_nothing() {
    let mut scene = read(json!({"flows": [{"name": "a"}, {"name": "b", "dependsOn": {"targets": ["a"]}}]}));
    scene.step();
    let mut scene = scene.started_by_volcano("Running");
    scene.step();
    scene.answer_flow();
    assert_eq!(names(&scene.step()).len(), 1);
    scene.answer_list(&[("f-b", "2", "Running")]);
    assert_eq!(names(&scene.step()), ["WriteStatus"]);
    scene.answer_write();
    assert_eq!(
        (scene.phase("a"), scene.phase("b")),
        (NodePhase::Succeeded, NodePhase::Running)
    );
}

#[test]
fn a_flow_of_volcanos_is_left_alone_where_that_is_wished() {
    let scene = read(json!({"flows": [{"name": "a"}]}));
    let mut scene = scene.started_by_volcano("Running");
    scene.settings.take_over = false;
    assert_eq!(names(&scene.step()), Vec::<String>::new());
    assert_eq!(scene.told(), [Finding::NotTakenOver]);
}

#[test]
fn a_dry_run_tells_and_asks_for_nothing() {
    let mut scene = single();
    scene.settings.dry_run = true;
    assert_eq!(names(&scene.step()), Vec::<String>::new());
    assert_eq!(scene.planned(), 1);
    scene.step();
    assert_eq!(scene.planned(), 1, "the same plan is told once");
}

#[test]
fn a_status_that_is_too_large_parks_the_flow_and_makes_no_job() {
    for (code, message) in [
        (413, "Request entity too large: limit is 3145728"),
        (500, "etcdserver: request is too large"),
    ] {
        let mut scene = single();
        scene.step();
        scene.answer(refused(code, message));
        assert_eq!(scene.told(), [Finding::StatusTooLarge]);
        assert_eq!(names(&scene.step()), Vec::<String>::new());
    }
}

#[test]
fn a_write_that_the_server_refuses_waits_and_is_told() {
    let mut scene = single();
    scene.step();
    scene.answer(refused(422, "status.state.phase: Unsupported value"));
    assert!(
        matches!(&scene.told()[..], [Finding::StatusRefused(message)] if message.contains("Unsupported"))
    );
    assert_eq!(names(&scene.step()), Vec::<String>::new());
    scene.later(1_000);
    assert_eq!(names(&scene.step()), ["WriteStatus"]);
}

#[test]
fn ends_that_release_nothing_are_gathered() {
    let entries: Vec<Value> = (0..4).map(|at| json!({"name": format!("n{at}")})).collect();
    let mut scene = read(json!({"flows": entries}));
    scene.step();
    scene.answer_write();
    scene.step();
    scene.answer_mark();
    scene.step();
    for at in 0..4 {
        scene.answer_job(&format!("f-n{at}"), &at.to_string(), "");
    }
    scene.later(1_000);
    scene.job("f-n0", "0", "Completed");
    assert_eq!(names(&scene.step()), ["WriteStatus"]);
    scene.answer_write();
    scene.later(10);
    scene.job("f-n1", "1", "Completed");
    assert_eq!(names(&scene.step()), Vec::<String>::new());
    scene.later(100);
    scene.job("f-n2", "2", "Completed");
    assert_eq!(names(&scene.step()), Vec::<String>::new());
    scene.later(90);
    assert_eq!(names(&scene.step()), ["WriteStatus"], "both in one write");
    scene.answer_write();
    scene.later(10);
    scene.job("f-n3", "3", "Completed");
    assert_eq!(
        names(&scene.step()),
        ["WriteStatus"],
        "the end of the flow waits for nobody"
    );
}

#[test]
fn an_ended_flow_costs_a_new_process_no_request() {
    let mut scene = running();
    scene.job("f-a", "1", "Completed");
    scene.step();
    scene.answer_write();
    let mut scene = scene.restarted();
    scene.job("f-a", "1", "Completed");
    assert_eq!(names(&scene.step()), Vec::<String>::new());
    assert_eq!(scene.flow_phase(), FlowPhase::Succeed);
}

#[test]
fn what_a_job_tells_after_the_end_is_shown_too() {
    let mut scene = running();
    scene.job("f-a", "1", "Completed");
    scene.step();
    scene.answer_write();
    assert_eq!(scene.flow_phase(), FlowPhase::Succeed);
    scene.job_with("f-a", "1", "Completed", &json!({"runningDuration": "5s"}));
    assert_eq!(names(&scene.step()), Vec::<String>::new());
    scene.later(1_000);
    assert_eq!(names(&scene.step()), ["WriteStatus"]);
    scene.answer_write();
    assert_eq!(scene.stored()["conditions"]["f-a"]["runningDuration"], "5s");
    scene.later(60_000);
    assert_eq!(names(&scene.step()), Vec::<String>::new());
}

#[test]
fn an_end_that_is_seen_together_with_its_rewrite_keeps_its_pods() {
    let mut scene = running();
    scene.succeeds("f-a", "1");
    scene.step();
    scene.answer_write();
    assert_eq!(scene.phase("a"), NodePhase::Succeeded);
    let node = &scene.record().nodes[jobflow_core::NodeId(0)];
    let succeeded = node.tasks.as_deref().map(|tasks| tasks[0].counts.succeeded);
    assert_eq!(succeeded, Some(1));
}
