//! Patches against the real API server: 500 generated pairs of a pod template and a strategic merge patch give what
//! the server makes of them.
//!
//! The server gets the patch as it is, but where it sets a member of a union: there it is told in so many words to drop
//! the other members, which is where a patch of ours differs. What we merge goes through the server too, so that
//! both have its defaults; a merge that it refuses must be refused of ours as well.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says so when something is missing"
)]

#[path = "patch_differential/dice.rs"]
mod dice;
#[path = "patch_differential/generate.rs"]
mod generate;
#[path = "patch_differential/unions.rs"]
mod unions;

use futures::{StreamExt, stream};
use jobflow_k8s::patch::{Kind, merge};
use jobflow_test_cluster::{ControlPlane, User};
use k8s_openapi::api::core::v1::PodTemplate;
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::{Map, Value, json};

use dice::Dice;

/// How many pairs the server must take.
const TAKEN: usize = 500;
/// How many are generated at most.
const MOST: u64 = 1500;
const AT_ONCE: usize = 8;

/// What became of a pair.
#[derive(Debug, PartialEq, Eq)]
enum Ending {
    /// Both merges gave the same template.
    Equal,
    /// The server takes neither.
    Refused,
}

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_patches_give_what_the_api_server_makes_of_them() {
    let cluster = ControlPlane::shared().unwrap();
    let namespace = cluster.namespace("patches").await.unwrap();
    let client = cluster.client(User::Admin).await.unwrap();
    let api: Api<PodTemplate> = Api::namespaced(client, &namespace);
    let mut pairs = stream::iter(0..MOST)
        .map(|seed| pair(&api, seed))
        .buffered(AT_ONCE);
    let (mut equal, mut refused) = (0, 0);
    while let Some(ending) = pairs.next().await {
        match ending {
            Ending::Equal => equal += 1,
            Ending::Refused => refused += 1,
        }
        if equal == TAKEN {
            break;
        }
    }
    println!("{equal} pairs with equal results, {refused} that the server refuses either way");
    assert_eq!(equal, TAKEN, "too many pairs are refused: {refused}");
}

/// Merges one pair in both ways.
async fn pair(api: &Api<PodTemplate>, seed: u64) -> Ending {
    let mut dice = Dice::new(seed);
    let original = generate::template(&mut dice);
    let stored = create(api, &format!("pair-{seed}"), &original, false)
        .await
        .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{original:#}"));
    let original = template_of(&stored);
    let patch = generate::patch(&mut dice, &original);
    let theirs = api
        .patch(
            &stored.name_any(),
            &PatchParams {
                dry_run: true,
                ..PatchParams::default()
            },
            &Patch::Strategic(json!({ "template": unions::with_nulls(&original, &patch) })),
        )
        .await;
    let merged = merge(Kind::PodTemplate, &map(&original), &map(&patch))
        .unwrap_or_else(|faults| panic!("seed {seed}: {faults:#?}\n{patch:#}"));
    let ours = create(api, &format!("ours-{seed}"), &Value::Object(merged), true).await;
    match (theirs, ours) {
        (Ok(theirs), Ok(ours)) => {
            let (theirs, ours) = (template_of(&theirs), template_of(&ours));
            assert_eq!(
                ours, theirs,
                "seed {seed}\noriginal {original:#}\npatch {patch:#}"
            );
            Ending::Equal
        }
        (Err(_), Err(_)) => Ending::Refused,
        (theirs, ours) => {
            panic!("seed {seed}: theirs {theirs:?}\nours {ours:?}\noriginal {original:#}\npatch {patch:#}")
        }
    }
}

async fn create(
    api: &Api<PodTemplate>,
    name: &str,
    template: &Value,
    dry_run: bool,
) -> Result<PodTemplate, kube::Error> {
    let object = json!({
        "apiVersion": "v1", "kind": "PodTemplate", "metadata": { "name": name }, "template": template,
    });
    // Sent as it is: the typed object would lose what the server is to judge.
    let query = if dry_run { "?dryRun=All" } else { "" };
    let request = http::Request::post(format!("{}{query}", api.resource_url()))
        .header("content-type", "application/json")
        .body(serde_json::to_vec(&object).unwrap())
        .unwrap();
    api.clone().into_client().request::<PodTemplate>(request).await
}

fn template_of(object: &PodTemplate) -> Value {
    serde_json::to_value(object.template.as_ref().unwrap()).unwrap()
}

fn map(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}
