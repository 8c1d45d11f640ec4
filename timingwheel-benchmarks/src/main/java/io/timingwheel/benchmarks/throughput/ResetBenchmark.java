package io.timingwheel.benchmarks.throughput;

import java.util.concurrent.TimeUnit;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Resets a random one of the pending timers to later, as a heartbeat or a packet on a
 * connection does.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(value = 1, jvmArgs = { "-Xms4g", "-Xmx4g", "-XX:+AlwaysPreTouch" })
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class ResetBenchmark {

	@Benchmark
	public void reset(PendingTimers pending, RandomKey random, Clock.Caller caller) {
		Object[] handles = pending.handles;
		int key = random.next(handles.length);
		Object timer = handles[key];
		Object moved = caller.reset(pending.timers, timer, Delays.LONGEST);
		if (moved != timer) {
			handles[key] = moved;
		}
	}

}
