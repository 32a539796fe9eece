//! A mark and a colour a phase.

use anstyle::{AnsiColor, Style};
use jobflow_core::{FlowPhase, NodePhase};

use crate::console::Charset;

/// The mark of an entry's phase.
pub(super) const fn mark(phase: NodePhase, charset: Charset) -> char {
    let (unicode, ascii) = match phase {
        NodePhase::Waiting => ('·', '.'),
        NodePhase::Blocked | NodePhase::BackingOff | NodePhase::Paused => ('◦', 'o'),
        NodePhase::Submitting | NodePhase::Queued => ('○', 'o'),
        NodePhase::Running | NodePhase::Stopping => ('●', '*'),
        NodePhase::Succeeded => ('✔', '+'),
        NodePhase::Failed => ('✘', 'x'),
        NodePhase::Skipped | NodePhase::Cancelled => ('–', '-'),
    };
    match charset {
        Charset::Unicode => unicode,
        Charset::Ascii => ascii,
    }
}

/// The colour of an entry's phase.
pub(super) const fn style(phase: NodePhase) -> Style {
    match phase {
        NodePhase::Waiting | NodePhase::Skipped => Style::new().dimmed(),
        NodePhase::Blocked | NodePhase::BackingOff | NodePhase::Paused | NodePhase::Cancelled => {
            AnsiColor::Yellow.on_default()
        }
        NodePhase::Submitting | NodePhase::Queued | NodePhase::Running | NodePhase::Stopping => {
            AnsiColor::Cyan.on_default()
        }
        NodePhase::Succeeded => AnsiColor::Green.on_default(),
        NodePhase::Failed => AnsiColor::Red.on_default(),
    }
}

/// The colour of a flow's phase.
pub(super) const fn flow_style(phase: FlowPhase) -> Style {
    match phase {
        FlowPhase::Pending => Style::new().dimmed(),
        FlowPhase::Running => AnsiColor::Cyan.on_default(),
        FlowPhase::Terminating => AnsiColor::Yellow.on_default(),
        FlowPhase::Succeed => AnsiColor::Green.on_default(),
        FlowPhase::Failed => AnsiColor::Red.on_default(),
    }
}
