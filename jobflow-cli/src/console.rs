//! The two streams: data on stdout, talk on stderr; how wide, in which colours and characters.
//!
//! Comes in: the environment once, then texts that may be styled. Goes out: the same texts, without styles where they
//! aren't wanted. Deliberately absent: escaping of foreign text, which is whoever's who builds a text.

use std::env;
use std::io::{self, BufWriter, IsTerminal, Write};

use anstream::AutoStream;
use anstream::adapter::strip_str;
use anstyle::{AnsiColor, Style};

use crate::arguments::Color;
use crate::display::Size;
use crate::escape;
use crate::failure::{Failure, Said};

/// The width of a terminal that doesn't say how wide it is.
const USUAL_WIDTH: usize = 100;
/// Narrower than this nothing is legible.
const LEAST_WIDTH: usize = 20;

/// Which characters lines and boxes are drawn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Charset {
    /// Box-drawing characters, arrows, marks.
    Unicode,
    /// Only what every terminal has.
    Ascii,
}

/// Where a command writes.
pub(crate) struct Console {
    data: Stream,
    talk: Stream,
    width: Option<usize>,
    data_width: Option<usize>,
    columns: Option<String>,
    drawable: bool,
    data_is_terminal: bool,
    charset: Charset,
}

struct Stream {
    sink: Box<dyn Write>,
    styled: bool,
}

impl Console {
    /// Looks at the streams and the environment of this process.
    pub(crate) fn of_this_process(color: Color) -> Self {
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let data = Stream {
            styled: is_styled(color, AutoStream::choice(&stdout)),
            sink: Box::new(BufWriter::new(stdout)),
        };
        let talk = Stream {
            styled: is_styled(color, AutoStream::choice(&stderr)),
            sink: Box::new(stderr),
        };
        let columns = env::var("COLUMNS").ok();
        let [of_stdout, of_stderr] = terminal_widths();
        let is_dumb = env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        Self {
            width: width(columns.as_deref(), of_stdout.or(of_stderr)),
            data_width: width(columns.as_deref(), of_stdout),
            charset: charset(["LC_ALL", "LC_CTYPE", "LANG"].map(|name| env::var(name).ok())),
            columns,
            data_is_terminal: io::stdout().is_terminal(),
            drawable: io::stderr().is_terminal() && !is_dumb,
            data,
            talk,
        }
    }

    /// A console whose streams are kept, of a plain terminal without a size.
    #[cfg(test)]
    pub(crate) fn kept() -> (Self, Kept, Kept) {
        let (data, talk) = (Kept::default(), Kept::default());
        let stream = |kept: &Kept| Stream {
            sink: Box::new(kept.clone()),
            styled: false,
        };
        let console = Self {
            data: stream(&data),
            talk: stream(&talk),
            width: None,
            data_width: None,
            columns: None,
            drawable: false,
            data_is_terminal: false,
            charset: Charset::Ascii,
        };
        (console, data, talk)
    }

    /// Writes data.
    pub(crate) fn data(&mut self, text: &str) -> Result<(), Failure> {
        self.data.text(text).map_err(|error| Failure::of_output(&error))
    }

    /// Writes data that is nobody's to change.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.data
            .sink
            .write_all(bytes)
            .map_err(|error| Failure::of_output(&error))
    }

    /// Brings everything that was written to whoever reads it.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.data.sink.flush().map_err(|error| Failure::of_output(&error))
    }

    /// Writes talk. That nobody can hear it is no failure.
    pub(crate) fn talk(&mut self, text: &str) {
        let _ = self.data.sink.flush();
        let _ = self.talk.text(text);
    }

    /// Writes talk around codes that move the cursor, which are no style and stay where colours don't.
    pub(crate) fn redraw(&mut self, text: &str) {
        let _ = self
            .talk
            .sink
            .write_all(text.as_bytes())
            .and_then(|()| self.talk.sink.flush());
    }

    /// A line of talk without styles where they aren't wanted.
    pub(crate) fn plain_or_styled(&self, line: String) -> String {
        match self.talk.styled {
            true => line,
            false => strip_str(&line).to_string(),
        }
    }

    /// How much of the terminal that talk goes to can be drawn anew; none where it is no terminal, or a dumb one.
    pub(crate) fn drawable(&self) -> Option<Size> {
        if !self.drawable {
            return None;
        }
        // Asked anew each time: a terminal may change its size.
        let size = rustix::termios::tcgetwinsize(io::stderr()).ok()?;
        let columns = Some(usize::from(size.ws_col)).filter(|columns| *columns > 0);
        let rows = Some(usize::from(size.ws_row)).filter(|rows| *rows > 3);
        Some(Size {
            width: width(self.columns.as_deref(), columns)?,
            height: rows.map(|rows| rows - 1),
            charset: self.charset,
        })
    }

    /// Says why a command ends.
    pub(crate) fn complain(&mut self, said: &Said) {
        let Said {
            exit: _,
            message,
            causes,
            help,
        } = said;
        let error = AnsiColor::Red.on_default().bold();
        let bold = Style::new().bold();
        let mut text = format!(
            "{error}error{error:#}{bold}:{bold:#} {}\n",
            escape::terminal(message)
        );
        for cause in causes {
            text.push_str(&format!("  because: {}\n", escape::terminal(cause)));
        }
        if let Some(help) = help {
            text.push_str(&format!("  {bold}help{bold:#}: {}\n", escape::terminal(help)));
        }
        self.talk(&text);
    }

    /// Whether data goes to a terminal.
    pub(crate) const fn data_is_terminal(&self) -> bool {
        self.data_is_terminal
    }

    /// Whether talk is styled.
    pub(crate) const fn talk_is_styled(&self) -> bool {
        self.talk.styled
    }

    /// How wide lines of data may be: in a pipe nothing is cut.
    pub(crate) fn data_width(&self) -> usize {
        self.data_width.unwrap_or(usize::MAX)
    }

    /// How wide lines of talk may be.
    pub(crate) fn width(&self) -> usize {
        self.width.unwrap_or(USUAL_WIDTH)
    }

    /// Which characters may be drawn with.
    pub(crate) const fn charset(&self) -> Charset {
        self.charset
    }
}

