package io.timingwheel.benchmarks.durable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;

import io.timingwheel.benchmarks.Contestant;
import io.timingwheel.benchmarks.report.Effort;
import io.timingwheel.benchmarks.report.Measurement;
import io.timingwheel.benchmarks.report.ReportOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures durable tasks and writes the report. */
@Command(name = "durable", mixinStandardHelpOptions = true, sortOptions = false,
		description = "Measures durable tasks beside peers on a server that it starts, and writes tables, figures and"
				+ " charts. Peers that are written for Node.js take part where node and npm are there.")
public final class DurableCommand implements Callable<Integer> {

	private static final List<String> JVM = List.of("-Xms1g", "-Xmx1g", "-XX:+UseG1GC");

	private static final int HELD_TASKS = 2_000_000;

	private static final int MAX_PENDING = 100_000_000;

	private static final Duration GROWTH_TIME = Duration.ofMinutes(10);

	private static final Duration MAX_GROWTH_TIME = Duration.ofMinutes(Probe.MAX / (60 * SizeMeasurements.GROWTH_RATE));

	/** One of the two nodes of a measurement may run the tasks of both. */
	private static final int MAX_WARM_UP = Probe.MAX / 2;

	@Mixin
	private ReportOptions options = new ReportOptions();

	@Option(names = "--store", required = true, paramLabel = "STORE",
			description = "The server: ${COMPLETION-CANDIDATES}.")
	private Store store = Store.POSTGRESQL;

	@Option(names = "--peers", split = ",", paramLabel = "PEER",
			description = "What to compare: ${COMPLETION-CANDIDATES}. Default: all that use the server."
					+ " QUARTZ and TIMINGWHEEL_BACKLOG take part only in the measurements that are made for them.")
	private List<DurablePeer> peers = List.of();

	@Option(names = "--warm-up", paramLabel = "TASKS",
			description = "How many tasks each node runs before each measurement, on average. Default: ${DEFAULT-VALUE},"
					+ " before the JIT compiler has finished.",
			defaultValue = "10000")
	private int warmUp = 10_000;

	@Option(names = "--commit-latency", paramLabel = "TIME", converter = DurationConverter.class,
			description = "On postgresql: how much longer each commit that waits for the disk takes, such as 5ms, as on a"
					+ " slow disk. Default: nothing.")
	private Duration commitLatency = Duration.ZERO;

	@Option(names = "--pending", paramLabel = "TASKS",
			description = "How many other tasks are pending during all measurements, such as 10000000. Only timingwheel"
					+ " takes part then. Default: none.")
	private int pending;

	@Option(names = "--held-tasks", paramLabel = "TASKS",
			description = "How many tasks run in held-transaction. Default: 2000000.")
	private int heldTasks = HELD_TASKS;

	@Option(names = "--growth-time", paramLabel = "TIME", converter = DurationConverter.class,
			description = "How long growth takes, such as 2m. Default: 10m.")
	private Duration growthTime = GROWTH_TIME;

	@SuppressWarnings("NullAway.Init")
	private CommandSpec spec;

	private @Nullable Server server;

	@Spec
	void listMeasurements(CommandSpec spec) {
		this.spec = spec;
		Map<String, String> titles = new LinkedHashMap<>();
		Map<String, String> stores = new LinkedHashMap<>();
		for (Store each : Store.values()) {
			for (Measurement measurement : measurements(DurableSetup.of(each))) {
				titles.put(measurement.id(), measurement.title());
				stores.merge(measurement.id(), " (only " + name(each) + ")", (some, other) -> "");
			}
		}
		titles.replaceAll((id, title) -> title + stores.get(id));
		ReportOptions.listMeasurements(spec, titles);
	}

	@Override
	public Integer call() throws Exception {
		check();
		Effort effort = Effort.of(this.options.isQuick() ? 15 : 60, JVM);
		DurableSetup setup = new DurableSetup(this.store, this::server, effort, this.warmUp, this.commitLatency,
				this.pending);
		List<Measurement> measurements = measurements(setup).stream()
			.map((measurement) -> measurement.withRemark(setup.conditions()))
			.toList();
		this.options.check(measurements, this::isChosen);
		try (Server server = this.store.start(this.commitLatency)) {
			this.server = server;
			return this.options.report(setup.name(), measurements, this::isChosen, effort);
		}
	}

	private Server server() {
		return Objects.requireNonNull(this.server, "The server has not started");
	}

	private List<Measurement> measurements(DurableSetup setup) {
		List<Measurement> measurements = new ArrayList<>(new DurableMeasurements(setup).all());
		measurements.addAll(new SizeMeasurements(setup, this.heldTasks, this.growthTime).all());
		return measurements;
	}

	private void check() {
		List<DurablePeer> others = this.peers.stream().filter((peer) -> !peer.uses(this.store)).toList();
		require(others.isEmpty(), "%s cannot use --store %s".formatted(others, name(this.store)));
		require(this.warmUp >= 1 && this.warmUp <= MAX_WARM_UP, "--warm-up must be from 1 to " + MAX_WARM_UP);
		require(!this.commitLatency.isNegative() && this.commitLatency.compareTo(PostgresServer.MAX_LATENCY) <= 0,
				"--commit-latency must be from 0ms to " + PostgresServer.MAX_LATENCY.toMillis() + "ms");
		require(this.commitLatency.isZero() || this.store == Store.POSTGRESQL,
				"--commit-latency needs --store postgresql, whose commits wait for the disk");
		require(this.pending >= 0 && this.pending <= MAX_PENDING, "--pending must be from 0 to " + MAX_PENDING);
		require(this.pending == 0 || this.peers.isEmpty() || this.peers.stream().anyMatch(DurablePeer::isOurs),
				"Only timingwheel takes part with --pending. Change --peers, or leave out --pending");
		require(this.heldTasks >= 10 * SizeMeasurements.TENTHS && this.heldTasks / SizeMeasurements.TENTHS <= Probe.MAX,
				"--held-tasks must be from 100 to " + Probe.MAX * SizeMeasurements.TENTHS);
		require(this.growthTime.compareTo(Duration.ofSeconds(10)) >= 0
				&& this.growthTime.compareTo(MAX_GROWTH_TIME) <= 0,
				"--growth-time must be from 10s to " + MAX_GROWTH_TIME.toMinutes() + "m");
	}

	private void require(boolean condition, String message) {
		if (!condition) {
			throw new ParameterException(this.spec.commandLine(), message);
		}
	}

	private static String name(Store store) {
		return store.name().toLowerCase(Locale.ROOT);
	}

	private boolean isChosen(Contestant contestant) {
		return this.peers.isEmpty() || this.peers.contains(contestant);
	}

}
