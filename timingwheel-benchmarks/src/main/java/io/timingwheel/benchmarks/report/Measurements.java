package io.timingwheel.benchmarks.report;

import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.timingwheel.benchmarks.experiment.Experiment;
import io.timingwheel.benchmarks.peer.Peer;
import io.timingwheel.benchmarks.report.JmhStep.Figure;
import io.timingwheel.benchmarks.report.Measurement.Chart;
import io.timingwheel.benchmarks.spring.CallWay;
import io.timingwheel.benchmarks.spring.DelayedCallBenchmark;
import io.timingwheel.benchmarks.spring.LimitWay;
import io.timingwheel.benchmarks.spring.TimeoutCallBenchmark;
import io.timingwheel.benchmarks.throughput.ChurnBenchmark;
import io.timingwheel.benchmarks.throughput.Clock;
import io.timingwheel.benchmarks.throughput.Delays;
import io.timingwheel.benchmarks.throughput.HeartbeatBenchmark;
import io.timingwheel.benchmarks.throughput.HeartbeatWay;
import io.timingwheel.benchmarks.throughput.ResetBenchmark;
import io.timingwheel.benchmarks.throughput.ScheduleBenchmark;

/** The measurements of the engine and of annotated methods. */
final class Measurements {

	private static final Set<Peer> MAIN = EnumSet
		.complementOf(EnumSet.of(Peer.TIMINGWHEEL_100US, Peer.TIMINGWHEEL_ONE_SHARD));

	private static final Set<Peer> ALL = EnumSet.complementOf(EnumSet.of(Peer.TIMINGWHEEL_ONE_SHARD));

	/** The caller reads the clock once for many calls. */
	private static final Map<String, String> DEADLINES = Map.of("clock", Clock.EACH_TURN.name());

	private static final List<String> SMALL_YOUNG_GENERATION = List.of("-Xmn640m");

	/** All delays are the same. */
	private static final Map<String, String> FIXED = Map.of("delays", Delays.FIXED.name());

	private final Effort effort;

	private Measurements(Effort effort) {
		this.effort = effort;
	}

	static List<Measurement> all(Effort effort) {
		Measurements all = new Measurements(effort);
		return List.of(all.schedule(), all.churn(), all.fixedChurn(), all.reset(), all.heartbeat(), all.churnByDepth(),
				all.resetByDepth(), all.footprint(), all.lateness(), all.busyLateness(), all.callTimes(), all.idle(),
				all.burst(), all.delayedCall(), all.timeoutCall());
	}

	private Measurement schedule() {
		return new Measurement("schedule", "Schedule",
				"""
						Timers of 10 to 20 minutes, in batches. Cancelling a batch is not timed. %,d timers are pending. %s"""
					.formatted(this.effort.timers(), deadlineText()),
				MAIN, List.of(threads(1), threads(2), deadlines(1), deadlines(2)),
				List.of(peers(ScheduleBenchmark.class, 1, rate("1")), peers(ScheduleBenchmark.class, 2, rate("2")),
						peers(ScheduleBenchmark.class, 1, rate("deadline1"), DEADLINES),
						peers(ScheduleBenchmark.class, 2, rate("deadline2"), DEADLINES)),
				new Chart(Chart.Kind.BARS, "M/s", List.of("1", "2", "deadline1", "deadline2")));
	}

	private Measurement churn() {
		return new Measurement("churn", "Schedule and cancel",
				"""
						Each timer is cancelled at once, as nearly all timeouts are cancelled before they end. %,d other timers are pending. \
						The processor time is that of the whole process per pair, and includes the work of a peer's own thread. %s"""
					.formatted(this.effort.timers(), deadlineText()),
				MAIN, List.of(threads(1), threads(2), threads(8), deadlines(1), deadlines(2), cpu(1), cpu(2), cpu(8)),
				List.of(peers(ChurnBenchmark.class, 1, rateAndCpu(1)), peers(ChurnBenchmark.class, 2, rateAndCpu(2)),
						peers(ChurnBenchmark.class, 8, rateAndCpu(8)),
						peers(ChurnBenchmark.class, 1, rate("deadline1"), DEADLINES),
						peers(ChurnBenchmark.class, 2, rate("deadline2"), DEADLINES)),
				new Chart(Chart.Kind.BARS, "M/s", List.of("1", "2", "8", "deadline1", "deadline2")));
	}

