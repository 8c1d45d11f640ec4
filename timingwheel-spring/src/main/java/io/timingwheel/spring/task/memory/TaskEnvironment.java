package io.timingwheel.spring.task.memory;

import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.RunningBodies;
import io.timingwheel.spring.task.internal.TaskExecutionInterceptor;
import io.timingwheel.spring.task.internal.TaskPolicies;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskDecorator;

/**
 * The objects that all tasks of one wheel share: the wheel, the clock, the hand-over to
 * executors, the decorator and the interceptor, the ids, and the state of the shutdown.
 * Thread-safe.
 *
 * <p>
 * An id identifies one scheduling and is never reused. An id is a prefix and a number.
 * The prefix is different for each run of the JVM. A task keeps only the number, its
 * sequence.
 */
final class TaskEnvironment {

	private final String idPrefix = "%08x-".formatted(ThreadLocalRandom.current().nextInt());

	private final TaskShutdown shutdown = new TaskShutdown(this);

	private final RunningBodies bodies = new RunningBodies();

	private final TimingWheel wheel;

	private final TaskClock clock;

	private final HandOverExecutors handOverExecutors;

	private final @Nullable TaskDecorator decorator;

	private final @Nullable TaskExecutionInterceptor interceptor;

	private final TaskPolicies policies;

	private final TaskDirectory directory;

	TaskEnvironment(TimingWheel wheel, TaskClock clock, HandOverExecutors handOverExecutors,
			@Nullable TaskDecorator decorator, @Nullable TaskExecutionInterceptor interceptor, TaskPolicies policies) {
		this.wheel = wheel;
		this.clock = clock;
		this.handOverExecutors = handOverExecutors;
		this.decorator = decorator;
		this.interceptor = interceptor;
		this.policies = policies;
		this.directory = new TaskDirectory(this);
	}

	TaskDirectory directory() {
		return this.directory;
	}

	TimingWheel wheel() {
		return this.wheel;
	}

	TaskClock clock() {
		return this.clock;
	}

	TaskShutdown shutdown() {
		return this.shutdown;
	}

	RunningBodies bodies() {
		return this.bodies;
	}

	@Nullable TaskDecorator decorator() {
		return this.decorator;
	}

	@Nullable TaskExecutionInterceptor interceptor() {
		return this.interceptor;
	}

	TaskPolicies policies() {
		return this.policies;
	}

	HandOverExecutors handOvers() {
		return this.handOverExecutors;
	}

	String idOf(long sequence) {
		return this.idPrefix + sequence;
	}

	/**
	 * The sequence in an id.
	 * @return the sequence, 0 if this JVM has not made the id
	 */
	long sequenceOf(String id) {
		if (!id.startsWith(this.idPrefix)) {
			return 0;
		}
		try {
			return Long.parseLong(id, this.idPrefix.length(), id.length(), 10);
		}
		catch (NumberFormatException ex) {
			return 0;
		}
	}

}
