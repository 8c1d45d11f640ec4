package io.timingwheel.spring.durable.call;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.delayed.CallTime;
import io.timingwheel.spring.aop.delayed.DurableMethod;
import io.timingwheel.spring.aop.delayed.DurableMethods;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.TaskLimits;
import io.timingwheel.spring.durable.support.DurableHandler;
import io.timingwheel.spring.durable.support.DurableTaskManager;
import io.timingwheel.spring.durable.support.TransactionalBodies;
import io.timingwheel.spring.durable.support.UnsupportedArgumentException;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Makes annotated methods the handlers of their stored calls. Thread-safe.
 *
 * @since 0.1
 */
public final class MethodHandlers implements DurableMethods {

	private final DurableTaskManager tasks;

	private final ConfigurableListableBeanFactory beanFactory;

	/** {@code null} until a method needs it. */
	private @Nullable TransactionLookup transactions;

	/**
	 * Creates handlers.
	 * @param tasks stores the calls
	 * @param beanFactory has the transaction managers
	 */
	public MethodHandlers(DurableTaskManager tasks, ConfigurableListableBeanFactory beanFactory) {
		this.tasks = tasks;
		this.beanFactory = beanFactory;
	}

	@Override
	public boolean owns(String name) {
		return this.tasks.owns(name);
	}

	@Override
	public StoredCalls register(DurableMethod method) {
		DurableHandler handler = handler(method);
		return (key, ifPending, maxWait, due, arguments) -> store(handler, key, ifPending, maxWait, due, arguments);
	}

	private DelayedTask<@Nullable Void> store(DurableHandler handler, @Nullable Object key, IfPending ifPending,
			@Nullable Duration maxWait, CallTime due, @Nullable Object[] arguments) {
		return this.tasks.enqueue(handler, key, ifPending, maxWait, dueTime(due), arguments);
	}

	private static DueTime dueTime(CallTime due) {
		if (due.time() != null) {
			return DueTime.at(due.time());
		}
		return DueTime.after((due.delay() != null) ? due.delay() : Duration.ZERO);
	}

	private DurableHandler handler(DurableMethod method) {
		DurableHandler known = this.tasks.handler(method.name());
		if (known != null && known.method().equals(method.method())) {
			return known;
		}
		checkStorable(method, "name", method.name());
		method.aliases().forEach((alias) -> checkStorable(method, "alias", alias));
		try {
			return this.tasks
				.register(new MethodHandler(method, method.transactional() ? transactionsFor(method) : null));
		}
		catch (UnsupportedArgumentException ex) {
			throw new InvalidAnnotatedMethodException(method.method(), ex.getProblem(), ex.getRemedy(), ex);
		}
	}

	private static void checkStorable(DurableMethod method, String what, String name) {
		if (!TaskLimits.isStorableName(name)) {
			throw new InvalidAnnotatedMethodException(method.method(),
					"the %s \"%s\" of the durable %s has %d bytes of UTF-8, or holds the character NUL or half of a surrogate pair"
						.formatted(what, name, method.recurring() ? "@Recurring" : "@Delayed",
								name.getBytes(StandardCharsets.UTF_8).length),
					"use at most %d bytes".formatted(DelayedTaskStore.MAX_NAME_BYTES));
		}
	}

	private synchronized TransactionalBodies transactionsFor(DurableMethod method) {
		TransactionLookup lookup = this.transactions;
		if (lookup == null) {
			lookup = new TransactionLookup(this.beanFactory);
			this.transactions = lookup;
		}
		return lookup.find(method.method());
	}

	@Override
	public void registerSchedule(DurableMethod method, Schedule schedule, @Nullable Duration initialDelay) {
		this.tasks.declare(handler(method), DelayedTaskStore.DECLARED_KEY, schedule, initialDelay);
	}

	@Override
	public void unregister(DurableMethod method) {
		DurableHandler handler = this.tasks.handler(method.name());
		if (handler instanceof MethodHandler registered && registered.durable() == method) {
			this.tasks.unregister(handler);
		}
	}

	@Override
	public boolean cancel(TaskId taskId) {
		return this.tasks.cancel(taskId);
	}

	@Override
	public Runnable cancellation(TaskId taskId) {
		return this.tasks.cancellation(taskId);
	}

}
