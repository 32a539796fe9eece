//! The half that knows the world: whether a file is there.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use jobflow_k8s::extensions::{Asker, FactSource};

use crate::KIND;
use crate::predicate::Object;

/// Folders that stand for buckets.
#[derive(Clone, Debug)]
pub struct Buckets {
    folder: PathBuf,
}

impl Buckets {
    /// The buckets in this folder.
    #[must_use]
    pub const fn in_folder(folder: PathBuf) -> Self {
        Self { folder }
    }
}

#[async_trait]
impl FactSource for Buckets {
    fn kind(&self) -> &str {
        KIND
    }

    fn period(&self) -> Duration {
        Duration::from_millis(200)
    }

    async fn answer(&self, _asker: &Asker, question: &str) -> Result<String, String> {
        let object: Object = serde_json::from_str(question).map_err(|error| error.to_string())?;
        let path = self.folder.join(object.bucket).join(object.object);
        Ok(if path.is_file() { "there" } else { "absent" }.to_owned())
    }
}
