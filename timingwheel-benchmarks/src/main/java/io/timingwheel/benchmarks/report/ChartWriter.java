package io.timingwheel.benchmarks.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

import io.timingwheel.benchmarks.Contestant;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler.LegendLayout;
import org.knowm.xchart.style.Styler.LegendPosition;

/** Draws the charts. */
final class ChartWriter {

	private static final int WIDTH = 900;

	private static final int HEIGHT = 420;

	private static final int LABEL_ROTATION = 20;

	/** Solid, because each dash of a line would be a path in the file. */
	private static final BasicStroke GRID = new BasicStroke(0.5f);

	private final Results results;

	ChartWriter(Results results) {
		this.results = results;
	}

	void write(Measurement measurement, Path file) throws IOException {
		List<? extends Contestant> contestants = measurement.contestants()
			.stream()
			.filter((contestant) -> this.results.has(measurement, contestant))
			.toList();
		VectorGraphicsEncoder.saveVectorGraphic(switch (measurement.chart().kind()) {
			case BARS -> bars(measurement, contestants, false);
			case LOGARITHMIC_BARS -> bars(measurement, contestants, true);
			case LINES -> lines(measurement, contestants);
		}, file.toString(), VectorGraphicsFormat.SVG);
	}

	private CategoryChart bars(Measurement measurement, List<? extends Contestant> contestants, boolean logarithmic) {
		CategoryChart chart = new CategoryChartBuilder().width(WIDTH)
			.height(HEIGHT)
			.title(measurement.title())
			.yAxisTitle(measurement.chart().axis())
			.build();
		style(chart.getStyler());
		chart.getStyler().setXAxisLabelRotation(LABEL_ROTATION);
		if (logarithmic) {
			chart.getStyler().setYAxisLogarithmic(true);
			chart.getStyler().setYAxisMin(1.0);
		}
		List<String> labels = contestants.stream().map(Contestant::label).toList();
		for (String key : measurement.chart().columns()) {
			Column column = measurement.column(key);
			List<Double> values = new ArrayList<>();
			for (Contestant contestant : contestants) {
				double value = this.results.median(measurement, contestant, column).orElse(0);
				// A logarithmic axis has no place for early timers.
				values.add(logarithmic ? Math.max(1, value) : value);
			}
			chart.addSeries(column.title(), labels, values);
		}
		return chart;
	}

	private XYChart lines(Measurement measurement, List<? extends Contestant> contestants) {
		XYChart chart = new XYChartBuilder().width(WIDTH)
			.height(HEIGHT)
			.title(measurement.title())
			.xAxisTitle("pending timers")
			.yAxisTitle(measurement.chart().axis())
			.build();
		style(chart.getStyler());
		chart.getStyler().setXAxisLogarithmic(true);
		chart.getStyler().setYAxisLogarithmic(true);
		for (Contestant contestant : contestants) {
			List<Double> x = new ArrayList<>();
			List<Double> y = new ArrayList<>();
			for (String key : measurement.chart().columns()) {
				OptionalDouble value = this.results.median(measurement, contestant, measurement.column(key));
				if (value.isPresent()) {
					x.add(Double.valueOf(key));
					y.add(value.getAsDouble());
				}
			}
			chart.addSeries(contestant.label(), x, y);
		}
		return chart;
	}

	private static void style(AxesChartStyler styler) {
		styler.setPlotGridLinesStroke(GRID);
		styler.setChartBackgroundColor(Color.WHITE);
		styler.setLegendPosition(LegendPosition.OutsideS);
		styler.setLegendLayout(LegendLayout.Horizontal);
	}

}
