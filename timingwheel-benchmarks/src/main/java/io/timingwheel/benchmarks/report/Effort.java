package io.timingwheel.benchmarks.report;

import java.util.List;

import org.openjdk.jmh.runner.options.TimeValue;

/**
 * How long the measurements take.
 *
 * @param warmups the untimed iterations of a benchmark
 * @param iterations the timed iterations of a benchmark
 * @param batches the untimed iterations of a benchmark that runs batches, and as many
 * timed ones
 * @param iterationTime how long an iteration takes
 * @param seconds how long an experiment or a load lasts
 * @param timers how many timers are pending or fire
 * @param depths the numbers of pending timers of the measurements by depth
 * @param jvmArgs the settings of each JVM, equal for all contestants
 * @param forks how many JVMs a benchmark starts, 0 to run in this one
 */
public record Effort(int warmups, int iterations, int batches, TimeValue iterationTime, double seconds, int timers,
		List<Integer> depths, List<String> jvmArgs, int forks) {

	private static final int MILLION = 1_000_000;

	private static final List<String> JVM = List.of("-Xms4g", "-Xmx4g", "-XX:+UseG1GC", "-XX:+AlwaysPreTouch");

	static final Effort FULL = new Effort(3, 5, 100, TimeValue.seconds(1), 10, MILLION,
			List.of(1_000, 10_000, 100_000, MILLION, 10 * MILLION), JVM, 1);

	static final Effort QUICK = new Effort(5, 3, 60, TimeValue.milliseconds(500), 5, MILLION, List.of(1_000, MILLION),
			JVM, 1);

	/** The effort of measurements without benchmarks and timers. */
	public static Effort of(double seconds, List<String> jvmArgs) {
		return new Effort(0, 0, 0, TimeValue.NONE, seconds, 0, List.of(), jvmArgs, 1);
	}

}
