package io.timingwheel.benchmarks.durable;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.timingwheel.benchmarks.report.Column;
import io.timingwheel.benchmarks.report.Measurement;
import io.timingwheel.benchmarks.report.Measurement.Chart;

/** The measurements of what many tasks leave behind in a table of PostgreSQL. */
final class SizeMeasurements {

	/** How many parts of the tasks run one after another beside an open transaction. */
	static final int TENTHS = 10;

	/** How many tasks a second fill and leave the table. */
	static final int GROWTH_RATE = 3_000;

	private static final int GROWTH_PARTS = 20;

	/** After how many parts the table should have its final size. */
	private static final int EARLY_PART = GROWTH_PARTS / 5;

	private final DurableSetup setup;

	private final int heldTasks;

	private final Duration growthTime;

	/**
	 * Creates the measurements.
	 * @param heldTasks how many tasks run while a transaction is open
	 * @param growthTime how long tasks are stored and run to see how the table grows
	 */
	SizeMeasurements(DurableSetup setup, int heldTasks, Duration growthTime) {
		this.setup = setup;
		this.heldTasks = heldTasks;
		this.growthTime = growthTime;
	}

	List<Measurement> all() {
		return (this.setup.store() == Store.POSTGRESQL) ? List.of(heldTransaction(), growth()) : List.of();
	}

	private Measurement heldTransaction() {
		return new Measurement("held-transaction", "Beside an open transaction",
				"""
						%,d tasks run on one node while another transaction is open, whose snapshot is older than all of them. Ten \
						times a tenth of them is stored, each task due when it is stored, and then runs. The last columns are the same \
						without the transaction.\
						"""
					.formatted(this.heldTasks),
				List.of(DurablePeer.TIMINGWHEEL, DurablePeer.DB_SCHEDULER, DurablePeer.GRAPHILE_WORKER),
				List.of(Column.perSecond("first", "first tenth"), Column.perSecond("last", "last tenth"),
						new Column("share", "last of first [%]", true, 0),
						Column.perSecond("first-alone", "without it, first tenth"),
						Column.perSecond("last-alone", "without it, last tenth")),
				List.of(this.setup.step(1, (nodes, peer) -> heldTransaction(nodes)),
						this.setup.step(1, (nodes, peer) -> figures(tenths(nodes), "-alone"))),
				new Chart(Chart.Kind.BARS, "executions/s", List.of("first", "last", "first-alone", "last-alone")));
	}

	private Map<String, Double> heldTransaction(Nodes nodes) throws Exception {
		double[] rates = nodes.server().besideTransaction(() -> tenths(nodes));
		Map<String, Double> figures = figures(rates, "");
		figures.put("share", 100 * rates[TENTHS - 1] / rates[0]);
		return figures;
	}

	private double[] tenths(Nodes nodes) throws Exception {
		int count = this.heldTasks / TENTHS;
		double[] rates = new double[TENTHS];
		for (int i = 0; i < TENTHS; i++) {
			nodes.all("pause");
			nodes.first().run("fill-now %d".formatted(count));
			nodes.all("reset");
			rates[i] = nodes.executions(count);
			System.err.printf("%n        tenth %d: %,.0f/s", i + 1, rates[i]);
		}
		return rates;
	}

	private static Map<String, Double> figures(double[] rates, String suffix) {
		Map<String, Double> figures = new HashMap<>();
		figures.put("first" + suffix, rates[0]);
		figures.put("last" + suffix, rates[TENTHS - 1]);
		return figures;
	}

	private Measurement growth() {
		return new Measurement("growth", "The size of the table under load",
				"""
						%,d tasks a second for %d s, each stored half a second to five before it is due, by a process that runs none, after \
						%.0f s of the same load; one node runs them. The first sizes are those after a fifth of the time, the last ones those at the end.\
						"""
					.formatted(GROWTH_RATE, this.growthTime.toSeconds(), DurableMeasurements.RUN_IN_SECONDS),
				List.of(DurablePeer.TIMINGWHEEL),
				List.of(Column.perSecond("rate", "stored"), Column.cost("p50", "p50 [ms]", 1),
						Column.cost("p99", "p99 [ms]", 1), Column.cost("max", "max [ms]", 1),
						Column.cost("table-early", "table after a fifth [MB]", 1),
						Column.cost("table", "table at the end [MB]", 1),
						Column.cost("indexes-early", "indexes after a fifth [MB]", 1),
						Column.cost("indexes", "indexes at the end [MB]", 1)),
				List.of(this.setup.step(1, (nodes, peer) -> growth(nodes))),
				new Chart(Chart.Kind.BARS, "MB", List.of("table-early", "table", "indexes-early", "indexes")));
	}

	private Map<String, Double> growth(Nodes nodes) throws Exception {
		Map<String, Double> figures = new HashMap<>();
		try (NodeProcess client = nodes.startClient()) {
			nodes.await((long) client.run(load(DurableMeasurements.RUN_IN_SECONDS), "count"));
			nodes.all("reset");
			FutureTask<Map<String, Double>> load = new FutureTask<>(
					() -> client.run(load(this.growthTime.toMillis() / 1e3)));
			long start = System.nanoTime();
			new Thread(load, "load").start();
			for (int part = 1; part <= GROWTH_PARTS; part++) {
				await(load, start + this.growthTime.toNanos() / GROWTH_PARTS * part);
				System.err.printf("%n        after %.0f s: %s", (System.nanoTime() - start) / 1e9, nodes.sizes());
				if (part == EARLY_PART) {
					nodes.server().megabytes().forEach((place, size) -> figures.put(place + "-early", size));
				}
			}
			figures.put("rate", Nodes.figure(load.get(), "rate"));
			nodes.await((long) Nodes.figure(load.get(), "count"));
		}
		figures.putAll(nodes.server().megabytes());
		Map<String, Double> lateness = nodes.first().run("figures");
		lateness.keySet().retainAll(List.of("p50", "p99", "max"));
		figures.putAll(lateness);
		return figures;
	}

	private static String load(double seconds) {
		return "load %d %s".formatted(GROWTH_RATE, seconds);
	}

	/** Waits until a time, or until the load has ended. */
	private static void await(FutureTask<?> load, long nanoTime) throws Exception {
		try {
			load.get(nanoTime - System.nanoTime(), TimeUnit.NANOSECONDS);
		}
		catch (TimeoutException ex) {
			// The load goes on.
		}
	}

}
