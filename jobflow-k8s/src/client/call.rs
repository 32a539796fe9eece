//! A request of a flow as one request to the server. Nothing is sent twice, nothing is judged; a write is sent only
//! while the term outlives it.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use jobflow_core::Uid;
use jobflow_core::facts::FactKey;
use kube::Client;
use kube::Resource;
use kube::api::{
    DeleteParams, GetParams, ListParams, Patch, PatchParams, PostParams, Preconditions, PropagationPolicy,
};
use kube::client::Body;
use kube::core::{NamespaceResourceScope, ObjectList, Request as Path};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::extensions::{Asker, Extensions};
use super::guard::Guarded;
use super::observer::{Call, Observer};
use super::pods;
use super::request::{Request, Response, Said, Written};
use super::term::Term;
use super::uses::Template;
use crate::observe::{SlimJob, SlimTemplate};
use crate::types::{Command, Job, JobFlow, JobFlowStatus, JobTemplate};

/// Who the server notes as the manager of fields.
pub const MANAGER: &str = "jobflow";

/// How many objects are read by one request of a list.
const PAGE: u32 = 500;

/// The longest list that is read.
const MOST_PAGES: usize = 400;

/// Sends requests.
pub(super) struct Caller {
    pub(super) client: Client,
    pub(super) timeout: Duration,
    pub(super) term: Arc<dyn Term>,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) extensions: Extensions,
}

/// What became of a request, for the pace of those to come.
#[derive(Debug)]
pub(super) struct Called {
    pub(super) response: Response,
    /// The status of the answer; none if none came, or nothing was sent.
    pub(super) code: Option<u16>,
    pub(super) latency: Duration,
}

/// One request to the server, named for those who count.
struct Sending {
    verb: &'static str,
    resource: &'static str,
    request: http::Request<Vec<u8>>,
}

/// An answer, read to its end.
struct Answer {
    code: u16,
    retry_after: Option<String>,
    body: Vec<u8>,
}

impl Caller {
    /// Sends one request of a flow.
    pub(super) async fn call(&self, asker: &Asker, request: &Request) -> Called {
        let began = Instant::now();
        if request.is_write() && !self.term.lasts(self.timeout) {
            let response = Response::Unsent("the term ends too soon for a write".to_owned());
            return Called {
                response,
                code: None,
                latency: Duration::ZERO,
            };
        }
        let (response, code) = if let Request::Ask(question) = request {
            (self.ask(asker, question).await, None)
        } else if let Request::ListJobs { selector } = request {
            self.list(&asker.namespace, ("jobs", selector), Response::Jobs)
                .await
        } else if let Request::ListPods { job, .. } = request {
            let selector = format!("{}={job}", pods::LABEL);
            self.list(&asker.namespace, ("pods", &selector), Response::Pods)
                .await
        } else if let Request::ListFrozen { selector } = request {
            self.list(&asker.namespace, ("jobtemplates", selector), Response::Templates)
                .await
        } else {
            self.ask_server(asker, request).await
        };
        Called {
            response,
            code,
            latency: began.elapsed(),
        }
    }

    async fn ask_server(&self, asker: &Asker, request: &Request) -> (Response, Option<u16>) {
        let Some(sending) = sending(asker, request) else {
            return (
                Response::Unsent("not a request that can be sent".to_owned()),
                None,
            );
        };
        match self.send(sending).await {
            Ok(answer) => (read(request, &answer), Some(answer.code)),
            Err(error) => (Response::Unanswered(error), None),
        }
    }

    async fn send(&self, sending: Sending) -> Result<Answer, String> {
        let began = Instant::now();
        let request = sending.request.map(Body::from);
        let answer = tokio::time::timeout(self.timeout, self.exchange(request)).await;
        let answer = answer.unwrap_or_else(|_| Err(format!("no answer within {:?}", self.timeout)));
        self.observer.called(Call {
            verb: sending.verb,
            resource: sending.resource,
            code: answer.as_ref().ok().map(|answer| answer.code),
            latency: began.elapsed(),
        });
        answer
    }

    async fn exchange(&self, request: http::Request<Body>) -> Result<Answer, String> {
        let response = self.client.send(request).await.map_err(|error| chain(&error))?;
        let retry_after = response.headers().get(http::header::RETRY_AFTER);
        let retry_after = retry_after
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        let code = response.status().as_u16();
        let body = response
            .into_body()
            .collect()
            .await
            .map_err(|error| chain(&error))?;
        Ok(Answer {
            code,
            retry_after,
            body: body.to_bytes().to_vec(),
        })
    }

