package io.timingwheel.test;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import io.timingwheel.spring.task.internal.TaskExecution.Body;
import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.internal.TaskExecutionInterceptor;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;

/**
 * What the test wants to go wrong. Also counts the runs. Thread-safe.
 */
final class InjectedFaults implements TaskExecutionInterceptor, Ordered {

	private final Map<String, Queue<Throwable>> exceptions = new HashMap<>();

	private final Map<String, Integer> crashes = new HashMap<>();

	private final Set<String> names = ConcurrentHashMap.newKeySet();

	private final AtomicLong runs = new AtomicLong();

	private volatile boolean twice;

	synchronized void reset() {
		this.exceptions.clear();
		this.crashes.clear();
		this.names.clear();
		this.twice = false;
	}

	void deliverTwice(boolean twice) {
		this.twice = twice;
	}

	synchronized void crashNext(String name) {
		this.crashes.merge(name, 1, Integer::sum);
	}

	synchronized void failNext(String name, Throwable exception) {
		this.exceptions.computeIfAbsent(name, (key) -> new ArrayDeque<>()).add(exception);
	}

	/**
	 * Whether a body of a name has begun since the start of the test method.
	 */
	boolean hasRun(String name) {
		return this.names.contains(name);
	}

	/**
	 * How many bodies have begun so far.
	 */
	long runs() {
		return this.runs.get();
	}

	/**
	 * Whether each task whose body has succeeded is delivered a second time.
	 */
	boolean deliversTwice() {
		return this.twice;
	}

	/**
	 * Whether the node of a task seems to crash after the body.
	 */
	synchronized boolean crashesAfter(String name) {
		int left = this.crashes.getOrDefault(name, 0);
		if (left > 0) {
			this.crashes.put(name, left - 1);
		}
		return left > 0;
	}

	@Override
	public @Nullable Object intercept(TaskExecution execution, @Nullable Object captured, Body body) throws Throwable {
		this.runs.incrementAndGet();
		this.names.add(execution.name());
		Throwable exception = nextException(execution.name());
		if (exception != null) {
			throw exception;
		}
		return body.run();
	}

	private synchronized @Nullable Throwable nextException(String name) {
		Queue<Throwable> exceptions = this.exceptions.get(name);
		return (exceptions != null) ? exceptions.poll() : null;
	}

	/**
	 * Innermost, so that an exception of this object looks like one of the body.
	 */
	@Override
	public int getOrder() {
		return LOWEST_PRECEDENCE;
	}

}
