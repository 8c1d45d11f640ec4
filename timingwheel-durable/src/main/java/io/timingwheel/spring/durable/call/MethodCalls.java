package io.timingwheel.spring.durable.call;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.internal.delayed.CallTime;
import io.timingwheel.spring.aop.internal.delayed.DurableMethod;
import io.timingwheel.spring.aop.internal.delayed.DurableMethods;
import io.timingwheel.spring.durable.call.Submission.Rules;
import io.timingwheel.spring.durable.node.DurableHandler;
import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.payload.MethodPayloads;
import io.timingwheel.spring.durable.payload.UnsupportedArgumentException;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.TaskLimits;
import io.timingwheel.spring.durable.store.UnusableTaskStoreException;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.function.SingletonSupplier;

/**
 * Makes annotated methods the handlers of their stored calls. Thread-safe.
 *
 * @since 0.1
 */
public final class MethodCalls implements DurableMethods {

	private final DurableTasks tasks;

	private final DelayedTaskStore store;

	/** Loaded when a method needs it, since {@code spring-tx} is optional. */
	private final SingletonSupplier<StoreTransactions> transactions;

	/**
	 * @param store the store as the node sees it
	 */
	public MethodCalls(DurableTasks tasks, DelayedTaskStore store, ConfigurableListableBeanFactory beanFactory) {
		this.tasks = tasks;
		this.store = store;
		this.transactions = SingletonSupplier.of(() -> new StoreTransactions(store, beanFactory));
	}

	@Override
	public boolean owns(String name) {
		return this.tasks.owns(name);
	}

	@Override
	public StoredCalls register(DurableMethod method) {
		DurableHandler handler = handler(method);
		return (key, ifPending, maxWait, due, arguments) -> this.tasks.enqueue(handler,
				(key != null) ? String.valueOf(key) : null, new Rules(dueTime(due), ifPending, maxWait), arguments);
	}

	private static DueTime dueTime(CallTime due) {
		return (due.time() != null) ? DueTime.at(due.time()) : DueTime.after(due.delay());
	}

	@Override
	public void registerSchedule(DurableMethod method, Schedule schedule, @Nullable Duration initialDelay) {
		this.tasks.declare(handler(method), schedule, initialDelay);
	}

	private DurableHandler handler(DurableMethod method) {
		DurableHandler known = this.tasks.parts.handlers().find(method.name());
		if (known != null && known.method().method().equals(method.method())) {
			return known;
		}
		try {
			List<String> names = DurableHandlers.names(method);
			names.forEach((name) -> checkName(method, name));
			MethodPayloads arguments = this.tasks.codec.payloads(names, method.method(), method.argumentTypes());
			return this.tasks.parts.handlers()
				.register(
						new DurableHandler(method, arguments, Objects.requireNonNullElse(method.missed(), Missed.ONCE),
								method.transactional() ? this.transactions.obtain().find(method.method()) : null));
		}
		catch (UnsupportedArgumentException ex) {
			throw new InvalidAnnotatedMethodException(method.method(), ex.getProblem(), ex.getRemedy(), ex);
		}
		catch (UnusableTaskStoreException ex) {
			throw new InvalidAnnotatedMethodException(method.method(), "its tasks cannot be stored: " + ex.getProblem(),
					ex.getRemedy(), ex);
		}
	}

	/** The start has checked the store for names in ASCII, which each one can keep. */
	private void checkName(DurableMethod method, String name) {
		try {
			TaskLimits.checkName(name);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidAnnotatedMethodException(method.method(), String.valueOf(ex.getMessage()),
					"choose another name or alias", ex);
		}
		if (!StandardCharsets.US_ASCII.newEncoder().canEncode(name)) {
			this.store.check(List.of(name));
		}
	}

	@Override
	public void unregister(DurableMethod method) {
		DurableHandler handler = this.tasks.parts.handlers().find(method.name());
		if (handler != null && handler.method() == method) {
			this.tasks.parts.handlers().unregister(handler);
		}
	}

	@Override
	public boolean cancel(TaskId taskId) {
		return this.tasks.cancel(taskId);
	}

	@Override
	public Runnable cancellation(TaskId taskId) {
		return this.tasks.pending().cancellation(taskId);
	}

}
