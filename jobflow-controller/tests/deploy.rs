//! What is deployed: the chart and the plain manifests, the rights in them, the rules that the API server enforces.
//!
//! Helm and the API server are real; both are built from Go modules the first time on a machine.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails")]

#[path = "deploy/admission.rs"]
mod admission;
#[path = "deploy/chart.rs"]
mod chart;
#[path = "deploy/image.rs"]
mod image;
#[path = "deploy/rendering.rs"]
mod rendering;
#[path = "deploy/rights.rs"]
mod rights;
