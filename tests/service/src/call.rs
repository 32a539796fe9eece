//! A request, read: who asks for what of which object.

use std::collections::BTreeMap;

use http::Request;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::request::Parts;
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::Value;

use super::kind::Kind;
use super::replace::Part;
use super::store::Key;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// One object.
    Get,
    /// Many objects.
    List,
    /// Changes of many objects.
    Watch,
    /// A new object.
    Create,
    /// An object replaced, or its status.
    Replace,
    /// An object changed, or its status.
    Patch,
    /// An object deleted.
    Delete,
    /// What the server serves, or something that it doesn't.
    Other,
}

impl Verb {
    /// Whether it changes anything.
    #[must_use]
    pub const fn writes(self) -> bool {
        match self {
            Self::Create | Self::Replace | Self::Patch | Self::Delete => true,
            Self::Get | Self::List | Self::Watch | Self::Other => false,
        }
    }
}

/// A request.
#[derive(Clone, Debug)]
pub struct Call {
    /// Who sent it, as the test named its client.
    pub who: String,
    /// Which API server it came to.
    pub replica: usize,
    /// What is asked for.
    pub verb: Verb,
    /// The path.
    pub path: String,
    /// Of which kind, if of any that is known.
    pub kind: Option<&'static Kind>,
    /// In which namespace; empty for all, or none.
    pub namespace: String,
    /// Of which object; the name in the body for a create.
    pub name: String,
    /// Which part of it.
    pub part: Part,
    /// What stands after the path.
    pub query: BTreeMap<String, String>,
    /// The body; null without one, or if it isn't JSON.
    pub body: Value,
    /// The size of the body in bytes.
    pub size: usize,
    pub(super) format: String,
    pub(super) only_metadata: bool,
}

impl Call {
    pub(super) async fn read(
        who: String,
        replica: usize,
        request: Request<Body>,
    ) -> Result<Self, kube::Error> {
        let (head, body) = request.into_parts();
        let bytes = body.collect().await?.to_bytes();
        let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let mut call = Self::of(who, replica, &head);
        call.size = bytes.len();
        if call.verb == Verb::Create {
            body["metadata"]["name"]
                .as_str()
                .unwrap_or_default()
                .clone_into(&mut call.name);
        }
        call.body = body;
        Ok(call)
    }

    fn of(who: String, replica: usize, head: &Parts) -> Self {
        let header = |name| {
            let value = head.headers.get(name).and_then(|value| value.to_str().ok());
            value.unwrap_or_default().to_owned()
        };
        let query = head.uri.query().unwrap_or_default();
        let query: BTreeMap<String, String> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let place = Place::of(head.uri.path());
        let format = header(CONTENT_TYPE);
        Self {
            who,
            replica,
            verb: verb(head.method.as_str(), &place, &query),
            path: head.uri.path().to_owned(),
            kind: place.kind,
            namespace: place.namespace,
            name: place.name,
            part: if place.rest == "status" {
                Part::Status
            } else {
                Part::Main
            },
            query,
            body: Value::Null,
            size: 0,
            format: format.split(';').next().unwrap_or_default().to_owned(),
            only_metadata: header(ACCEPT).contains("as=PartialObjectMetadata"),
        }
    }

    /// What stands in the query under a name; empty without.
    #[must_use]
    pub fn parameter(&self, name: &str) -> &str {
        self.query.get(name).map_or("", String::as_str)
    }

    /// The object that it is about.
    #[must_use]
    pub fn key(&self) -> Option<Key> {
        Some(Key {
            kind: self.kind?,
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        })
    }
}

/// A path, taken apart.
#[derive(Default)]
struct Place {
    kind: Option<&'static Kind>,
    namespace: String,
    name: String,
    rest: String,
}

impl Place {
    fn of(path: &str) -> Self {
        let steps: Vec<&str> = path.split('/').filter(|step| !step.is_empty()).collect();
        let (group, version, steps) = match steps.as_slice() {
            ["api", version, steps @ ..] => ("", *version, steps),
            ["apis", group, version, steps @ ..] => (*group, *version, steps),
            _ => return Self::default(),
        };
        let (namespace, steps) = match steps {
            ["namespaces", namespace, plural, steps @ ..] if *plural != "status" => {
                (*namespace, [&[*plural], steps].concat())
            }
            steps => ("", steps.to_vec()),
        };
        let step = |place: usize| steps.get(place).copied().unwrap_or_default();
        Self {
            kind: Kind::find(group, version, step(0)),
            namespace: namespace.to_owned(),
            name: step(1).to_owned(),
            rest: step(2).to_owned(),
        }
    }
}

fn verb(method: &str, place: &Place, query: &BTreeMap<String, String>) -> Verb {
    let watched = query
        .get("watch")
        .is_some_and(|watch| watch == "true" || watch == "1");
    if place.kind.is_none() || !["", "status"].contains(&place.rest.as_str()) {
        return Verb::Other;
    }
    match (method, place.name.is_empty()) {
        ("GET", true) if watched => Verb::Watch,
        ("GET", true) => Verb::List,
        ("GET", false) => Verb::Get,
        ("POST", true) => Verb::Create,
        ("PUT", false) => Verb::Replace,
        ("PATCH", false) => Verb::Patch,
        ("DELETE", false) => Verb::Delete,
        _ => Verb::Other,
    }
}
