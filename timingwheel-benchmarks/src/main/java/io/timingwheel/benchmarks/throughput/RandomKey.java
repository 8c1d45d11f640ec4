package io.timingwheel.benchmarks.throughput;

import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.ThreadParams;

/** Draws random keys. No two threads draw the same key. */
@State(Scope.Thread)
public class RandomKey {

	private int thread;

	private int threads;

	private long seed;

	@Setup(Level.Trial)
	public void seed(ThreadParams params) {
		this.thread = params.getThreadIndex();
		this.threads = params.getThreadCount();
		this.seed = 0x9E3779B97F4A7C15L * (this.thread + 1);
	}

	/** A key below the limit. */
	int next(int limit) {
		long seed = this.seed;
		seed ^= seed << 13;
		seed ^= seed >>> 7;
		seed ^= seed << 17;
		this.seed = seed;
		int share = limit / this.threads;
		return this.thread * share + (int) (((seed >>> 32) * share) >>> 32);
	}

}
