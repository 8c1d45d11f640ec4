package io.timingwheel.spring.aop.delayed;

import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.call.MemoryStore;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/**
 * Application contexts with a store in memory, in real time.
 */
final class DurableContexts {

	private DurableContexts() {
	}

	static ApplicationContextRunner runner(Class<?>... configurations) {
		return runner(new MemoryStore(), configurations);
	}

	static ApplicationContextRunner runner(MemoryStore store, Class<?>... configurations) {
		return DelayedContexts.realTimeRunner(configurations)
			.withConfiguration(
					AutoConfigurations.of(JacksonAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class))
			.withBean(MemoryStore.class, () -> store)
			.withPropertyValues("timingwheel.store.poll-interval=20ms", "timingwheel.store.backoff.initial=10ms",
					"timingwheel.store.max-attempts=3");
	}

}
