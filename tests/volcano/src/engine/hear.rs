//! What happens on the API server, as the loop takes it up.

use jobflow_core::gang::Command;
use jobflow_k8s::types::Job as JobObject;
use kube::core::DynamicObject;
use kube::runtime::watcher;

use super::{Done, Engine, Event, PodMeta, job};
use crate::lead::{Lead, News};
use crate::processes::{Order, Run};

impl Engine {
    pub(super) fn hear(&mut self, event: Event) {
        match event {
            Event::Job(event) => self.hear_job(event),
            Event::Command(event) => self.hear_command(event),
            Event::Queue(event) => self.hear_queue(event),
            Event::Pod(event) => self.hear_pod(event),
            Event::Told(uid, news) => self.hear_news(uid, news),
        }
    }

    fn hear_job(&mut self, event: watcher::Event<JobObject>) {
        match event {
            watcher::Event::Init => self.listed.clear(),
            watcher::Event::InitApply(job) => {
                self.listed.extend(job.metadata.uid.clone());
                self.see(job);
            }
            watcher::Event::InitDone => self.forget_unlisted(),
            watcher::Event::Apply(job) => self.see(job),
            watcher::Event::Delete(job) => self.forget(&job.metadata.uid.unwrap_or_default()),
        }
    }

    /// A Job that is new is taken in; of one that is known only that it leaves is news.
    fn see(&mut self, object: JobObject) {
        let uid = object.metadata.uid.clone().unwrap_or_default();
        if let Some(job) = self.jobs.get_mut(&uid) {
            job.leaving = object.metadata.deletion_timestamp.is_some();
            return;
        }
        let (queues, checks) = (&self.queues, self.options.queues);
        let has_queue = |queue: &str| !checks || queues.contains(queue);
        let name = object.metadata.name.clone().unwrap_or_default();
        let now = self.clock.now();
        match job::read(object, &self.options, has_queue, &mut self.addresses, now) {
            Ok(Some((job, run))) => self.take_in(job, run),
            Ok(None) => {}
            Err(reason) => self
                .complaints
                .add(format!("the Job `{name}` can't be read: {reason}")),
        }
    }

    /// A Job of the same name that was there before is gone, though nobody said so.
    fn take_in(&mut self, job: job::Job, run: Option<Run>) {
        let name = (job.namespace.clone(), job.name.clone());
        if let Some(former) = self.names.insert(name, job.uid.clone()) {
            self.jobs.remove(&former);
        }
        if let Some(run) = run.filter(|_| !job.leaving) {
            self.order_processes(&job.namespace, Order::Run(Box::new(run)));
        }
        self.ready.insert(job.uid.clone());
        self.jobs.insert(job.uid.clone(), job);
    }

    fn hear_news(&mut self, uid: String, news: News) {
        if let Some(Lead::Told(told)) = self.jobs.get_mut(&uid).map(|job| &mut job.lead) {
            told.tell(news);
            self.ready.insert(uid);
        }
    }

    /// For Jobs that run as processes; nothing for others.
    pub(super) fn order_processes(&mut self, namespace: &str, order: Order) {
        if let Some(yards) = &mut self.yards {
            yards.order(namespace, order);
        }
    }

    pub(super) fn forget(&mut self, uid: &str) {
        let Some(job) = self.jobs.remove(uid) else { return };
        job.addresses
            .into_iter()
            .for_each(|addresses| self.addresses.give_back(addresses));
        self.order_processes(&job.namespace, Order::Delete(uid.to_owned()));
        let name = (job.namespace, job.name);
        if self.names.get(&name).is_some_and(|present| present == uid) {
            self.names.remove(&name);
        }
        if let Some(at) = job.due {
            self.due.remove(&(at, uid.to_owned()));
        }
    }

    fn forget_unlisted(&mut self) {
        let gone: Vec<String> = self
            .jobs
            .keys()
            .filter(|uid| !self.listed.contains(*uid))
            .cloned()
            .collect();
        gone.iter().for_each(|uid| self.forget(uid));
    }

    /// A Command is deleted first, and acted on if that went well: nobody else acts on it then.
    fn hear_command(&mut self, event: watcher::Event<DynamicObject>) {
        let (watcher::Event::InitApply(object) | watcher::Event::Apply(object)) = event else {
            return;
        };
        let call = self.call.clone();
        self.requests.spawn(async move {
            if !call.delete_command(&object).await {
                return Done::Nothing;
            }
            let action = object.data["action"].as_str().and_then(Command::parse);
            let job = object.data["target"]["name"].as_str().map(str::to_owned);
            let Some((command, job)) = action.zip(job) else {
                return Done::Nothing;
            };
            let namespace = object.metadata.namespace.unwrap_or_default();
            Done::Commanded {
                namespace,
                job,
                command,
            }
        });
    }

    fn hear_queue(&mut self, event: watcher::Event<DynamicObject>) {
        let (name, there) = match event {
            watcher::Event::Apply(queue) | watcher::Event::InitApply(queue) => (queue.metadata.name, true),
            watcher::Event::Delete(queue) => (queue.metadata.name, false),
            watcher::Event::Init | watcher::Event::InitDone => return,
        };
        let name = name.unwrap_or_default();
        for (uid, job) in self.jobs.iter_mut().filter(|(_, job)| job.queue == name) {
            job.life().into_iter().for_each(|life| life.queue(there));
            self.ready.insert(uid.clone());
        }
        if there {
            self.queues.insert(name);
        } else {
            self.queues.remove(&name);
        }
    }

    fn hear_pod(&mut self, event: watcher::Event<PodMeta>) {
        match event {
            watcher::Event::Apply(pod) | watcher::Event::InitApply(pod) => self.see_pod(&pod),
            watcher::Event::Delete(pod) => self.pod_gone(&pod),
            watcher::Event::Init | watcher::Event::InitDone => {}
        }
    }
}
