package io.timingwheel.test;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CancellationException;

import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.internal.TaskExecution.Body;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * What the test wants to go wrong. Also counts the runs, and notes the exceptions of
 * bodies. It is the innermost interceptor, so that an exception of this object looks like
 * one of the body. Thread-safe.
 */
@Order(Ordered.LOWEST_PRECEDENCE)
final class Faults implements TaskExecution.Interceptor {

	private static final Log logger = LogFactory.getLog(VirtualTime.class);

	private final VirtualClock clock;

	private final Map<String, Queue<Throwable>> exceptions = new HashMap<>();

	private final List<String> crashes = new ArrayList<>();

	/** The names of the tasks that have begun, by id. */
	private final Map<String, String> begun = new HashMap<>();

	private final Set<String> deliveredTwice = new HashSet<>();

	private boolean twice;

	private long runs;

	Faults(VirtualClock clock) {
		this.clock = clock;
	}

	synchronized void reset() {
		this.exceptions.clear();
		this.crashes.clear();
		this.begun.clear();
		this.deliveredTwice.clear();
		this.twice = false;
	}

	synchronized void failNext(String name, Throwable exception) {
		this.exceptions.computeIfAbsent(name, (key) -> new ArrayDeque<>()).add(exception);
	}

	synchronized void crashNext(String name) {
		this.crashes.add(name);
	}

	synchronized void deliverTwice(boolean twice) {
		this.twice = twice;
	}

	synchronized long runs() {
		return this.runs;
	}

	/**
	 * The node is about to settle a task.
	 * @param error why it could not run or has failed, {@code null} if it has not
	 * @return what the store learns of it
	 */
	synchronized End ending(String id, @Nullable String error) {
		String name = this.begun.get(id);
		if (name == null) {
			if (error != null) {
				this.clock.failed(new IllegalStateException("A durable task could not run: " + error));
			}
			return End.TOLD;
		}
		if (this.crashes.remove(name)) {
			this.begun.remove(id);
			return End.LOST;
		}
		if (!this.deliveredTwice.remove(id) && error == null && this.twice) {
			this.begun.remove(id);
			this.deliveredTwice.add(id);
			return End.REPEATED;
		}
		return End.TOLD;
	}

	@Override
	public @Nullable Object intercept(TaskExecution execution, Body body) throws Throwable {
		Throwable exception = begin(execution.id(), execution.name());
		try {
			if (exception != null) {
				throw exception;
			}
			return body.run();
		}
		catch (Throwable ex) {
			noteFailure(execution, ex);
			throw ex;
		}
	}

	private synchronized @Nullable Throwable begin(String id, String name) {
		this.runs++;
		this.begun.put(id, name);
		Queue<Throwable> exceptions = this.exceptions.get(name);
		return (exceptions != null) ? exceptions.poll() : null;
	}

	/** The exception of a lost end comes from the fault. */
	private synchronized void noteFailure(TaskExecution execution, Throwable error) {
		if (this.begun.containsKey(execution.id()) && !(error instanceof CancellationException)) {
			Object task = Objects.requireNonNullElse(execution.taskId(), execution.name());
			logger.warn("Attempt %d of %s has failed: %s".formatted(execution.attempt(), task, error));
			this.clock.failed(error);
		}
	}

	/** What the store learns of the end of a run. */
	enum End {

		/** The end. */
		TOLD,

		/** Nothing, as after a crash of the node. */
		LOST,

		/** Nothing, and it believes that the lease has ended. */
		REPEATED

	}

}
