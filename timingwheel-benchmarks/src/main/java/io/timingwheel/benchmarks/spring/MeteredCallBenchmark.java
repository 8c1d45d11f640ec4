package io.timingwheel.benchmarks.spring;

import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.NullUnmarked;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import org.springframework.context.ConfigurableApplicationContext;

/**
 * Calls a {@code @Delayed} method, in batches, without and with meters. The next batch
 * begins when all calls of the last have run.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 20)
@Measurement(iterations = 20)
public class MeteredCallBenchmark {

	private static final int BATCH = 1 << 15;

	@Benchmark
	@OperationsPerInvocation(BATCH)
	public void call(Application application) {
		Calls calls = application.calls;
		for (int i = 0; i < BATCH; i++) {
			calls.delayed(application.called++);
		}
	}

	/**
	 * The application and the calls so far.
	 */
	@NullUnmarked
	@State(Scope.Benchmark)
	public static class Application {

		@Param
		public MeterWay way;

		Calls calls;

		long called;

		private ConfigurableApplicationContext context;

		@Setup(Level.Trial)
		public void start() {
			this.context = this.way.start();
			this.calls = this.context.getBean(Calls.class);
		}

		@TearDown(Level.Iteration)
		public void awaitRuns() throws InterruptedException {
			while (this.calls.begun() < this.called) {
				TimeUnit.MILLISECONDS.sleep(1);
			}
		}

		@TearDown(Level.Trial)
		public void stop() {
			this.context.close();
		}

	}

}
