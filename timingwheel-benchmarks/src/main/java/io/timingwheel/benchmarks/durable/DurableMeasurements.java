package io.timingwheel.benchmarks.durable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.timingwheel.benchmarks.report.Column;
import io.timingwheel.benchmarks.report.Effort;
import io.timingwheel.benchmarks.report.Measurement;
import io.timingwheel.benchmarks.report.Measurement.Chart;
import io.timingwheel.benchmarks.report.Step;

/** The measurements of durable tasks. */
final class DurableMeasurements {

	private static final int BACKLOG = 25_000;

	private static final int LARGE_BACKLOG = 100_000;

	/** How long a load lasts before its figures count. */
	static final double RUN_IN_SECONDS = 5;

	private static final int SCHEDULES = 2_000;

	private static final int FAST_SCHEDULES = 4_000;

	private static final double FAST_SCHEDULE_SECONDS = 0.1;

	private static final int SCHEDULE_SECONDS = 10;

	private static final int USER_SCHEDULES = 100_000;

	/** Longer than it takes to store the schedules. */
	private static final int USER_SCHEDULE_SECONDS = 45;

	private static final int HEAD_OF_LINE_RATE = 200;

	/** In milliseconds. */
	private static final int[] SHORT_DELAYS = { 0, 20, 100 };

	private static final int SHORT_DELAY_RATE = 100;

	private final DurableSetup setup;

	private final Store store;

	private final Effort effort;

	private final List<DurablePeer> peers;

	DurableMeasurements(DurableSetup setup) {
		this.setup = setup;
		this.store = setup.store();
		this.effort = setup.effort();
		this.peers = contestants(false);
	}

	List<Measurement> all() {
		List<Measurement> all = new ArrayList<>(List.of(executions("executions", BACKLOG),
				executions("executions-100k", LARGE_BACKLOG), enqueue(), lateness(), shortDelays(), steadyLateness(),
				recurring(), recurringRate(), userSchedules(), headOfLine()));
		all.addAll((this.store == Store.POSTGRESQL) ? List.of(idle(), written()) : List.of(sharing()));
		return all;
	}

	private Measurement executions(String id, int count) {
		return new Measurement(id, "Executions from a backlog of %,d".formatted(count),
				"""
						%,d tasks are due, and their bodies only read the clock. The time counts from the first run to the last, \
						after %,d other tasks for each node to warm up."""
					.formatted(count, this.setup.warmUp()),
				contestants(true),
				List.of(Column.perSecond("1", "1 node"), Column.perSecond("2", "2 nodes"),
						Column.cost("node", "processor time of the node [us/task]", 0),
						Column.cost("server", "of the server [us/task]", 0)),
				List.of(step(1, (nodes, peer) -> executionsOfOneNode(nodes, count)),
						step(2, (nodes, peer) -> Map.of("2", executions(nodes, count)))),
				new Chart(Chart.Kind.BARS, "executions/s", List.of("1", "2")));
	}

	private List<DurablePeer> contestants(boolean large) {
		return Arrays.stream(DurablePeer.values())
			.filter((peer) -> peer.uses(this.store) && !peer.isSpecial() && (large || !peer.runsOtherwise()))
			.toList();
	}

	private static Map<String, Double> executionsOfOneNode(Nodes nodes, int count) throws Exception {
		nodes.fill(count);
		double node = nodes.first().run("cpu", "nanos");
		double server = nodes.server().cpuNanos();
		double rate = nodes.executions(count);
		double tasks = 1e3 * count;
		return Map.of("1", rate, "node", (nodes.first().run("cpu", "nanos") - node) / tasks, "server",
				(nodes.server().cpuNanos() - server) / tasks);
	}

	private static double executions(Nodes nodes, int count) throws Exception {
		nodes.fill(count);
		return nodes.executions(count);
	}

	private Measurement enqueue() {
		Column single = Column.perSecond("1", "1 thread");
		Column eight = Column.perSecond("8", "8 threads");
		Column batch = Column.perSecond("batch", "1 thread, 100 at once");
		return new Measurement("enqueue", "Storing",
				"""
						The tasks are due in an hour. The measurement takes %.0f s, after one thread and then all threads have warmed \
						up for %.1f s.\
						"""
					.formatted(enqueueSeconds(), 2.5 * enqueueSeconds()),
				this.peers, List.of(single, eight, batch),
				List.of(enqueue("1", 1, 1), enqueue("8", 8, 1), enqueue("batch", 1, 100)),
				new Chart(Chart.Kind.BARS, "tasks/s", List.of("1", "8", "batch")));
	}

