package io.timingwheel.spring.faults;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.durable.store.Claimed;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.LeasedTask;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Records when the store gives tasks to this node that begin with their claim.
 */
class ClaimRecorder implements BeanPostProcessor {

	/** By id of a task: the time of its claim. */
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
							claim.tasks()
								.stream()
								.filter(LeasedTask::begun)
								.forEach((task) -> this.begunAt.put(task.id(), claim.now()));
						}
						return result;
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	/**
	 * When a task began with its claim, by the clock of the store. Asked once for each
	 * task.
	 * @return {@code null} if the task began after its claim
	 */
	@Nullable Long begunAt(String id) {
		return this.begunAt.remove(id);
	}

}
