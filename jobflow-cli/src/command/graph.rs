//! `jobflow graph`: a flow as a drawing.

use jobflow_k8s::fault::Fault;

use crate::arguments::{GraphArguments, GraphFormat};
use crate::console::Console;
use crate::diagnose;
use crate::diagram::{dot, mermaid, svg, text};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::manifests::Manifests;
use crate::shape::Shape;

/// Draws the one flow that is meant; what can't be drawn is told.
pub(crate) fn run(arguments: &GraphArguments, console: &mut Console) -> Result<Exit, Failure> {
    let mut manifests = Manifests::read(&arguments.manifests)?;
    let chosen = choose(&manifests, arguments.flow.as_deref());
    let faults = chosen
        .as_ref()
        .map(|(_, faults)| faults.clone())
        .unwrap_or_default();
    manifests.add(faults);
    diagnose::tell(&manifests, console);
    let (shape, _) = chosen?;
    if manifests.has_errors() {
        return Err(Failure::Told(Exit::WrongInput));
    }
    let drawing = match arguments.output {
        GraphFormat::Text => text(&shape, console.charset(), console.data_width()),
        GraphFormat::Dot => dot(&shape),
        GraphFormat::Mermaid => mermaid(&shape),
        GraphFormat::Svg => svg(&shape),
    };
    console.data(&drawing)?;
    Ok(Exit::Succeeded)
}

/// The flow of that name, or the only one, with what is wrong with its names and arrows.
fn choose(manifests: &Manifests, name: Option<&str>) -> Result<(Shape, Vec<Fault>), Failure> {
    let shape = |document| Shape::of(document).map(|shape| (document, shape));
    let shapes: Vec<_> = manifests.documents.iter().filter_map(shape).collect();
    let is_meant = |shape: &Shape| name.is_none_or(|name| shape.name == name);
    let meant: Vec<_> = shapes.iter().filter(|(_, shape)| is_meant(shape)).collect();
    match (meant.as_slice(), name) {
        ([(document, shape)], _) => Ok((shape.clone(), shape.faults(document))),
        (_, _) if shapes.is_empty() => Err(Failure::wrong_input("there is no flow in these manifests")
            .with_help("`jobflow new` writes one to start from")),
        ([], Some(name)) => Err(Failure::wrong_input(format!(
            "there is no flow `{name}` in these manifests"
        ))
        .with_help(names(&shapes))),
        (several, _) => Err(Failure::wrong_input(format!(
            "there are {} such flows in these manifests",
            several.len()
        ))
        .with_help(format!("choose one with --flow; {}", names(&shapes)))),
    }
}

fn names<T>(shapes: &[(T, Shape)]) -> String {
    let names: Vec<&str> = shapes.iter().map(|(_, shape)| shape.name.as_str()).collect();
    format!("they hold: {}", names.join(", "))
}
