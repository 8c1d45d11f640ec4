package io.timingwheel.benchmarks.spring;

import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.NullUnmarked;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

import org.springframework.context.ConfigurableApplicationContext;

/**
 * Calls a method that runs later, in batches. The next batch begins when all calls of the
 * last have run.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 20)
@Measurement(iterations = 20)
public class DelayedCallBenchmark {

	@Benchmark
	@OperationsPerInvocation(CallBatches.SIZE)
	public void call(Batches batches) {
		CallWay way = batches.way;
		Calls calls = batches.calls;
		for (int i = 0; i < CallBatches.SIZE; i++) {
			way.call(calls, batches.called++);
		}
	}

	/** The batches of one way to call. */
	@NullUnmarked
	@State(Scope.Benchmark)
	public static class Batches extends CallBatches {

		@Param
		public CallWay way;

		@Override
		ConfigurableApplicationContext startApplication() {
			return CallApplication.start();
		}

	}

}
