//! A note as an object of `events.k8s.io/v1`.
//!
//! Its name is made of what it tells: the same transition told twice, by two controllers one after the other, is one
//! Event. Foreign text in it is escaped and cut to what a server takes.

use jiff::Timestamp;
use jobflow_k8s::types::{FLOW_GROUP, VERSION};
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};

use super::book::{About, Note};
use crate::escape;

/// Who reports.
pub const CONTROLLER: &str = "flow.volcano.sh/jobflow-controller";
/// The most bytes of a note.
const NOTE: usize = 1024;
/// The most characters of what a server calls an instance.
const INSTANCE: usize = 128;
/// What is left of a flow's name: 253 without the dot and the digest.
const NAME: usize = 230;

/// The object.
#[must_use]
pub fn event(note: &Note, instance: &str, now: Timestamp) -> Event {
    let About { namespace, name, uid } = &note.about;
    let short = name.get(..name.floor_char_boundary(NAME)).unwrap_or_default();
    let short = short.trim_end_matches(['.', '-']);
    Event {
        metadata: ObjectMeta {
            name: Some(format!("{short}.{:016x}", note.digest)),
            namespace: Some(namespace.clone()),
            ..ObjectMeta::default()
        },
        action: Some("Run".to_owned()),
        event_time: Some(MicroTime(now)),
        note: Some(escape::cut(&escape::text(&note.text), NOTE)),
        reason: Some(note.reason.to_owned()),
        regarding: Some(ObjectReference {
            api_version: Some(format!("{FLOW_GROUP}/{VERSION}")),
            kind: Some("JobFlow".to_owned()),
            name: Some(name.clone()),
            namespace: Some(namespace.clone()),
            uid: Some(uid.clone()),
            ..ObjectReference::default()
        }),
        reporting_controller: Some(CONTROLLER.to_owned()),
        reporting_instance: Some(escape::cut(instance, INSTANCE)),
        type_: Some(if note.warning { "Warning" } else { "Normal" }.to_owned()),
        ..Event::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_takes_whatever_a_flow_is_called_and_whatever_it_says() {
        let note = Note {
            about: About {
                namespace: "a".to_owned(),
                name: format!("{}.x", "n".repeat(229)),
                uid: "u".to_owned(),
            },
            reason: "Failed",
            warning: true,
            text: "\u{1b}[31m ö".repeat(1000),
            digest: 1,
        };
        let event = event(&note, &"i".repeat(500), Timestamp::UNIX_EPOCH);
        let name = event.metadata.name.unwrap();
        assert_eq!(name, format!("{}.0000000000000001", "n".repeat(229)));
        let text = event.note.unwrap();
        assert!(text.len() <= 1024 && !text.contains('\u{1b}'));
        assert!(event.reporting_instance.unwrap().len() <= 128);
        assert_eq!(event.type_.as_deref(), Some("Warning"));
    }
}