	/**
	 * The young generation is small, so that the pending timers grow old during the
	 * measurement, as they do in a JVM that runs for long.
	 */
	private Measurement fixedChurn() {
		return new Measurement("fixed-churn", "Schedule and cancel with one fixed delay",
				"""
						Each timer has a delay of 30 s and is cancelled at once. %,d other timers are pending, which are due in 1 s to 10 min. \
						`old` is the same with a young generation of 640 MB, in which the other timers soon belong to the old generation. %s"""
					.formatted(this.effort.timers(), deadlineText()),
				MAIN,
				List.of(threads(1), threads(2), deadlines(1), deadlines(2), Column.rate("old1", "old, 1 thread"),
						Column.rate("old-random1", "old, random delays, 1 thread")),
				List.of(peers(ChurnBenchmark.class, 1, rate("1"), FIXED),
						peers(ChurnBenchmark.class, 2, rate("2"), FIXED),
						peers(ChurnBenchmark.class, 1, rate("deadline1"), both(FIXED, DEADLINES)),
						peers(ChurnBenchmark.class, 2, rate("deadline2"), both(FIXED, DEADLINES)),
						peers(ChurnBenchmark.class, 1, rate("old1"), FIXED).withJvmArgs(SMALL_YOUNG_GENERATION),
						peers(ChurnBenchmark.class, 1, rate("old-random1")).withJvmArgs(SMALL_YOUNG_GENERATION)),
				new Chart(Chart.Kind.BARS, "M/s", List.of("1", "2", "deadline1", "deadline2", "old1", "old-random1")));
	}

	private Measurement reset() {
		return new Measurement("reset", "Reset to later",
				"""
						A random one of %,d pending timers gets a deadline later than its own. A peer that cannot move a timer \
						cancels it and schedules another, which takes its place in the array of the caller. %s"""
					.formatted(this.effort.timers(), deadlineText()),
				MAIN, List.of(threads(1), threads(2), deadlines(1), deadlines(2), cpu(1), cpu(2)),
				List.of(peers(ResetBenchmark.class, 1, rateAndCpu(1)), peers(ResetBenchmark.class, 2, rateAndCpu(2)),
						peers(ResetBenchmark.class, 1, rate("deadline1"), DEADLINES),
						peers(ResetBenchmark.class, 2, rate("deadline2"), DEADLINES)),
				new Chart(Chart.Kind.BARS, "M/s", List.of("1", "2", "deadline1", "deadline2")));
	}

	private static String deadlineText() {
		return "\"Deadlines\": the caller reads the clock once for %d calls, and gives deadlines to peers that take them."
			.formatted(Clock.TURN);
	}

	private Measurement heartbeat() {
		return new Measurement("heartbeat", "Heartbeats by key",
				"""
						Each operation is a heartbeat of a random key of %,d. Each contestant finds the key in a `ConcurrentHashMap`."""
					.formatted(this.effort.timers()),
				EnumSet.allOf(HeartbeatWay.class), List.of(threads(1), threads(2), cpu(1), cpu(2)),
				List.of(heartbeats(1), heartbeats(2)), new Chart(Chart.Kind.BARS, "M/s", List.of("1", "2")));
	}

	private Measurement churnByDepth() {
		return byDepth("churn-by-depth", "Schedule and cancel by the number of pending timers", ChurnBenchmark.class);
	}

	private Measurement resetByDepth() {
		return byDepth("reset-by-depth", "Reset to later by the number of pending timers", ResetBenchmark.class);
	}

	private Measurement byDepth(String id, String title, Class<?> benchmark) {
		List<String> depths = this.effort.depths().stream().map(String::valueOf).toList();
		return new Measurement(id, title, "One thread.",
				EnumSet.of(Peer.TIMINGWHEEL, Peer.NETTY_1MS, Peer.KAFKA, Peer.STPE, Peer.FORK_JOIN_POOL),
				depths.stream()
					.map((depth) -> Column.cost(depth, "%,d [ns]".formatted(Integer.parseInt(depth)), 0))
					.toList(),
				depths.stream()
					.<Step>map((depth) -> new JmhStep(benchmark, "peer", Map.of("pending", depth), 1,
							Map.of(depth, Figure.NANOS)))
					.toList(),
				new Chart(Chart.Kind.LINES, "ns", depths));
	}

