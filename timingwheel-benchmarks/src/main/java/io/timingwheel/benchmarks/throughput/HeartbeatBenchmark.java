package io.timingwheel.benchmarks.throughput;

import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.NullUnmarked;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Heartbeats of random keys, found in a map as an application finds them. */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(value = 1, jvmArgs = { "-Xms4g", "-Xmx4g", "-XX:+AlwaysPreTouch" })
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class HeartbeatBenchmark {

	@Benchmark
	public void heartbeat(Keys keys, RandomKey random) {
		keys.heartbeats.beat((long) random.next(keys.keys));
	}

	/** The keys, each with a first heartbeat. */
	@NullUnmarked
	@State(Scope.Benchmark)
	public static class Keys {

		@Param
		public HeartbeatWay way;

		@Param("1000000")
		public int keys;

		Heartbeats heartbeats;

		@Setup(Level.Trial)
		public void begin() {
			this.heartbeats = this.way.start();
			for (long key = 0; key < this.keys; key++) {
				this.heartbeats.beat(key);
			}
		}

		@TearDown(Level.Trial)
		public void close() {
			this.heartbeats.close();
		}

	}

}