	private Step enqueue(String column, int threads, int batch) {
		return step(1, (nodes, peer) -> Map.of(column,
				nodes.first().run("enqueue %d %d %s".formatted(threads, batch, enqueueSeconds()), "rate")));
	}

	private double enqueueSeconds() {
		return this.effort.seconds() / 5;
	}

	private Measurement lateness() {
		return new Measurement("lateness", "Lateness", """
				%,d tasks a second for %.0f s, each stored half a second to five before it is due, by the node that \
				runs it.""".formatted(this.store.rate(), this.effort.seconds()), this.peers, latenessColumns(),
				List.of(step(1, (nodes, peer) -> {
					nodes.await(load(nodes.first(), this.effort.seconds()));
					Map<String, Double> figures = nodes.first().run("figures");
					figures.keySet().retainAll(List.of("early", "p50", "p99", "max", "max-at"));
					return figures;
				})), new Chart(Chart.Kind.LOGARITHMIC_BARS, "ms", List.of("p50", "p99")));
	}

	private Measurement shortDelays() {
		List<Column> columns = new ArrayList<>();
		List<Step> steps = new ArrayList<>();
		for (int delay : SHORT_DELAYS) {
			String p50 = delay + "-p50";
			String p99 = delay + "-p99";
			columns.add(Column.cost(p50, "%d ms: p50 [ms]".formatted(delay), 1));
			columns.add(Column.cost(p99, "%d ms: p99 [ms]".formatted(delay), 1));
			steps.add(step(1, (nodes, peer) -> {
				nodes.first().run("load %d 2 %d".formatted(SHORT_DELAY_RATE, delay));
				nodes.await((long) SHORT_DELAY_RATE * 2);
				nodes.all("reset");
				nodes.await((long) nodes.first()
					.run("load %d %s %d".formatted(SHORT_DELAY_RATE, this.effort.seconds(), delay), "count"));
				Map<String, Double> figures = nodes.first().run("figures");
				return Map.of(p50, Nodes.figure(figures, "p50"), p99, Nodes.figure(figures, "p99"));
			}));
		}
		return new Measurement("short-delays", "Short delays",
				"""
						%,d tasks a second for %.0f s, each due when its node stores it, or 20 or 100 ms later."""
					.formatted(SHORT_DELAY_RATE, this.effort.seconds()),
				this.peers, columns, steps,
				new Chart(Chart.Kind.LOGARITHMIC_BARS, "ms", columns.stream().map(Column::key).toList()));
	}

	private long load(NodeProcess node, double seconds) throws Exception {
		return load(node, this.store.rate(), seconds);
	}

	private static long load(NodeProcess node, int rate, double seconds) throws Exception {
		return (long) node.run("load %d %s".formatted(rate, seconds), "count");
	}

	private Measurement steadyLateness() {
		List<Column> columns = new ArrayList<>(latenessColumns());
		columns.add(Column.perSecond("rate", "stored"));
		columns.add(new Column("share", "smaller share [%]", true, 1));
		columns.add(Column.cost("larger", "larger share [%]", 1));
		return new Measurement("steady-lateness", "Lateness at a high rate",
				"""
						%,d tasks a second for %.0f s, each stored half a second to five before it is due, by a third node \
						that runs none, after %.0f s of the same load. The lateness is that of the node of two whose figure is worse.\
						"""
					.formatted(this.store.highRate(), this.effort.seconds(), RUN_IN_SECONDS),
				peersWithClient(), columns, List.of(step(2, (nodes, peer) -> steadyLateness(nodes))),
				new Chart(Chart.Kind.LOGARITHMIC_BARS, "ms", List.of("p50", "p99")));
	}

	/** The peers that can have a node that only stores tasks. */
	private List<DurablePeer> peersWithClient() {
		return this.peers.stream().filter(DurablePeer::canPause).toList();
	}

	private Map<String, Double> steadyLateness(Nodes nodes) throws Exception {
		double rate;
		try (NodeProcess client = nodes.startClient()) {
			nodes.await(load(client, this.store.highRate(), RUN_IN_SECONDS));
			nodes.all("reset");
			Map<String, Double> load = client.run("load %d %s".formatted(this.store.highRate(), this.effort.seconds()));
			rate = Nodes.figure(load, "rate");
			nodes.await((long) Nodes.figure(load, "count"));
		}
		List<Map<String, Double>> answers = nodes.all("figures");
		Map<String, Double> figures = worst(answers);
		double share = smallerShare(answers);
		figures.put("rate", rate);
		figures.put("share", share);
		figures.put("larger", 100 - share);
		return figures;
	}