    async fn ask(&self, asker: &Asker, question: &FactKey) -> Response {
        let FactKey::Custom { kind, question } = question else {
            return Response::Fact(Err("only custom questions have sources".to_owned()));
        };
        let Some(source) = self.extensions.source(kind) else {
            return Response::Fact(Err(format!("nobody answers questions of the kind `{kind}`")));
        };
        let answer = tokio::time::timeout(self.timeout, source.answer(asker, question)).await;
        Response::Fact(answer.unwrap_or_else(|_| Err(format!("no answer within {:?}", self.timeout))))
    }

    /// Writes which Jobs were made from a template.
    pub(super) async fn write_template(&self, (namespace, name): &Template, list: &[String]) -> Called {
        let began = Instant::now();
        let nothing = |response| Called {
            response,
            code: None,
            latency: began.elapsed(),
        };
        if !self.term.lasts(self.timeout) {
            return nothing(Response::Unsent("the term ends too soon for a write".to_owned()));
        }
        let patch = Patch::Merge(json!({"status": {"jobDependsOnList": list}}));
        let path = Path::new(JobTemplate::url_path(&(), Some(namespace)));
        let params = PatchParams::apply(MANAGER);
        let Ok(request) = path.patch_subresource("status", name, &params, &patch) else {
            return nothing(Response::Unsent("not a request that can be sent".to_owned()));
        };
        let sending = Sending {
            verb: "patch",
            resource: "jobtemplates/status",
            request,
        };
        let (response, code) = match self.send(sending).await {
            Ok(answer) if answer.code == 200 => (Response::Done, Some(200)),
            Ok(answer) => (said(&answer), Some(answer.code)),
            Err(error) => (Response::Unanswered(error), None),
        };
        Called {
            response,
            code,
            latency: began.elapsed(),
        }
    }

