package io.timingwheel.benchmarks.throughput;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

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
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures the costs that no timer can avoid. A reset reads the clock and writes a word
 * of a random timer. A timer that fires on time needs a thread that parks.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgs = { "-Xms4g", "-Xmx4g", "-XX:+AlwaysPreTouch" })
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class FloorBenchmark {

	@Benchmark
	public long clock() {
		return System.nanoTime();
	}

	/** Parks for a millisecond. The rest of the time is the delay of the machine. */
	@Benchmark
	public void park() {
		LockSupport.parkNanos(this, 1_000_000);
	}

	/** Writes a random word. The writes of successive calls overlap. */
	@Benchmark
	public boolean move(Words words, RandomKey random) {
		AtomicLong word = words.any(random);
		long value = word.get();
		return word.compareAndSet(value, value + 1);
	}

	/** Reads a random word. Its place depends on the word that was read before. */
	@Benchmark
	public long readAfterRead(Words words, RandomKey random, Last last) {
		AtomicLong word = words.words[random.next(words.words.length - last.zero)];
		last.zero = (int) (word.get() >>> (Long.SIZE - 1));
		return last.zero;
	}

	/** Writes the time to a random word, as a reset does. */
	@Benchmark
	public boolean moveToTime(Words words, RandomKey random) {
		AtomicLong word = words.any(random);
		return word.compareAndSet(word.get(), System.nanoTime());
	}

	/** As many words as there are timers in the other benchmarks. */
	@NullUnmarked
	@State(Scope.Benchmark)
	public static class Words {

		@Param("1000000")
		public int pending;

		AtomicLong[] words;

		@Setup(Level.Trial)
		public void create() {
			this.words = new AtomicLong[this.pending];
			for (int i = 0; i < this.pending; i++) {
				this.words[i] = new AtomicLong();
			}
		}

		AtomicLong any(RandomKey random) {
			return this.words[random.next(this.words.length)];
		}

	}

	/** The next read depends on this value. */
	@State(Scope.Thread)
	public static class Last {

		int zero;

	}

}
