package io.timingwheel.spring.aop.delayed;

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
				.hasMessageContaining("is unusable (Expression [1 +]"));
	}

	@Test
	void theAliasesOfADurableMethodFollowTheBean() {
		DurableContexts.runner(Settings.class)
			.withPropertyValues("orders.name=close")
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

		@Bean
		OrderProperties orderProperties() {
			return new OrderProperties();
		}

	}

	@ConfigurationProperties("orders")
	public static class OrderProperties {

		private String name;

		public String getName() {
			return this.name;
		}

		public void setName(String name) {
			this.name = name;
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
