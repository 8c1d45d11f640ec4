package io.timingwheel.benchmarks.report;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import io.timingwheel.benchmarks.Contestant;
import io.timingwheel.benchmarks.peer.Peer;
import io.timingwheel.benchmarks.throughput.ProcessCpuProfiler;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs a JMH benchmark.
 *
 * @param benchmark its class
 * @param contestantParam the parameter that takes the contestant
 * @param params the other parameters
 * @param threads how many threads call it
 * @param figures what it gives, by the columns' keys
 * @param moreJvmArgs settings besides those that are equal for all measurements
 */
record JmhStep(Class<?> benchmark, String contestantParam, Map<String, String> params, int threads,
		Map<String, Figure> figures, List<String> moreJvmArgs) implements Step {

	private static final double MEDIAN = 50;

	JmhStep(Class<?> benchmark, String contestantParam, Map<String, String> params, int threads,
			Map<String, Figure> figures) {
		this(benchmark, contestantParam, params, threads, figures, List.of());
	}

	/** The same step with more settings of the JVM. */
	JmhStep withJvmArgs(List<String> moreJvmArgs) {
		return new JmhStep(this.benchmark, this.contestantParam, this.params, this.threads, this.figures, moreJvmArgs);
	}

	@Override
	public boolean suits(Contestant contestant) {
		return this.threads == 1 || !(contestant instanceof Peer peer) || peer.isThreadSafe();
	}

	@Override
	public Map<String, Double> run(Contestant contestant, Effort effort) throws RunnerException {
		Collection<RunResult> results = new Runner(options(contestant, effort).build()).run();
		if (results.size() != 1) {
			throw new IllegalStateException(
					"Expected one benchmark in " + this.benchmark + " but found " + results.size());
		}
		RunResult result = results.iterator().next();
		Map<String, Double> values = new HashMap<>();
		this.figures.forEach((key, figure) -> values.put(key, figure.of(result)));
		return values;
	}

	private ChainedOptionsBuilder options(Contestant contestant, Effort effort) {
		ChainedOptionsBuilder options = new OptionsBuilder().include(this.benchmark.getName() + "\\.")
			.param(this.contestantParam, contestant.name())
			.threads(this.threads)
			.forks(effort.forks())
			.jvmArgs(Stream.concat(effort.jvmArgs().stream(), this.moreJvmArgs.stream()).toArray(String[]::new))
			.addProfiler(ProcessCpuProfiler.class)
			.verbosity(VerboseMode.SILENT)
			.shouldFailOnError(true);
		this.params.forEach(options::param);
		if (List.of(this.benchmark.getAnnotation(BenchmarkMode.class).value()).contains(Mode.SingleShotTime)) {
			return options.warmupIterations(effort.batches()).measurementIterations(effort.batches());
		}
		TimeValue time = effort.iterationTime();
		return options.warmupIterations(effort.warmups())
			.warmupTime(time)
			.measurementIterations(effort.iterations())
			.measurementTime(time);
	}

	/** A figure of a benchmark's result. */
	enum Figure {

		/** Millions of operations per second of all threads. */
		RATE {

			@Override
			double of(RunResult result) {
				double score = median(result.getPrimaryResult());
				boolean batch = result.getParams().getMode() == Mode.SingleShotTime;
				return batch ? result.getParams().getThreads() * 1e3 / score : score;
			}

		},

		/** Nanoseconds of one thread per operation. */
		NANOS {

			@Override
			double of(RunResult result) {
				return result.getParams().getThreads() * 1e3 / RATE.of(result);
			}

		},

		/** Nanoseconds of processor time of the whole process per operation. */
		CPU {

			@Override
			double of(RunResult result) {
				return median(Objects.requireNonNull(result.getSecondaryResults().get(ProcessCpuProfiler.RESULT),
						ProcessCpuProfiler.RESULT));
			}

		};

		abstract double of(RunResult result);

		private static double median(Result<?> result) {
			return result.getStatistics().getPercentile(MEDIAN);
		}

	}

}
