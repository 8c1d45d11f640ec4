package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.durable.call.MemoryStore;
import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.Test;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An attribute with a bean expression waits for its beans: the beans are created, bound
 * and post-processed like all others. The syntax of the expression is checked before any
 * bean is created.
 */
class DurableBeanExpressionTests {

	@Test
	void aBrokenAliasStopsTheStart() {
		DurableContexts.runner()
			.withBean("orders", BrokenAlias.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining(BrokenAlias.class.getName() + "#run(")
				.hasMessageContaining("\"#{1 +}\" cannot be parsed"));
	}

	@Test
	void theAliasesOfADurableMethodFollowTheBean() {
		DurableContexts.runner(Settings.class)
			.withPropertyValues("orders.name=close", "orders.executor=mine", "orders.grace=5m")
			.withBean("orders", WithAlias.class)
			.run((context) -> {
				assertThat(context.getBean(OrderProperties.class).getName()).isEqualTo("close");
				assertThat(context.getBean(DelayedTaskStore.class)).isInstanceOf(MemoryStore.class);
				assertThat(context.getBean(DurableHandlers.class).canonicalName("close")).isEqualTo("close-order");
			});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableConfigurationProperties
	static class Settings {

		final BlockingQueue<Runnable> busy = new LinkedBlockingQueue<>();

		@Bean
		Executor busyExecutor() {
			return this.busy::add;
		}

		@Bean
		OrderProperties orderProperties() {
			return new OrderProperties();
		}

		@Bean
		Executor mine() {
			return new SimpleAsyncTaskExecutor("mine-");
		}

	}

	@ConfigurationProperties("orders")
	public static class OrderProperties {

		private String name;

		private String executor;

		private Duration delay;

		private Duration grace;

		public String getName() {
			return this.name;
		}

		public void setName(String name) {
			this.name = name;
		}

		public String getExecutor() {
			return this.executor;
		}

		public void setExecutor(String executor) {
			this.executor = executor;
		}

		public Duration getDelay() {
			return this.delay;
		}

		public void setDelay(Duration delay) {
			this.delay = delay;
		}

		public Duration getGrace() {
			return this.grace;
		}

		public void setGrace(Duration grace) {
			this.grace = grace;
		}

	}

	static class WithAlias {

		@Delayed(delay = "1h", name = "close-order", aliases = "#{@orderProperties.name}", durable = true)
		public void run() {
		}

	}

	static class BrokenAlias {

		@Delayed(delay = "1s", name = "run", aliases = "#{1 +}", durable = true)
		public void run() {
		}

	}

}
