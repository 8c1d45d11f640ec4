package io.timingwheel.spring.faults;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.spring.durable.store.Claimed;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.LeasedTask;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Records which tasks the store gives to this node.
 */
class ClaimRecorder implements BeanPostProcessor {

	private final AtomicInteger largest = new AtomicInteger();

	private final AtomicInteger unordered = new AtomicInteger();

	/** By id of a task that began with its claim: the time of the claim. */
	private final Map<String, Long> begunAt = new ConcurrentHashMap<>();

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (!(bean instanceof DelayedTaskStore store)) {
			return bean;
		}
		return Proxy.newProxyInstance(DelayedTaskStore.class.getClassLoader(),
				new Class<?>[] { DelayedTaskStore.class }, (proxy, method, arguments) -> {
					try {
						Object result = method.invoke(store, arguments);
						if (result instanceof Claimed claim) {
							record(claim);
						}
						return result;
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	private void record(Claimed claim) {
		List<LeasedTask> tasks = claim.tasks();
		tasks.stream().filter(LeasedTask::begun).forEach((task) -> this.begunAt.put(task.id(), claim.now()));
		this.largest.accumulateAndGet(tasks.size(), Math::max);
		if (!tasks.equals(tasks.stream().sorted(Comparator.comparingLong(LeasedTask::dueAt)).toList())) {
			this.unordered.incrementAndGet();
		}
	}

	/**
	 * How many tasks the largest claim had.
	 */
	int largest() {
		return this.largest.get();
	}

	/**
	 * When a task began with its claim, by the clock of the store. Asked once for each
	 * task.
	 * @return {@code null} if the task began after its claim
	 */
	@Nullable Long begunAt(String id) {
		return this.begunAt.remove(id);
	}

	/**
	 * How many claims did not have their tasks in the order of their due times.
	 */
	int unordered() {
		return this.unordered.get();
	}

}
