//! A JobTemplate of a watch: the spec whole, since Jobs are made from it, and of the metadata what goes into them, or
//! tells what it was frozen from.

use std::borrow::Cow;
use std::ops::Deref;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::NamespaceResourceScope;
use serde::Deserialize;

use super::metadata::trimmed;
use crate::names::{is_copied, is_of_frozen};
use crate::types::{JobTemplate, JobTemplateStatus};

/// A JobTemplate as it is watched; it reads as a [`JobTemplate`].
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "JobTemplate")]
pub struct SlimTemplate(JobTemplate);

impl From<JobTemplate> for SlimTemplate {
    fn from(template: JobTemplate) -> Self {
        let JobTemplate {
            metadata,
            spec,
            status,
        } = template;
        let is_kept = |key: &str| is_copied(key) || is_of_frozen(key);
        let labels = metadata.labels.clone().map(|mut labels| {
            labels.retain(|key, _| is_kept(key));
            labels
        });
        let mut metadata = trimmed(metadata, is_kept);
        metadata.labels = labels.filter(|labels| !labels.is_empty());
        let status = status.filter(|status| *status != JobTemplateStatus::default());
        Self(JobTemplate {
            metadata,
            spec,
            status,
        })
    }
}

impl Deref for SlimTemplate {
    type Target = JobTemplate;

    fn deref(&self) -> &JobTemplate {
        &self.0
    }
}

impl Resource for SlimTemplate {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind(&(): &()) -> Cow<'_, str> {
        JobTemplate::kind(&())
    }

    fn group(&(): &()) -> Cow<'_, str> {
        JobTemplate::group(&())
    }

    fn version(&(): &()) -> Cow<'_, str> {
        JobTemplate::version(&())
    }

    fn plural(&(): &()) -> Cow<'_, str> {
        JobTemplate::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        &self.0.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.0.metadata
    }
}
