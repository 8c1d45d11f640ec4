package io.timingwheel.spring.durable.store.test;

import io.timingwheel.spring.durable.store.DelayedTaskStore;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** An application that brings its own store. */
@Configuration(proxyBeanMethods = false)
class StoreBean {

	// tag::bean[]
	@Bean
	DelayedTaskStore taskStore() {
		return new InMemoryTaskStore();
	}
	// end::bean[]

}
