//! Tables and curves as SVG.

use super::Result;
use super::table::{Curves, Table, short};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Told apart with impaired colour vision, too (Okabe and Ito).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(213, 94, 0),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

fn colour(index: usize) -> RGBColor {
    COLOURS[index % COLOURS.len()]
}

/// A little more than the least and the greatest of `values`, which must be positive.
fn range(values: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
    let (low, high) = values
        .filter(|value| *value > 0.0)
        .fold((f64::MAX, f64::MIN_POSITIVE), |(low, high), value| {
            (low.min(value), high.max(value))
        });
    match low <= high {
        true => low / 1.2..high * 1.2,
        false => 0.1..10.0,
    }
}

/// The ratios of a table as bars on a logarithmic axis: to the right of 1 the first subject is better.
pub fn ratios(table: &Table) -> Result<String> {
    const BAR: i32 = 12;
    let others = table.columns.len().saturating_sub(1);
    let group = BAR * others as i32 + 8;
    let height = group * table.rows.len() as i32;
    let all = table.rows.iter().flat_map(|row| {
        (1..table.columns.len()).filter_map(|column| row.ratio(column).filter(|r| r.is_finite()))
    });
    let mut svg = String::new();
    {
        let size = (980, (height + 90 + 18 * others as i32) as u32);
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE)?;
        let first = table.columns.first().map_or("", String::as_str);
        let title = format!("{}: how many times better {first} is", table.title);
        let mut chart = ChartBuilder::on(&root)
            .caption(title, ("sans-serif", 16))
            .margin(8)
            .margin_top(18 * others as i32 + 8)
            .margin_right(50)
            .x_label_area_size(30)
            .y_label_area_size(350)
            .build_cartesian_2d(range(all.chain([0.5, 2.0])).log_scale(), 0..height)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .disable_y_axis()
            .y_labels(2)
            .y_label_formatter(&|_| String::new())
            .x_label_formatter(&|value| short(*value))
            .draw()?;
        let small = TextStyle::from(("sans-serif", 12)).pos(Pos::new(HPos::Left, VPos::Center));
        for column in 1..=others {
            let bars = table.rows.iter().enumerate().filter_map(|(index, row)| {
                let ratio = row.ratio(column).filter(|ratio| ratio.is_finite())?;
                let top = height - group * index as i32 - BAR * (column as i32 - 1) - 4;
                Some((ratio, top))
            });
            for (ratio, top) in bars {
                let corners = [(1.0, top), (ratio, top - BAR + 2)];
                let bar = Rectangle::new(corners, colour(column - 1).filled());
                chart.draw_series([bar])?;
                let place = chart.backend_coord(&(ratio.max(1.0), top - BAR / 2));
                root.draw(&Text::new(
                    short(ratio),
                    (place.0 + 4, place.1),
                    small.clone(),
                ))?;
            }
            let y = 24 + 18 * column as i32;
            let name = format!("against {}", table.columns[column]);
            let key = [(12, y - 5), (22, y + 5)];
            root.draw(&Rectangle::new(key, colour(column - 1).filled()))?;
            root.draw(&Text::new(name, (28, y), small.clone()))?;
        }
        let names = small.pos(Pos::new(HPos::Right, VPos::Center));
        for (index, row) in table.rows.iter().enumerate() {
            let middle = height - group * index as i32 - group / 2;
            let (_, y) = chart.backend_coord(&(1.0, middle));
            let name = format!("{} ({})", row.name, row.unit.name);
            root.draw(&Text::new(name, (348, y), names.clone()))?;
        }
        chart.draw_series([PathElement::new([(1.0, 0), (1.0, height)], BLACK)])?;
        root.present()?;
    }
    Ok(svg)
}

/// Curves on two logarithmic axes: a straight line of slope one is linear growth.
pub fn curves(curves: &Curves) -> Result<String> {
    let points = || curves.curves.iter().flat_map(|(_, points)| points);
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (960, 520)).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption(&curves.title, ("sans-serif", 16))
            .margin(10)
            .x_label_area_size(40)
            .y_label_area_size(70)
            .build_cartesian_2d(
                range(points().map(|point| point.0)).log_scale(),
                range(points().map(|point| point.1)).log_scale(),
            )?;
        chart
            .configure_mesh()
            .x_desc(curves.x)
            .y_desc(curves.y)
            .x_label_formatter(&|value| short(*value))
            .y_label_formatter(&|value| short(*value))
            .draw()?;
        for (index, (name, points)) in curves.curves.iter().enumerate() {
            let style = colour(index).stroke_width(2);
            let positive = points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0).copied();
            chart
                .draw_series(LineSeries::new(positive, style).point_size(3))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .draw()?;
        root.present()?;
    }
    Ok(svg)
}
