package io.timingwheel.spring.task.support;

import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;

/**
 * For work that somebody waits for also when the executor has no room or is shut down:
 * the common pool does it then.
 *
 * @param executor who is asked first
 */
public record UnrefusingExecutor(Executor executor) implements Executor {

	@Override
	public void execute(Runnable task) {
		try {
			this.executor.execute(task);
		}
		catch (RuntimeException ex) {
			ForkJoinPool.commonPool().execute(task);
		}
	}

}
