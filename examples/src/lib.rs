//! The examples themselves are the programs in `src/bin` and the manifests in the folders beside it.