	private Measurement footprint() {
		return new Measurement("footprint", "Memory",
				"""
						Heap in use after a full collection, per timer of %,d. The timers share one task; Kafka needs a task for each. \
						Agrona keeps no task."""
					.formatted(this.effort.timers()),
				MAIN,
				List.of(Column.cost("pending", "pending [bytes]", 1),
						Column.cost("cancelled", "left directly after cancel [bytes]", 1)),
				List.of(new ExperimentStep(Experiment.FOOTPRINT, this.effort.timers(),
						figures("pending", "cancelled"))),
				new Chart(Chart.Kind.BARS, "bytes per timer", List.of("pending", "cancelled")));
	}

	private Measurement lateness() {
		return new Measurement("lateness", "Lateness",
				"""
						%,d timers at random times within %.0f s. Their tasks read the clock on the peer's own thread. The \
						processor time is that of the process in these seconds. Kafka takes whole milliseconds, rounded up here."""
					.formatted(this.effort.timers(), this.effort.seconds()),
				ALL,
				List.of(Column.cost("early", "early", 0), Column.cost("p50", "p50 [us]", 0),
						Column.cost("p99", "p99 [us]", 0), Column.cost("max", "max [us]", 0),
						Column.cost("cpu", "CPU [ms]", 0)),
				List.of(new ExperimentStep(Experiment.LATENESS, this.effort.timers(),
						figures("early", "p50", "p99", "max", "cpu"))),
				new Chart(Chart.Kind.LOGARITHMIC_BARS, "us", List.of("p50", "p99")));
	}

	private Measurement busyLateness() {
		return new Measurement("busy-lateness", "Lateness behind eight busy callers",
				"""
						%,d timers at random times within %.0f s, while eight threads schedule and cancel others as fast as they can. \
						All callers of a wheel with one shard meet its driver at the same lock."""
					.formatted(this.effort.timers() / 10, this.effort.seconds()),
				EnumSet.of(Peer.TIMINGWHEEL, Peer.TIMINGWHEEL_ONE_SHARD, Peer.NETTY_1MS, Peer.KAFKA, Peer.STPE,
						Peer.FORK_JOIN_POOL),
				List.of(Column.cost("p50", "p50 [us]", 0), Column.cost("p99", "p99 [us]", 0),
						Column.cost("p999", "p99.9 [us]", 0), Column.cost("max", "max [us]", 0)),
				List.of(new ExperimentStep(Experiment.BUSY_LATENESS, this.effort.timers() / 10,
						figures("p50", "p99", "p999", "max"))),
				new Chart(Chart.Kind.LOGARITHMIC_BARS, "us", List.of("p50", "p99", "p999")));
	}

	private Measurement callTimes() {
		return new Measurement("call-times", "The time of a call under load",
				"""
						Each call is timed alone, 200,000 pairs of schedule and cancel a second, while %,d timers of the same caller fire \
						within %.0f s. A reading of the clock is part of each figure."""
					.formatted(this.effort.timers(), this.effort.seconds()),
				MAIN,
				List.of(Column.cost("schedule-p50", "schedule p50 [us]", 2),
						Column.cost("schedule-p99", "schedule p99 [us]", 2),
						Column.cost("schedule-p999", "schedule p99.9 [us]", 2),
						Column.cost("cancel-p50", "cancel p50 [us]", 2),
						Column.cost("cancel-p99", "cancel p99 [us]", 2),
						Column.cost("cancel-p999", "cancel p99.9 [us]", 2)),
				List.of(new ExperimentStep(Experiment.CALL_TIMES, this.effort.timers(),
						figures("schedule-p50", "schedule-p99", "schedule-p999", "cancel-p50", "cancel-p99",
								"cancel-p999"))),
				new Chart(Chart.Kind.LOGARITHMIC_BARS, "us",
						List.of("schedule-p99", "schedule-p999", "cancel-p99", "cancel-p999")));
	}

