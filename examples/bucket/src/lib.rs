//! A kind of predicate of a program's own: an entry waits until a file is in a bucket.
//!
//! ```yaml
//! dependsOn:
//!   custom:
//!     - kind: ObjectExists
//!       target: export
//!       args: {bucket: results, object: model.bin}
//! ```
//!
//! Two halves for one kind. [`ObjectExists`] is pure: it reads arguments, says what it wants to know, and judges the
//! answer. [`Buckets`] knows the world: folders below one folder stand for buckets. Neither knows how flows are run; the
//! same [`extensions`] serve the command line and a controller.

mod predicate;
mod source;

use std::path::PathBuf;
use std::sync::Arc;

use jobflow_k8s::extensions::Extensions;

pub use predicate::ObjectExists;
pub use source::Buckets;

/// The word in `dependsOn.custom[].kind`.
pub const KIND: &str = "ObjectExists";

/// The kind, with the folder whose folders are the buckets.
#[must_use]
pub fn extensions(folder: PathBuf) -> Extensions {
    Extensions::default()
        .with_predicates(Arc::new(ObjectExists))
        .with_source(Arc::new(Buckets::in_folder(folder)))
}
