//! What may differ between control planes. Deliberately absent: versions, which the Go modules beside this crate pin.

/// How a control plane is started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Admission plugins beside those that are on by default, as `OwnerReferencesPermissionEnforcement`.
    pub admission_plugins: Vec<String>,
    /// Whether the folder with the logs stays after the end. The variable `JOBFLOW_TEST_KEEP` asks for it too.
    pub keep_folder: bool,
}

impl Options {
    /// Adds an admission plugin.
    #[must_use]
    pub fn with_admission_plugin(mut self, name: &str) -> Self {
        self.admission_plugins.push(name.to_owned());
        self
    }

    /// Whether the folder stays, by these options or by the environment.
    pub(crate) fn keeps_folder(&self) -> bool {
        self.keep_folder || std::env::var_os("JOBFLOW_TEST_KEEP").is_some()
    }
}
