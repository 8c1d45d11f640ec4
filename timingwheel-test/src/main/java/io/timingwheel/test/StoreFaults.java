package io.timingwheel.test;

import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.LeasedTask.TaskRef;
import io.timingwheel.spring.durable.store.Settlement;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;

/** Stands before the store, which does not learn of the end of some runs. Thread-safe. */
final class StoreFaults implements BeanPostProcessor, MethodInterceptor {

	private final ObjectProvider<VirtualClock> clock;

	private final ObjectProvider<Faults> faults;

	private final ObjectProvider<VirtualLoops> loops;

	/** The tasks whose leases end with the next claim. */
	private final Set<TaskRef> lapsing = ConcurrentHashMap.newKeySet();

	StoreFaults(ObjectProvider<VirtualClock> clock, ObjectProvider<Faults> faults, ObjectProvider<VirtualLoops> loops) {
		this.clock = clock;
		this.faults = faults;
		this.loops = loops;
	}

	/**
	 * All calls come after this one, so the store goes by virtual time from the start.
	 */
	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (!(bean instanceof DelayedTaskStore store)) {
			return bean;
		}
		store.testing().setClock(() -> this.clock.getObject().now().toEpochMilli());
		ProxyFactory proxy = new ProxyFactory(store);
		proxy.addAdvice(this);
		return proxy.getProxy();
	}

	@Override
	public @Nullable Object invoke(MethodInvocation call) throws Throwable {
		return switch (call.getMethod().getName()) {
			case "claim" -> claim(call);
			case "settle" -> settle(call);
			case "settleInTransaction" ->
				isTold((Settlement) Objects.requireNonNull(call.getArguments()[0])) ? call.proceed() : false;
			default -> call.proceed();
		};
	}

	private @Nullable Object claim(MethodInvocation call) throws Throwable {
		List<TaskRef> lapsing = List.copyOf(this.lapsing);
		if (!lapsing.isEmpty()) {
			((DelayedTaskStore) Objects.requireNonNull(call.getThis())).renew(lapsing, Duration.ZERO);
			lapsing.forEach(this.lapsing::remove);
		}
		return call.proceed();
	}

	@SuppressWarnings("unchecked")
	private List<Reply> settle(MethodInvocation call) throws Throwable {
		List<Settlement> all = (List<Settlement>) Objects.requireNonNull(call.getArguments()[0]);
		List<Settlement> told = all.stream().filter(this::isTold).toList();
		call.getArguments()[0] = told;
		Iterator<Reply> replies = told.isEmpty() ? List.<Reply>of().iterator()
				: ((List<Reply>) Objects.requireNonNull(call.proceed())).iterator();
		return all.stream().map((end) -> told.contains(end) ? replies.next() : Reply.REFUSED).toList();
	}

	private boolean isTold(Settlement settlement) {
		if (settlement instanceof Settlement.Release) {
			return true;
		}
		Faults.End end = this.faults.getObject().ending(settlement.task().id(), error(settlement));
		if (end == Faults.End.REPEATED) {
			this.lapsing.add(settlement.task());
		}
		if (!(settlement instanceof Settlement.Acknowledge) || end != Faults.End.TOLD) {
			this.loops.getObject().wakeAll(); // the node does not poll
		}
		return end == Faults.End.TOLD;
	}

	private static @Nullable String error(Settlement settlement) {
		if (settlement instanceof Settlement.Retry retry) {
			return retry.error();
		}
		if (settlement instanceof Settlement.Repeat repeat) {
			return repeat.error();
		}
		return (settlement instanceof Settlement.Bury bury) ? bury.reason() : null;
	}

}
