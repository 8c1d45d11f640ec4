package io.timingwheel;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Threads that call the wheel on behalf of a test, one at a time. A wheel selects the
 * shard by the calling thread. So the timers of several callers are in several shards,
 * and the test remains deterministic. Caller 0 is the test's own thread.
 */
final class Callers implements AutoCloseable {

	private final List<ExecutorService> others = new ArrayList<>();

	Callers(int count) {
		for (int i = 1; i < count; i++) {
			this.others.add(Executors.newSingleThreadExecutor());
		}
	}

	void run(int caller, Runnable action) {
		if (caller == 0) {
			action.run();
			return;
		}
		try {
			this.others.get(caller - 1).submit(action).get(60, TimeUnit.SECONDS);
		}
		catch (ExecutionException ex) {
			throw new AssertionError("Caller " + caller + " has failed", ex.getCause());
		}
		catch (TimeoutException ex) {
			throw new AssertionError("Caller " + caller + " does not return", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new AssertionError(ex);
		}
	}

	@Override
	public void close() {
		this.others.forEach(ExecutorService::shutdownNow);
	}

}
