package io.timingwheel.benchmarks.durable;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.DoubleStream;

import io.timingwheel.benchmarks.Quantiles;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Measures the reads of the endpoints with many pending tasks, and what such reads cost
 * the wheel.
 */
@Command(name = "reads", mixinStandardHelpOptions = true, sortOptions = false,
		description = "Measures each read of the endpoints with many pending tasks: the time and the size of the JSON,"
				+ " without HTTP.")
public final class ReadsCommand implements Callable<Integer> {

	private static final int DEAD = 100_000;

	/** A read needs four pages of tasks. */
	private static final int MIN_PENDING = 1_000;

	private static final int MAX_PENDING = 100_000_000;

	private static final int WARM_UPS = 3;

	private static final int RUNS = 20;

	private static final int WINDOWS = 8;

	private static final long WINDOW_MILLIS = 4_000;

	/** The figures of a store that the reads may use are a few seconds old. */
	private static final long SETTLE_MILLIS = 6_000;

	@Option(names = "--store", paramLabel = "STORE",
			description = "The server: ${COMPLETION-CANDIDATES}. Without this option the tasks are in memory.")
	private @Nullable Store store;

	@Option(names = "--pending", paramLabel = "TASKS", defaultValue = "1000000",
			description = "How many tasks are pending. Default: ${DEFAULT-VALUE}.")
	private int pending;

	@Option(names = "--executions",
			description = "In memory: executions per second with and without a thread that makes one read after another.")
	private boolean executions;

	@Option(names = "--reads-per-second", paramLabel = "READS", defaultValue = "12",
			description = "With --executions: how many reads this thread makes in a second. Default: ${DEFAULT-VALUE},"
					+ " each read once.")
	private int readsPerSecond;

	@Spec
	@SuppressWarnings("NullAway.Init")
	private CommandSpec spec;

	@Override
	public Integer call() throws Exception {
		require(this.pending >= MIN_PENDING && this.pending <= MAX_PENDING,
				"--pending must be from " + MIN_PENDING + " to " + MAX_PENDING);
		require(this.readsPerSecond >= 1 && this.readsPerSecond <= 1_000, "--reads-per-second must be from 1 to 1000");
		require(this.store == null || !this.executions,
				"--executions measures tasks in memory. Remove --executions or --store");
		if (this.store == null) {
			try (ReadNode node = new ReadNode(Map.of())) {
				node.schedule(this.pending);
				measure(node, () -> 0);
			}
			return 0;
		}
		try (Server server = this.store.start(Duration.ZERO)) {
			server.clear();
			try (ReadNode node = new ReadNode(TimingWheelNode.properties(this.store, server.url()))) {
				long start = System.nanoTime();
				switch (this.store) {
					case POSTGRESQL -> ReadNode.ROWS.insert(server.url(), this.pending, DEAD, false);
					case REDIS -> node.enqueue(this.pending);
				}
				System.out.printf("Stored in %.0f s%n", (System.nanoTime() - start) / 1e9);
				TimeUnit.MILLISECONDS.sleep(SETTLE_MILLIS);
				measure(node, server::cpuNanos);
			}
		}
		return 0;
	}

	private void require(boolean condition, String message) {
		if (!condition) {
			throw new ParameterException(this.spec.commandLine(), message);
		}
	}

	private void measure(ReadNode node, LongSupplier serverCpu) throws InterruptedException {
		System.out.printf("%,d pending%n%-24s %10s %10s %10s %10s %10s%n", this.pending, "read", "median ms", "best ms",
				"max ms", "CPU ms", "KB");
		node.reads().forEach((name, read) -> measure(name, node, read, serverCpu));
		if (this.executions) {
			beside(node);
		}
	}

	/**
	 * Prints the durations, and the processor time of a read in this thread and the
	 * server, which a busy machine does not change.
	 */
	private static void measure(String name, ReadNode node, Supplier<?> read, LongSupplier serverCpu) {
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();
		int bytes = 0;
		double[] millis = new double[RUNS];
		long cpuNanos = 0;
		for (int i = -WARM_UPS; i < RUNS; i++) {
			if (i == 0) {
				cpuNanos = threads.getCurrentThreadCpuTime() + serverCpu.getAsLong();
			}
			long start = System.nanoTime();
			bytes = node.json(read).length;
			if (i >= 0) {
				millis[i] = (System.nanoTime() - start) / 1e6;
			}
		}
		cpuNanos = threads.getCurrentThreadCpuTime() + serverCpu.getAsLong() - cpuNanos;
		Arrays.sort(millis);
		System.out.printf("%-24s %10.2f %10.2f %10.2f %10.2f %10.1f%n", name, Quantiles.median(millis), millis[0],
				millis[RUNS - 1], cpuNanos / 1e6 / RUNS, bytes / 1e3);
	}

	/** Windows without and with a reader take turns. */
	private void beside(ReadNode node) throws InterruptedException {
		Map<String, Supplier<?>> reads = node.reads();
		LongAdder runs = node.runEndlessly();
		TimeUnit.MILLISECONDS.sleep(2 * WINDOW_MILLIS);
		double[] alone = new double[WINDOWS];
		double[] beside = new double[WINDOWS];
		long cpuNanos = 0;
		for (int i = 0; i < WINDOWS; i++) {
			// The order changes, so that a trend of the machine affects both alike.
			if (i % 2 == 0) {
				alone[i] = rate(runs);
			}
			int first = (int) (i * WINDOW_MILLIS / 1_000 * this.readsPerSecond);
			ReadNode.Reader reader = node.startReader(reads.values(), first, this.readsPerSecond);
			beside[i] = rate(runs);
			cpuNanos += reader.stop();
			if (i % 2 != 0) {
				alone[i] = rate(runs);
			}
		}
		double share = DoubleStream.of(beside).sum() / DoubleStream.of(alone).sum();
		System.out.printf(
				"executions/s alone %s%nbeside a reader    %s%nshare %.2f %%, processor time of the reader %.1f ms/s%n",
				text(alone), text(beside), 100 * share, cpuNanos / 1e3 / (WINDOWS * WINDOW_MILLIS));
	}

	private static double rate(LongAdder runs) throws InterruptedException {
		long before = runs.sum();
		long start = System.nanoTime();
		TimeUnit.MILLISECONDS.sleep(WINDOW_MILLIS);
		return (runs.sum() - before) * 1e9 / (System.nanoTime() - start);
	}

	private static String text(double[] rates) {
		return String.join(" ", DoubleStream.of(rates).mapToObj("%,.0f"::formatted).toList());
	}

}
