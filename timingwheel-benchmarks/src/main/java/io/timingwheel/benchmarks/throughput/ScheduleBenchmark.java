package io.timingwheel.benchmarks.throughput;

import java.util.concurrent.TimeUnit;

import io.timingwheel.benchmarks.peer.TimerPeer;
import org.jspecify.annotations.NullUnmarked;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Schedules timers. An invocation schedules a batch. The batch is cancelled after the
 * measured time, so that the number of pending timers hardly changes.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgs = { "-Xms4g", "-Xmx4g", "-XX:+AlwaysPreTouch" })
@Warmup(iterations = 15)
@Measurement(iterations = 15)
public class ScheduleBenchmark {

	/** Timers of a thread in an invocation. */
	private static final int BATCH = 1 << 18;

	@Benchmark
	@OperationsPerInvocation(BATCH)
	public Batch schedule(PendingTimers pending, Batch batch, Clock.Caller caller) {
		TimerPeer timers = pending.timers;
		for (Object[] chunk : batch.chunks) {
			for (int i = 0; i < chunk.length; i++) {
				chunk[i] = caller.schedule(timers, pending.delays.delay(caller.next()));
			}
		}
		return batch;
	}

	/**
	 * The timers of an invocation. The arrays are small enough to stay in the young
	 * generation, so that a store into them costs the same for all contestants.
	 */
	@NullUnmarked
	@State(Scope.Thread)
	public static class Batch {

		private static final int CHUNK = 1 << 12;

		Object[][] chunks;

		@Setup(Level.Iteration)
		public void create() {
			this.chunks = new Object[BATCH / CHUNK][CHUNK];
		}

		@TearDown(Level.Iteration)
		public void cancel(PendingTimers pending) throws InterruptedException {
			for (Object[] chunk : this.chunks) {
				for (Object timer : chunk) {
					pending.timers.cancel(timer);
				}
			}
			pending.timers.settle();
		}

	}

}
