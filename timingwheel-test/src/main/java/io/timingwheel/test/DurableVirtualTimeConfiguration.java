package io.timingwheel.test;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.durable.call.DurableTasks;
import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/** Virtual time for durable tasks, if their module is there. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(name = "io.timingwheel.spring.durable.node.DurableNode")
class DurableVirtualTimeConfiguration {

	/**
	 * The wheel of the node comes after the wheel of the application, so that of the
	 * tasks that are due at the same time those in memory run first.
	 */
	@Bean
	VirtualLoops timingWheelVirtualLoops(VirtualClock clock, ObjectProvider<TimingWheel> wheel) {
		wheel.getIfAvailable();
		return new VirtualLoops(clock);
	}

	@Bean
	static StoreFaults timingWheelStoreFaults(ObjectProvider<VirtualClock> clock, ObjectProvider<Faults> faults,
			ObjectProvider<VirtualLoops> loops) {
		return new StoreFaults(clock, faults, loops);
	}

	@Bean
	@Lazy
	@Nullable VirtualNode timingWheelVirtualNode(BeanFactory beans, VirtualLoops loops) {
		StoredTasks stored = beans.getBeanProvider(StoredTasks.class).getIfAvailable();
		return (stored == null) ? null : new VirtualNode(stored, beans.getBean(DelayedTaskStore.class),
				beans.getBean(DurableTasks.class), beans.getBean(DurableHandlers.class), loops);
	}

}