	private Measurement idle() {
		return new Measurement("idle", "Idling", """
				Processor time beyond that of the same JVM before the peer started, with nothing pending and with \
				%,d timers an hour away.""".formatted(this.effort.timers()), ALL,
				List.of(Column.cost("0", "nothing [ms per s]", 2), Column.cost("far", "far timers [ms per s]", 2)),
				List.of(new ExperimentStep(Experiment.IDLE, 0, Map.of("cpu", "0")),
						new ExperimentStep(Experiment.IDLE, this.effort.timers(), Map.of("cpu", "far"))),
				new Chart(Chart.Kind.BARS, "ms per s", List.of("0", "far")));
	}

	private Measurement burst() {
		return new Measurement("burst", "Burst", """
				%,d timers due at one instant, and an unrelated one 50 ms later.""".formatted(this.effort.timers()),
				MAIN,
				List.of(Column.cost("last", "last one after [ms]", 1),
						Column.cost("unrelated", "unrelated one late by [ms]", 1)),
				List.of(new ExperimentStep(Experiment.BURST, this.effort.timers(), figures("last", "unrelated"))),
				new Chart(Chart.Kind.BARS, "ms", List.of("last", "unrelated")));
	}

	private Measurement delayedCall() {
		return new Measurement("delayed-call", "A call that runs later",
				"""
						The time of the caller, in batches, and the processor time of the whole process per call, including the run \
						on Spring Boot's executor. A delayed call runs 300 ms later, after its batch. The runs of `@Async` begin during \
						the batch, and so take time from the caller where all cores are busy.""",
				EnumSet.allOf(CallWay.class),
				List.of(Column.cost("call", "call [ns]", 0), Column.cost("cpu", "CPU, run included [ns]", 0)),
				List.of(new JmhStep(DelayedCallBenchmark.class, "way", Map.of(), 1,
						Map.of("call", Figure.NANOS, "cpu", Figure.CPU))),
				new Chart(Chart.Kind.BARS, "ns", List.of("call", "cpu")));
	}

	private Measurement timeoutCall() {
		return new Measurement("timeout-call", "A call with a limit",
				"The method does nothing. A bare proxy is the floor, not a peer.", EnumSet.allOf(LimitWay.class),
				List.of(Column.cost("call", "call [ns]", 0), Column.cost("cpu", "CPU [ns]", 0)),
				List.of(new JmhStep(TimeoutCallBenchmark.class, "way", Map.of(), 1,
						Map.of("call", Figure.NANOS, "cpu", Figure.CPU))),
				new Chart(Chart.Kind.LOGARITHMIC_BARS, "ns", List.of("call", "cpu")));
	}

	private static Column threads(int count) {
		return Column.rate(String.valueOf(count), (count == 1) ? "1 thread" : count + " threads");
	}

	private static Column cpu(int threads) {
		return Column.cost("cpu" + threads, "CPU, %d [ns]".formatted(threads), 0);
	}

	private static Column deadlines(int threads) {
		return Column.rate("deadline" + threads, "deadlines, " + ((threads == 1) ? "1 thread" : threads + " threads"));
	}

	private static Map<String, Figure> rate(String column) {
		return Map.of(column, Figure.RATE);
	}

	private static Map<String, Figure> rateAndCpu(int threads) {
		return Map.of(String.valueOf(threads), Figure.RATE, "cpu" + threads, Figure.CPU);
	}

	private JmhStep peers(Class<?> benchmark, int threads, Map<String, Figure> figures) {
		return peers(benchmark, threads, figures, Map.of());
	}

	private JmhStep peers(Class<?> benchmark, int threads, Map<String, Figure> figures, Map<String, String> params) {
		return new JmhStep(benchmark, "peer", both(Map.of("pending", String.valueOf(this.effort.timers())), params),
				threads, figures);
	}

	private static Map<String, String> both(Map<String, String> some, Map<String, String> others) {
		Map<String, String> both = new HashMap<>(some);
		both.putAll(others);
		return both;
	}

	private Step heartbeats(int threads) {
		return new JmhStep(HeartbeatBenchmark.class, "way", Map.of("keys", String.valueOf(this.effort.timers())),
				threads, rateAndCpu(threads));
	}

	private static Map<String, String> figures(String... names) {
		Map<String, String> figures = new LinkedHashMap<>();
		for (String name : names) {
			figures.put(name, name);
		}
		return figures;
	}

}