impl Stream {
    fn text(&mut self, text: &str) -> io::Result<()> {
        match self.styled {
            true => self.sink.write_all(text.as_bytes()),
            false => write!(self.sink, "{}", strip_str(text)),
        }
    }
}

fn is_styled(color: Color, found: anstream::ColorChoice) -> bool {
    match color {
        Color::Auto => found != anstream::ColorChoice::Never,
        Color::Always => true,
        Color::Never => false,
    }
}

/// The widths of stdout and stderr, as far as they are terminals.
fn terminal_widths() -> [Option<usize>; 2] {
    let sizes = [
        rustix::termios::tcgetwinsize(io::stdout()),
        rustix::termios::tcgetwinsize(io::stderr()),
    ];
    sizes.map(|size| {
        size.ok()
            .map(|size| usize::from(size.ws_col))
            .filter(|columns| *columns > 0)
    })
}

/// What the user says goes before what the terminal says.
fn width(columns: Option<&str>, terminal: Option<usize>) -> Option<usize> {
    let said = columns
        .and_then(|text| text.trim().parse().ok())
        .filter(|columns| *columns > 0);
    said.or(terminal).map(|columns: usize| columns.max(LEAST_WIDTH))
}

/// The first variable that is set decides, as in the C library; without one it is the plain locale.
fn charset(variables: [Option<String>; 3]) -> Charset {
    let locale = variables.into_iter().flatten().find(|value| !value.is_empty());
    let locale = locale.unwrap_or_default().to_ascii_lowercase();
    match locale.contains("utf-8") || locale.contains("utf8") {
        true => Charset::Unicode,
        false => Charset::Ascii,
    }
}

/// What was written to a stream.
#[cfg(test)]
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept(std::rc::Rc<std::cell::RefCell<Vec<u8>>>);

#[cfg(test)]
impl Kept {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.borrow()).into_owned()
    }
}

#[cfg(test)]
impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_decide_the_width_before_the_terminal() {
        assert_eq!(width(Some("60"), Some(80)), Some(60));
        assert_eq!(width(Some("wide"), Some(80)), Some(80));
        assert_eq!(width(Some("0"), None), None);
        assert_eq!(width(Some("3"), None), Some(LEAST_WIDTH));
    }

    #[test]
    fn the_first_locale_that_is_set_decides_the_characters() {
        let find = |values: [&str; 3]| charset(values.map(|value| (value != "-").then(|| value.to_owned())));
        assert_eq!(find(["-", "-", "en_GB.UTF-8"]), Charset::Unicode);
        assert_eq!(find(["C", "-", "en_GB.UTF-8"]), Charset::Ascii);
        assert_eq!(find(["", "de_DE.utf8", "C"]), Charset::Unicode);
        assert_eq!(find(["-", "-", "-"]), Charset::Ascii);
    }

    #[test]
    fn what_the_user_says_about_colours_goes_before_what_is_found() {
        assert!(is_styled(Color::Always, anstream::ColorChoice::Never));
        assert!(!is_styled(Color::Never, anstream::ColorChoice::Always));
        assert!(!is_styled(Color::Auto, anstream::ColorChoice::Never));
    }
}
