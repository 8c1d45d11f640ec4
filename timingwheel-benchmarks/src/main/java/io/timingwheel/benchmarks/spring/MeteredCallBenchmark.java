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
 * Calls a {@code @Delayed} method, in batches, without and with meters. The next batch
 * begins when all calls of the last have run.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 20)
@Measurement(iterations = 20)
public class MeteredCallBenchmark {

	@Benchmark
	@OperationsPerInvocation(CallBatches.SIZE)
	public void call(Batches batches) {
		Calls calls = batches.calls;
		for (int i = 0; i < CallBatches.SIZE; i++) {
			calls.delayed(batches.called++);
		}
	}

	/** The batches of an application with one kind of meters. */
	@NullUnmarked
	@State(Scope.Benchmark)
	public static class Batches extends CallBatches {

		@Param
		public MeterWay way;

		@Override
		ConfigurableApplicationContext startApplication() {
			return this.way.start();
		}

	}

}
