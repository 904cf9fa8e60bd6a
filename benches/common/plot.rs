//! Plots as SVG text: bars beside a line at one, and lines on logarithmic axes.

use std::fmt::Write;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 480.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 60.0;
const BOTTOM: f64 = 90.0;
/// Told apart with impaired colour vision, too (Okabe and Ito).
const COLOURS: [&str; 7] = [
    "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#000000",
];

fn colour(index: usize) -> &'static str {
    COLOURS[index % COLOURS.len()]
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// A logarithmic axis from `low` to `high`, laid along the pixels from `start` to `end`.
struct Axis {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Axis {
    /// The axis that holds all `values`, which must be positive, and a little more.
    fn around(values: impl Iterator<Item = f64>, start: f64, end: f64) -> Self {
        let (low, high) = values.fold((f64::MAX, f64::MIN_POSITIVE), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        Self {
            low: (low / 1.2).ln(),
            high: (high * 1.2).ln(),
            start,
            end,
        }
    }

    fn pixel(&self, value: f64) -> f64 {
        self.start + (value.ln() - self.low) / (self.high - self.low) * (self.end - self.start)
    }

    /// Round values on the axis: 1, 2 and 5 times powers of ten, or only the powers where those are many.
    fn ticks(&self) -> Vec<f64> {
        let decades = (self.high - self.low) / std::f64::consts::LN_10;
        let steps: &[f64] = if decades > 3.0 {
            &[1.0]
        } else {
            &[1.0, 2.0, 5.0]
        };
        let first = (self.low / std::f64::consts::LN_10).floor() as i32;
        (first..first + decades.ceil() as i32 + 2)
            .flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)))
            .filter(|tick| (self.low..=self.high).contains(&tick.ln()))
            .collect()
    }
}

struct Drawing(String);

impl Drawing {
    fn new(title: &str) -> Self {
        let mut drawing = Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        ));
        drawing.text(
            WIDTH / 2.0,
            22.0,
            "text-anchor=\"middle\" font-size=\"15\"",
            title,
        );
        drawing
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string can't fail.
        let _ = self.0.write_fmt(element);
        self.0.push('\n');
    }

    fn text(&mut self, x: f64, y: f64, attributes: &str, text: &str) {
        let text = escape(text);
        self.push(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{text}</text>"
        ));
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str) {
        self.push(format_args!(
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\"/>",
            from.0, from.1, to.0, to.1
        ));
    }

    fn vertical_axis(&mut self, axis: &Axis, name: &str) {
        for tick in axis.ticks() {
            let y = axis.pixel(tick);
            self.line((LEFT, y), (WIDTH - RIGHT, y), "#dddddd");
            self.text(
                LEFT - 6.0,
                y + 4.0,
                "text-anchor=\"end\"",
                &format!("{tick}"),
            );
        }
        let (x, y) = (16.0, (TOP + HEIGHT - BOTTOM) / 2.0);
        let turned = format!("text-anchor=\"middle\" transform=\"rotate(-90 {x} {y})\"");
        self.text(x, y, &turned, name);
    }

    fn legend(&mut self, names: &[&str]) {
        let step = (WIDTH - LEFT - RIGHT) / names.len().max(1) as f64;
        for (index, name) in names.iter().enumerate() {
            let x = LEFT + step * index as f64;
            self.push(format_args!(
                "<rect x=\"{x:.1}\" y=\"34\" width=\"12\" height=\"12\" fill=\"{}\"/>",
                colour(index)
            ));
            self.text(x + 18.0, 44.0, "", name);
        }
    }

    fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}

/// Figures by the names that [`bars`] is given; none where nothing was measured.
pub struct Bars {
    pub name: String,
    pub values: Vec<Option<f64>>,
}

/// Ratios as bars that grow from the line at 1, on a logarithmic axis.
#[allow(dead_code, reason = "not every bench has ratios by name")]
pub fn bars(title: &str, axis_name: &str, names: &[&str], series: &[Bars]) -> String {
    let values = series.iter().flat_map(|s| s.values.iter().flatten());
    let axis = Axis::around(
        values.copied().filter(|v| *v > 0.0).chain([0.5, 2.0]),
        HEIGHT - BOTTOM,
        TOP,
    );
    let mut drawing = Drawing::new(title);
    drawing.vertical_axis(&axis, axis_name);
    let group = (WIDTH - LEFT - RIGHT) / names.len().max(1) as f64;
    let width = group * 0.8 / series.len().max(1) as f64;
    let one = axis.pixel(1.0);
    for (index, name) in names.iter().enumerate() {
        let left = LEFT + group * (index as f64 + 0.1);
        for (which, one_series) in series.iter().enumerate() {
            let Some(value) = one_series.values.get(index).copied().flatten() else {
                continue;
            };
            let y = axis.pixel(value);
            drawing.push(format_args!(
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{}\">\
                 <title>{}: {value:.2}</title></rect>",
                left + width * which as f64,
                y.min(one),
                (y - one).abs(),
                colour(which),
                escape(name)
            ));
        }
        let (x, y) = (left + group * 0.4, HEIGHT - BOTTOM + 16.0);
        let turned = format!("text-anchor=\"end\" transform=\"rotate(-35 {x:.1} {y:.1})\"");
        drawing.text(x, y, &turned, name);
    }
    drawing.line((LEFT, one), (WIDTH - RIGHT, one), "black");
    let names: Vec<&str> = series.iter().map(|s| s.name.as_str()).collect();
    drawing.legend(&names);
    drawing.finish()
}

/// Points of one line, all coordinates positive.
#[allow(dead_code, reason = "not every bench shows growth")]
pub struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// Lines on two logarithmic axes: a straight line of slope one is linear growth.
#[allow(dead_code, reason = "not every bench shows growth")]
pub fn lines(title: &str, x_name: &str, y_name: &str, lines: &[Line]) -> String {
    let points = || lines.iter().flat_map(|line| line.points.iter());
    let across = Axis::around(points().map(|p| p.0), LEFT, WIDTH - RIGHT);
    let up = Axis::around(points().map(|p| p.1), HEIGHT - BOTTOM, TOP);
    let mut drawing = Drawing::new(title);
    drawing.vertical_axis(&up, y_name);
    for tick in across.ticks() {
        let x = across.pixel(tick);
        drawing.line((x, TOP), (x, HEIGHT - BOTTOM), "#dddddd");
        drawing.text(
            x,
            HEIGHT - BOTTOM + 16.0,
            "text-anchor=\"middle\"",
            &format!("{tick}"),
        );
    }
    drawing.text(
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - BOTTOM + 40.0,
        "text-anchor=\"middle\"",
        x_name,
    );
    for (index, line) in lines.iter().enumerate() {
        let path: Vec<String> = line
            .points
            .iter()
            .map(|(x, y)| format!("{:.1},{:.1}", across.pixel(*x), up.pixel(*y)))
            .collect();
        drawing.push(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>",
            path.join(" "),
            colour(index)
        ));
    }
    let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
    drawing.legend(&names);
    drawing.finish()
}
