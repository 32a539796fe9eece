//! What the stand-in watches. Streams come back by themselves after a break; what was missed comes with the next list.

use futures::{StreamExt, stream};
use jobflow_k8s::types::Job;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client};
use tokio::sync::mpsc::UnboundedReceiver;

use super::{Event, Events, PodMeta};
use crate::lead::News;
use crate::options::Options;

/// Everything in one stream, with what is told of processes.
pub(super) fn events(client: &Client, options: &Options, told: UnboundedReceiver<(String, News)>) -> Events {
    let config = watcher::Config::default;
    let jobs: Api<Job> = match &options.namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    };
    let jobs = watcher(jobs, config()).default_backoff().filter_map(heard);
    let commands = watcher(commands(client, options), config());
    let commands = commands.default_backoff().filter_map(heard);
    let mut all: Vec<Events> = vec![jobs.map(Event::Job).boxed(), commands.map(Event::Command).boxed()];
    if options.queues {
        let queues = watcher(queues(client), config())
            .default_backoff()
            .filter_map(heard);
        all.push(queues.map(Event::Queue).boxed());
    }
    if options.pods {
        let ours = config().labels("volcano.sh/job-name");
        let pods = watcher(pods(client, options), ours)
            .default_backoff()
            .filter_map(heard);
        all.push(pods.map(Event::Pod).boxed());
    }
    let told = stream::unfold(told, async |mut told| told.recv().await.map(|news| (news, told)));
    all.push(told.map(|(uid, news)| Event::Told(uid, news)).boxed());
    stream::select_all(all).boxed()
}

/// An error is followed by another try, which the stream makes by itself.
async fn heard<T>(event: watcher::Result<watcher::Event<T>>) -> Option<watcher::Event<T>> {
    event.ok()
}

fn commands(client: &Client, options: &Options) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("bus.volcano.sh", "v1alpha1", "Command");
    let resource = ApiResource::from_gvk(&kind);
    match &options.namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    }
}

/// All queues.
pub(crate) fn queues(client: &Client) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("scheduling.volcano.sh", "v1beta1", "Queue");
    Api::all_with(client.clone(), &ApiResource::from_gvk(&kind))
}

fn pods(client: &Client, options: &Options) -> Api<PodMeta> {
    match &options.namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    }
}