    /// All pages of a list, or the first refusal.
    async fn list<K>(
        &self,
        namespace: &str,
        (resource, selector): (&'static str, &str),
        response: impl FnOnce(Vec<K>) -> Response,
    ) -> (Response, Option<u16>)
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + DeserializeOwned + Clone,
    {
        let mut objects = Vec::new();
        let mut token = None;
        for _ in 0..MOST_PAGES {
            let path = Path::new(K::url_path(&(), Some(namespace)));
            let Some(sending) = page(&path, resource, selector, token) else {
                return (
                    Response::Unsent("not a list that can be asked for".to_owned()),
                    None,
                );
            };
            let answer = match self.send(sending).await {
                Ok(answer) if answer.code == 200 => answer,
                Ok(answer) => return (said(&answer), Some(answer.code)),
                Err(error) => return (Response::Unanswered(error), None),
            };
            let Ok(list) = serde_json::from_slice::<ObjectList<Guarded<K>>>(&answer.body) else {
                return (
                    Response::Unanswered("a list that can't be read".to_owned()),
                    Some(answer.code),
                );
            };
            objects.extend(list.items.into_iter().filter_map(|object| match object {
                Guarded::Read(object) => Some(object),
                Guarded::Unreadable(_) => None,
            }));
            token = list.metadata.continue_.filter(|token| !token.is_empty());
            if token.is_none() {
                break;
            }
        }
        (response(objects), Some(200))
    }
}

fn page(path: &Path, resource: &'static str, selector: &str, token: Option<String>) -> Option<Sending> {
    let params = ListParams {
        label_selector: Some(selector.to_owned()),
        limit: Some(PAGE),
        continue_token: token,
        ..ListParams::default()
    };
    Some(Sending {
        verb: "list",
        resource,
        request: path.list(&params).ok()?,
    })
}

fn path<K: Resource<DynamicType = ()>>(asker: &Asker) -> Path {
    Path::new(K::url_path(&(), Some(&asker.namespace)))
}

fn sending(asker: &Asker, request: &Request) -> Option<Sending> {
    let post = PostParams {
        field_manager: Some(MANAGER.to_owned()),
        ..PostParams::default()
    };
    let get = GetParams::default();
    let (verb, resource, built) = match request {
        Request::ReadFlow => ("get", "jobflows", path::<JobFlow>(asker).get(&asker.flow, &get)),
        Request::ReadOwner { name, .. } => ("get", "jobflows", path::<JobFlow>(asker).get(name, &get)),
        Request::WriteStatus { body } => {
            let path = path::<JobFlow>(asker);
            let request = path.replace_subresource("status", &asker.flow, &post, body.to_vec());
            ("update", "jobflows/status", request)
        }
        Request::MarkBirth { body } => {
            let patch: Box<RawValue> = serde_json::from_slice(body).ok()?;
            let params = PatchParams::apply(MANAGER);
            let request = path::<JobFlow>(asker).patch(&asker.flow, &params, &Patch::Merge(patch));
            ("patch", "jobflows", request)
        }
        Request::CreateJob { body, .. } => {
            ("create", "jobs", path::<Job>(asker).create(&post, body.to_vec()))
        }
        Request::ReadJob { name, .. } => ("get", "jobs", path::<Job>(asker).get(name, &get)),
        Request::TerminateJob { body, .. } => (
            "create",
            "commands",
            path::<Command>(asker).create(&post, body.to_vec()),
        ),
        Request::DeleteJob { name, uid, .. } => {
            let params = foreground(uid, None);
            ("delete", "jobs", path::<Job>(asker).delete(name, &params))
        }
        Request::DeleteFlow { uid, version } => {
            let params = foreground(uid, Some(version.clone()));
            (
                "delete",
                "jobflows",
                path::<JobFlow>(asker).delete(&asker.flow, &params),
            )
        }
        Request::FreezeTemplate { body } => (
            "create",
            "jobtemplates",
            path::<JobTemplate>(asker).create(&post, body.to_vec()),
        ),
        Request::ListJobs { .. }
        | Request::ListPods { .. }
        | Request::ListFrozen { .. }
        | Request::Ask(_) => return None,
    };
    Some(Sending {
        verb,
        resource,
        request: built.ok()?,
    })
}

/// Deletes what the object owns first, if it is the one that is meant.
fn foreground(uid: &Uid, version: Option<String>) -> DeleteParams {
    DeleteParams {
        propagation_policy: Some(PropagationPolicy::Foreground),
        preconditions: Some(Preconditions {
            uid: Some(uid.0.to_string()),
            resource_version: version,
        }),
        ..DeleteParams::default()
    }
}

/// What an answer is, by its code and what was asked.
fn read(request: &Request, answer: &Answer) -> Response {
    if !(200..300).contains(&answer.code) {
        return said(answer);
    }
    match request {
        Request::ReadFlow | Request::ReadOwner { .. } | Request::MarkBirth { .. } => {
            decoded(answer, |flow| Response::Flow(Box::new(flow)))
        }
        Request::WriteStatus { .. } => decoded(answer, |Stored { metadata, status }| {
            Response::Written(Box::new(Written {
                version: metadata.resource_version,
                status: status.unwrap_or_default(),
            }))
        }),
        Request::CreateJob { .. } | Request::ReadJob { .. } => {
            decoded(answer, |job: SlimJob| Response::Job(Box::new(job)))
        }
        Request::DeleteFlow { .. } => Response::Done,
        Request::FreezeTemplate { .. } => decoded(answer, |template: SlimTemplate| {
            Response::Template(Box::new(template))
        }),
        Request::DeleteJob { .. } if is_status(answer) => Response::Done,
        Request::DeleteJob { .. } => decoded(answer, |job: SlimJob| Response::Job(Box::new(job))),
        Request::TerminateJob { .. }
        | Request::ListJobs { .. }
        | Request::ListPods { .. }
        | Request::ListFrozen { .. }
        | Request::Ask(_) => Response::Done,
    }
}

/// A flow as far as an answer to a write of its status is read.
#[derive(Deserialize)]
struct Stored {
    metadata: Version,
    #[serde(default)]
    status: Option<JobFlowStatus>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    resource_version: String,
}

fn is_status(answer: &Answer) -> bool {
    #[derive(Deserialize)]
    struct Kind {
        kind: Option<String>,
    }
    serde_json::from_slice::<Kind>(&answer.body).is_ok_and(|kind| kind.kind.as_deref() == Some("Status"))
}

fn decoded<T: DeserializeOwned>(answer: &Answer, response: impl FnOnce(T) -> Response) -> Response {
    match serde_json::from_slice(&answer.body) {
        Ok(object) => response(object),
        Err(error) => Response::Unanswered(format!("an answer that can't be read: {error}")),
    }
}

fn said(answer: &Answer) -> Response {
    Response::Refused(Box::new(Said {
        code: answer.code,
        body: answer.body.clone(),
        retry_after: answer.retry_after.clone(),
    }))
}

/// An error with what caused it, in one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let words = cause.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        source = cause.source();
    }
    text
}
