package io.timingwheel.test;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.autoconfigure.NodeStore;
import io.timingwheel.spring.durable.node.DurableNode;
import io.timingwheel.spring.durable.store.DelayedTaskStore;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Virtual time for durable tasks, if their module is there.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(DurableNode.class)
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
	static StoreFaults timingWheelStoreFaults(InjectedFaults faults, VirtualClock clock) {
		return new StoreFaults(faults, clock);
	}

	@Bean
	static NodeStore.Decorator timingWheelStoreFaultsDecorator(StoreFaults faults) {
		return faults::around;
	}

	/**
	 * A store gets its clock before anybody uses it.
	 */
	@Bean
	static BeanPostProcessor timingWheelVirtualStoreProcessor(ObjectProvider<VirtualClock> clock) {
		return new VirtualStoreProcessor(clock);
	}

	private static final class VirtualStoreProcessor implements BeanPostProcessor {

		private final ObjectProvider<VirtualClock> clock;

		VirtualStoreProcessor(ObjectProvider<VirtualClock> clock) {
			this.clock = clock;
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			if (bean instanceof DelayedTaskStore store) {
				setClock(store);
			}
			return bean;
		}

		private void setClock(DelayedTaskStore store) {
			try {
				store.testing().setClock(this.clock.getObject()::millis);
			}
			catch (UnsupportedOperationException ex) {
				throw new VirtualTimeException("The store " + store.getClass().getName() + " has no virtual time.",
						"Override DelayedTaskStore.testing, or use another store in this test.");
			}
		}

	}

}
