//! The log: an object a line, or text for people, with the flow and the node in fields.
//!
//! Comes in: what `tracing` collects. Goes out: lines on stderr. Every line passes one escaper, whoever wrote it, so
//! that no foreign text can pretend to be another line. Deliberately absent: colours, and names of files or threads.

use std::io::{self, Write};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

use crate::arguments::{LogFormat, LogSettings};
use crate::escape;

/// Sends the log of this process to stderr.
///
/// # Errors
///
/// The program has a log already: it was set by whoever embeds this one.
pub(crate) fn begin(settings: &LogSettings) -> Result<(), TryInitError> {
    subscriber(settings, io::stderr).try_init()
}

fn subscriber<W, S>(settings: &LogSettings, sink: W) -> Box<dyn tracing::Subscriber + Send + Sync>
where
    W: Fn() -> S + Send + Sync + 'static,
    S: Write + 'static,
{
    let format = settings.format;
    let lines = Lines { format, sink };
    let filter = EnvFilter::builder().parse_lossy(&settings.level);
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(lines);
    match format {
        LogFormat::Json => Box::new(builder.json().flatten_event(true).with_span_list(false).finish()),
        LogFormat::Text => Box::new(builder.finish()),
    }
}

/// Makes a writer a line.
struct Lines<W> {
    format: LogFormat,
    sink: W,
}

/// One line; `tracing` writes it whole, or in parts.
struct Line<S: Write> {
    format: LogFormat,
    sink: S,
    line: Vec<u8>,
}

impl<'a, W, S> MakeWriter<'a> for Lines<W>
where
    W: Fn() -> S + 'a,
    S: Write,
{
    type Writer = Line<S>;

    fn make_writer(&'a self) -> Self::Writer {
        Line {
            format: self.format,
            sink: (self.sink)(),
            line: Vec::new(),
        }
    }
}

impl<S: Write> Write for Line<S> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

impl<S: Write> Drop for Line<S> {
    fn drop(&mut self) {
        let line = String::from_utf8_lossy(&self.line);
        let line = line.trim_end_matches('\n');
        let mut safe = match self.format {
            LogFormat::Json => escape::json(line),
            LogFormat::Text => escape::text(line),
        };
        safe.push('\n');
        // A log that nobody reads is no reason to end.
        let _ = self.sink.write_all(safe.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing::subscriber::with_default;
    use tracing::{info, info_span};

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, part: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(part)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(format: LogFormat, act: impl FnOnce()) -> String {
        let kept = Kept::default();
        let sink = kept.clone();
        let settings = LogSettings {
            format,
            level: "info".to_owned(),
        };
        with_default(subscriber(&settings, move || sink.clone()), act);
        let bytes = kept.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    fn hostile() {
        let _span = info_span!("flow", flow = "ns/a\n").entered();
        info!(
            node = "train\u{202e}",
            message = "x\u{1b}[2J\n{\"level\":\"ERROR\"}"
        );
        tracing::debug!("not told");
    }

    #[test]
    fn a_line_of_text_stays_one_line() {
        let log = logged(LogFormat::Text, hostile);
        assert_eq!(log.matches('\n').count(), 1, "{log}");
        assert!(!log.contains(['\u{1b}', '\u{202e}']), "{log:?}");
        assert!(
            log.contains("flow=\"ns/a") && log.contains("node=\"train"),
            "{log}"
        );
    }

    #[test]
    fn a_line_of_json_is_one_object_with_flow_and_node() {
        let log = logged(LogFormat::Json, hostile);
        let object: serde_json::Value = serde_json::from_str(log.trim_end_matches('\n')).unwrap();
        assert_eq!(object["span"]["flow"], "ns/a\n");
        assert_eq!(object["node"], "train\u{202e}");
        assert_eq!(object["level"], "INFO");
        assert!(!log.contains('\u{202e}'), "{log}");
    }
}
