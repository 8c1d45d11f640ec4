package io.timingwheel.benchmarks.spring;

import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.NullUnmarked;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

import org.springframework.context.ConfigurableApplicationContext;

/**
 * The state of a benchmark that calls methods in batches: an application, and the calls
 * so far. The next batch begins when all calls of the last have run.
 */
@NullUnmarked
public abstract class CallBatches {

	/** The calls of a batch. */
	static final int SIZE = 1 << 15;

	Calls calls;

	/** How many calls the benchmark has made. */
	long called;

	private ConfigurableApplicationContext context;

	abstract ConfigurableApplicationContext startApplication();

	@Setup(Level.Trial)
	public void start() {
		this.context = startApplication();
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
