package io.timingwheel.test;

import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.durable.store.Claimed;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.TaskRef;
import io.timingwheel.spring.task.internal.TaskExecution.Body;
import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.internal.TaskExecutionInterceptor;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.core.Ordered;

/**
 * The faults of durable tasks: the store does not learn of the end of some runs. After a
 * crash of its node, a task comes back when its lease has ended. A task that is delivered
 * twice comes back at once, since the store believes that its lease has ended. Also notes
 * the runs that have failed. Thread-safe.
 */
final class StoreFaults implements MethodInterceptor, TaskExecutionInterceptor, Ordered {

	private final InjectedFaults faults;

	private final VirtualClock clock;

	/** What the node has claimed and not settled, by id. */
	private final Map<String, Delivery> deliveries = new ConcurrentHashMap<>();

	/** The ids of the tasks whose second delivery has come or will come. */
	private final Set<String> deliveredTwice = ConcurrentHashMap.newKeySet();

	/** The tasks whose leases end with the next claim. */
	private final Set<TaskRef> lapsing = ConcurrentHashMap.newKeySet();

	StoreFaults(InjectedFaults faults, VirtualClock clock) {
		this.faults = faults;
		this.clock = clock;
	}

	/**
	 * Puts the faults between a node and its store.
	 */
	DelayedTaskStore around(DelayedTaskStore store) {
		ProxyFactory proxy = new ProxyFactory(store);
		proxy.addAdvice(this);
		return (DelayedTaskStore) proxy.getProxy();
	}

	@Override
	public @Nullable Object invoke(MethodInvocation call) throws Throwable {
		return switch (call.getMethod().getName()) {
			case "claim" -> claim(call);
			case "settle" -> settle(call);
			case "settleInTransaction" ->
				dropsEnd((Settlement) Objects.requireNonNull(call.getArguments()[0])) ? false : call.proceed();
			default -> call.proceed();
		};
	}

	private Claimed claim(MethodInvocation call) throws Throwable {
		List<TaskRef> lapsing = List.copyOf(this.lapsing);
		if (!lapsing.isEmpty()) {
			((DelayedTaskStore) Objects.requireNonNull(call.getThis())).renew(lapsing, Duration.ZERO);
			lapsing.forEach(this.lapsing::remove);
		}
		Claimed claimed = (Claimed) Objects.requireNonNull(call.proceed());
		claimed.tasks().forEach((task) -> this.deliveries.put(task.id(), new Delivery(task)));
		return claimed;
	}

	@SuppressWarnings("unchecked")
	private List<Reply> settle(MethodInvocation call) throws Throwable {
		List<Settlement> all = (List<Settlement>) Objects.requireNonNull(call.getArguments()[0]);
		List<Settlement> told = all.stream().filter((settlement) -> !dropsEnd(settlement)).toList();
		call.getArguments()[0] = told;
		Iterator<Reply> replies = told.isEmpty() ? Collections.emptyIterator()
				: ((List<Reply>) Objects.requireNonNull(call.proceed())).iterator();
		return all.stream().map((settlement) -> told.contains(settlement) ? replies.next() : Reply.REFUSED).toList();
	}

	/**
	 * Whether the store does not learn of this end of a run.
	 */
	private boolean dropsEnd(Settlement end) {
		String id = end.task().id();
		Delivery delivery = this.deliveries.remove(id);
		if (delivery == null || end instanceof Settlement.Release) {
			return false;
		}
		noteFailure(delivery, end);
		if (!delivery.begun) {
			return false;
		}
		if (this.faults.crashesAfter(delivery.name)) {
			delivery.lost = true;
			return true;
		}
		boolean succeeded = end instanceof Settlement.Acknowledge
				|| (end instanceof Settlement.Repeat repeat && repeat.error() == null);
		if (!this.deliveredTwice.remove(id) && succeeded && this.faults.deliversTwice()) {
			delivery.lost = true;
			this.deliveredTwice.add(id);
			this.lapsing.add(end.task());
			return true;
		}
		return false;
	}

	/**
	 * Notes the failure of a task whose body could not begin. Only the text of its error
	 * is known here.
	 */
	private void noteFailure(Delivery delivery, Settlement end) {
		String error = error(end);
		if (delivery.claimed && !delivery.begun && error != null) {
			this.clock.failed(delivery.name, new IllegalStateException(
					"The durable task \"%s\" could not run: %s".formatted(delivery.name, error)));
		}
	}

	private static @Nullable String error(Settlement end) {
		if (end instanceof Settlement.Retry retry) {
			return retry.error();
		}
		if (end instanceof Settlement.Repeat repeat) {
			return repeat.error();
		}
		return (end instanceof Settlement.Bury bury) ? bury.reason() : null;
	}

	@Override
	public @Nullable Object intercept(TaskExecution execution, @Nullable Object captured, Body body) throws Throwable {
		Delivery delivery = this.deliveries.get(execution.id());
		if (delivery == null) {
			return body.run();
		}
		delivery.begun = true;
		delivery.name = execution.name();
		try {
			return body.run();
		}
		catch (Throwable ex) {
			if (!delivery.lost) {
				this.clock.failed(delivery.name, ex);
			}
			throw ex;
		}
	}

	/**
	 * Outside of the exceptions that a test asks for.
	 */
	@Override
	public int getOrder() {
		return LOWEST_PRECEDENCE - 1;
	}

	void reset() {
		this.deliveries.clear();
		this.deliveredTwice.clear();
		this.lapsing.clear();
	}

	/**
	 * A task that the node has claimed.
	 */
	private static final class Delivery {

		/** The name of its handler once its body has begun. */
		private volatile String name;

		/** Whether the store has begun it with the claim. */
		private final boolean claimed;

		/** Whether its body has begun. */
		private volatile boolean begun;

		/** Whether the store does not learn of its end. */
		private volatile boolean lost;

		Delivery(LeasedTask task) {
			this.name = task.name();
			this.claimed = task.begun();
		}

	}

}