	/** The lateness of the node whose figure is worse. */
	private static Map<String, Double> worst(List<Map<String, Double>> answers) {
		Map<String, Double> worst = new HashMap<>();
		for (String figure : List.of("early", "p50", "p99", "max")) {
			worst.put(figure,
					answers.stream().mapToDouble((answer) -> answer.getOrDefault(figure, 0.0)).max().orElse(0));
		}
		return worst;
	}

	private static List<Column> latenessColumns() {
		return List.of(Column.cost("early", "early", 0), Column.cost("p50", "p50 [ms]", 1),
				Column.cost("p99", "p99 [ms]", 1), Column.cost("max", "max [ms]", 1));
	}

	private List<DurablePeer> contestantsWithSchedules() {
		return Arrays.stream(DurablePeer.values())
			.filter((peer) -> peer.uses(this.store) && peer.hasSchedules())
			.toList();
	}

	private Measurement recurring() {
		List<Column> columns = new ArrayList<>(latenessColumns());
		columns.add(Column.perSecond("rate", "runs"));
		return new Measurement("recurring", "Recurring tasks",
				"""
						%,d schedules with a period of %d s, so %d runs a second for %.0f s on two nodes. The lateness is that of \
						the node whose figure is worse.\
						"""
					.formatted(SCHEDULES, SCHEDULE_SECONDS, SCHEDULES / SCHEDULE_SECONDS, this.effort.seconds()),
				contestantsWithSchedules(), columns,
				List.of(step(2, (nodes, peer) -> recurring(nodes, SCHEDULES, SCHEDULE_SECONDS))),
				new Chart(Chart.Kind.LOGARITHMIC_BARS, "ms", List.of("p50", "p99")));
	}

	private Measurement recurringRate() {
		return new Measurement("recurring-rate", "Recurring tasks at the limit",
				"""
						%,d schedules with a period of 100 ms on two nodes, more than any contestant can run. The figure is how \
						many runs a second there are in %.0f s.\
						"""
					.formatted(FAST_SCHEDULES, this.effort.seconds()),
				contestantsWithSchedules(), List.of(Column.perSecond("rate", "runs")),
				List.of(step(2,
						(nodes, peer) -> Map.of("rate",
								Nodes.figure(recurring(nodes, FAST_SCHEDULES, FAST_SCHEDULE_SECONDS), "rate")))),
				new Chart(Chart.Kind.BARS, "runs/s", List.of("rate")));
	}

	private Map<String, Double> recurring(Nodes nodes, int schedules, double period) throws Exception {
		nodes.first().run("recur %d %s %d".formatted(schedules, period, SCHEDULE_SECONDS));
		TimeUnit.MILLISECONDS.sleep((long) (RUN_IN_SECONDS * 1_000));
		nodes.all("reset");
		long start = System.nanoTime();
		TimeUnit.MILLISECONDS.sleep((long) (this.effort.seconds() * 1_000));
		double runs = Nodes.sum(nodes.all("count"), "count");
		double rate = runs * 1e9 / (System.nanoTime() - start);
		Map<String, Double> figures = worst(nodes.all("figures"));
		figures.put("rate", rate);
		return figures;
	}

	private Measurement userSchedules() {
		return new Measurement("user-schedules", "Schedules of users",
				"""
						%,d schedules with a period of %d s: eight threads store them, each runs once, and eight threads end them \
						all. One node.\
						"""
					.formatted(USER_SCHEDULES, USER_SCHEDULE_SECONDS),
				List.of(DurablePeer.TIMINGWHEEL),
				List.of(Column.perSecond("store", "store"), Column.cost("p50", "lateness p50 [ms]", 1),
						Column.cost("p99", "p99 [ms]", 1), Column.perSecond("cancel", "cancel")),
				List.of(step(1, (nodes, peer) -> userSchedules(nodes.first(), nodes))),
				new Chart(Chart.Kind.BARS, "schedules/s", List.of("store", "cancel")));
	}

