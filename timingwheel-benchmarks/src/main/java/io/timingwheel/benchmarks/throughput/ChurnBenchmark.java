package io.timingwheel.benchmarks.throughput;

import java.util.concurrent.TimeUnit;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Warmup;

/** Schedules a timer and cancels it, as nearly every timeout is cancelled. */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(value = 1, jvmArgs = { "-Xms4g", "-Xmx4g", "-XX:+AlwaysPreTouch" })
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class ChurnBenchmark {

	@Benchmark
	public void scheduleAndCancel(PendingTimers pending, Clock.Caller caller) {
		Object timer = caller.schedule(pending.timers, pending.delays.delay(caller.next()));
		pending.timers.cancel(timer);
	}

}
