package io.timingwheel.test;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Queue;
import java.util.Set;

import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.internal.TaskExecution.Body;
import io.timingwheel.spring.task.internal.TaskExecutionInterceptor;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;

/**
 * What the test wants to go wrong. Also counts the runs, and notes the failures of
 * durable tasks. Thread-safe.
 */
final class Faults implements TaskExecutionInterceptor, Ordered {

	private final VirtualClock clock;

	private final Map<String, Queue<Throwable>> exceptions = new HashMap<>();

	private final Map<String, Integer> crashes = new HashMap<>();

	/** The durable tasks that the node holds, by id. */
	private final Map<String, Delivery> deliveries = new HashMap<>();

	private final Set<String> deliveredTwice = new HashSet<>();

	private boolean twice;

	private long runs;

	Faults(VirtualClock clock) {
		this.clock = clock;
	}

	synchronized void reset() {
		this.exceptions.clear();
		this.crashes.clear();
		this.deliveries.clear();
		this.deliveredTwice.clear();
		this.twice = false;
	}

	synchronized void failNext(String name, Throwable exception) {
		this.exceptions.computeIfAbsent(name, (key) -> new ArrayDeque<>()).add(exception);
	}

	synchronized void crashNext(String name) {
		this.crashes.merge(name, 1, Integer::sum);
	}

	synchronized void deliverTwice(boolean twice) {
		this.twice = twice;
	}

	synchronized long runs() {
		return this.runs;
	}

	synchronized void claimed(String id, String name) {
		this.deliveries.put(id, new Delivery(name, false));
	}

	/**
	 * The node is about to settle a task.
	 * @param error why it could not run or has failed, {@code null} if it has not
	 * @return what the store learns of it
	 */
	synchronized End ending(String id, @Nullable String error) {
		Delivery delivery = this.deliveries.get(id);
		if (delivery == null) {
			return End.TOLD;
		}
		if (!delivery.begun) {
			if (error != null) {
				this.clock.failed(delivery.name, new IllegalStateException(
						"The durable task \"%s\" could not run: %s".formatted(delivery.name, error)));
			}
			return End.TOLD;
		}
		End end = end(id, delivery.name, error == null);
		if (end != End.TOLD) {
			this.deliveries.remove(id);
		}
		return end;
	}

	private End end(String id, String name, boolean succeeded) {
		int crashes = this.crashes.getOrDefault(name, 0);
		if (crashes > 0) {
			this.crashes.put(name, crashes - 1);
			return End.LOST;
		}
		if (!this.deliveredTwice.remove(id) && succeeded && this.twice) {
			this.deliveredTwice.add(id);
			return End.REPEATED;
		}
		return End.TOLD;
	}

	@Override
	public @Nullable Object intercept(TaskExecution execution, @Nullable Object captured, Body body) throws Throwable {
		Throwable exception = begin(execution.id(), execution.name());
		try {
			if (exception != null) {
				throw exception;
			}
			return body.run();
		}
		catch (Throwable ex) {
			noteFailure(execution.id(), ex);
			throw ex;
		}
	}

	private synchronized @Nullable Throwable begin(String id, String name) {
		this.runs++;
		this.deliveries.computeIfPresent(id, (key, delivery) -> new Delivery(name, true));
		Queue<Throwable> exceptions = this.exceptions.get(name);
		return (exceptions != null) ? exceptions.poll() : null;
	}

	/**
	 * The exception of a lost end comes from the fault. Tasks in memory note their
	 * failures themselves.
	 */
	private synchronized void noteFailure(String id, Throwable error) {
		Delivery delivery = this.deliveries.get(id);
		if (delivery != null) {
			this.clock.failed(delivery.name, error);
		}
	}

	/** Innermost, so that an exception of this object looks like one of the body. */
	@Override
	public int getOrder() {
		return LOWEST_PRECEDENCE;
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

	/** The name is that of the method once the body has begun. */
	private record Delivery(String name, boolean begun) {

	}

}