	private static Map<String, Double> userSchedules(NodeProcess node, Nodes nodes) throws Exception {
		double store = node.run("schedules %d %d".formatted(USER_SCHEDULES, USER_SCHEDULE_SECONDS), "rate");
		nodes.await(USER_SCHEDULES);
		Map<String, Double> figures = worst(nodes.all("figures"));
		figures.keySet().retainAll(List.of("p50", "p99"));
		figures.put("store", store);
		figures.put("cancel", node.run("cancel %d".formatted(USER_SCHEDULES), "rate"));
		return figures;
	}

	private Measurement headOfLine() {
		return new Measurement("head-of-line", "Beside a limited name",
				"""
						%d tasks a second for %.0f s of a name without a policy, each stored half a second to five before it is \
						due. In the second line 1,000,000 tasks of another name, which may start 100 times a second, are due all the \
						time.\
						"""
					.formatted(HEAD_OF_LINE_RATE, this.effort.seconds()),
				List.of(DurablePeer.TIMINGWHEEL, DurablePeer.TIMINGWHEEL_BACKLOG), latenessColumns(),
				List.of(step(1, this::headOfLine)),
				new Chart(Chart.Kind.LOGARITHMIC_BARS, "ms", List.of("p50", "p99")));
	}

	private Map<String, Double> headOfLine(Nodes nodes, DurablePeer peer) throws Exception {
		if (peer == DurablePeer.TIMINGWHEEL_BACKLOG) {
			nodes.first().run("fill-limited 1000000");
		}
		nodes.await(load(nodes.first(), HEAD_OF_LINE_RATE, RUN_IN_SECONDS));
		nodes.all("reset");
		nodes.await(load(nodes.first(), HEAD_OF_LINE_RATE, this.effort.seconds()));
		return worst(nodes.all("figures"));
	}

	private static double smallerShare(List<Map<String, Double>> counts) {
		double least = counts.stream().mapToDouble((answer) -> Nodes.figure(answer, "count")).min().orElseThrow();
		return 100 * least / Nodes.sum(counts, "count");
	}

	private Measurement idle() {
		return new Measurement("idle", "Idling",
				"Statements per second of a node that has nothing to do, transaction statements included.", this.peers,
				List.of(Column.cost("statements", "statements/s", 2)), List.of(step(1, (nodes, peer) -> {
					TimeUnit.SECONDS.sleep(3);
					long before = nodes.server().statements();
					long start = System.nanoTime();
					TimeUnit.MILLISECONDS.sleep((long) (this.effort.seconds() * 1_000 / 2));
					long statements = nodes.server().statements() - before;
					return Map.of("statements", statements * 1e9 / (System.nanoTime() - start));
				})), new Chart(Chart.Kind.BARS, "statements/s", List.of("statements")));
	}

	private Measurement written() {
		return new Measurement("written", "Written",
				"""
						What the server writes for each of %,d tasks, which are stored 100 at once and due then, until it is gone."""
					.formatted(LARGE_BACKLOG),
				contestants(true),
				List.of(Column.cost("wal", "log [bytes/task]", 0), Column.cost("dead", "dead rows [/task]", 2)),
				List.of(step(1, (nodes, peer) -> {
					Map<String, Double> before = written(nodes);
					nodes.fill(LARGE_BACKLOG);
					nodes.executions(LARGE_BACKLOG);
					Map<String, Double> figures = written(nodes);
					figures.replaceAll((key, value) -> (value - Nodes.figure(before, key)) / LARGE_BACKLOG);
					return figures;
				})), new Chart(Chart.Kind.BARS, "bytes/task", List.of("wal")));
	}

	private static Map<String, Double> written(Nodes nodes) throws InterruptedException {
		// Connections report with a delay, so some rows are missing or too many.
		TimeUnit.SECONDS.sleep(2);
		return nodes.server().written();
	}

	private Measurement sharing() {
		return new Measurement("sharing", "Two nodes share a steady load", """
				%,d tasks a second for %.0f s, stored by a third node that runs none: the share of the node that runs \
				fewer.""".formatted(this.store.rate(), this.effort.seconds() / 2), peersWithClient(),
				List.of(new Column("share", "smaller share [%]", true, 1)),
				List.of(step(2, (nodes, peer) -> Map.of("share", share(nodes)))),
				new Chart(Chart.Kind.BARS, "%", List.of("share")));
	}

	private double share(Nodes nodes) throws Exception {
		try (NodeProcess client = nodes.startClient()) {
			nodes.await(load(client, this.effort.seconds() / 2));
		}
		return smallerShare(nodes.all("count"));
	}

	private Step step(int nodes, DurableStep.Work work) {
		return this.setup.step(nodes, work);
	}

}
