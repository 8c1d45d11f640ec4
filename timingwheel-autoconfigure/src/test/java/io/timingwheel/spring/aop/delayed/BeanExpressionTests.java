package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;

import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import jakarta.annotation.PostConstruct;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An attribute with a bean expression waits for its beans: the beans are created, bound
 * and post-processed like all others.
 */
class BeanExpressionTests {

	private static final String[] PROPERTIES = { "orders.name=close", "orders.grace=5m", "orders.executor=mine" };

	@RegisterExtension
	static final VirtualApplication app = VirtualApplication.of(Settings.class, Orders.class, Late.class)
		.with(PROPERTIES);

	@Test
	void theDelayTheExpiryAndTheLimitFollowTheBean(Late late) {
		late.later();
		late.expires();
		DelayedTaskRegistry registry = app.bean(DelayedTaskRegistry.class);
		registry.setPaused("late.expires", true);
		app.advance(Duration.ofMinutes(5));
		assertThat(app.counts("late.later").completed()).isOne();
		app.advance(Duration.ofMinutes(1));
		registry.setPaused("late.expires", false);
		app.advanceSeconds(0);
		assertThat(app.counts("late.expires").expired()).isOne();
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(late::limited)
			.satisfies((ex) -> assertThat(ex.getTimeout()).hasMinutes(5));
	}

	@Test
	void theNameFollowsTheBeanAndCanBeCancelled(Orders orders) {
		orders.close(5);
		assertThat(app.tasks().find(TaskId.of("close", 5))).isPresent();
		orders.pay(5);
		assertThat(app.pending()).isZero();
	}

	@Test
	void theExecutorFollowsTheBean() {
		List<String> threads = new CopyOnWriteArrayList<>();
		try (VirtualApplication application = VirtualApplication.of(Settings.class, OnExecutor.class)
			.with(PROPERTIES)
			.withExecutors()) {
			application.bean(OnExecutor.class).run(threads);
			application.advanceSeconds(0);
			application.awaitIdle();
			assertThat(threads).singleElement().asString().startsWith("mine-");
		}
	}

	@Test
	void aCallBeforeTheEndOfTheStartResolvesTheAttributes() {
		try (VirtualApplication application = VirtualApplication.of(Settings.class, Orders.class, EarlyCaller.class)
			.with(PROPERTIES)) {
			assertThat(application.tasks().find(TaskId.of("close", 1))).isPresent();
		}
	}

	@Test
	void aNameThatTurnsOutToBeTakenOrAnExecutorThatTurnsOutToBeMissingStopsTheStart() {
		assertThatExceptionOfType(InvalidAnnotatedMethodException.class)
			.isThrownBy(VirtualApplication.of(Settings.class, Orders.class, SameName.class).with(PROPERTIES)::context)
			.withMessageContaining("the name \"close\" of @Delayed belongs to");
		assertThatExceptionOfType(InvalidAnnotatedMethodException.class)
			.isThrownBy(VirtualApplication.of(Settings.class, OnExecutor.class).with("orders.executor=nobody")::context)
			.withMessageContaining("@Delayed names the executor \"nobody\"");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableConfigurationProperties
	static class Settings {

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

		private Duration grace;

		private String executor;

		public String getName() {
			return this.name;
		}

		public void setName(String name) {
			this.name = name;
		}

		public Duration getGrace() {
			return this.grace;
		}

		public void setGrace(Duration grace) {
			this.grace = grace;
		}

		public String getExecutor() {
			return this.executor;
		}

		public void setExecutor(String executor) {
			this.executor = executor;
		}

	}

	static class Late {

		@Delayed("#{@orderProperties.grace}")
		public void later() {
		}

		@Delayed(delay = "0", expireAfter = "#{@orderProperties.grace}")
		public void expires() {
		}

		@Timeout("#{@orderProperties.grace}")
		public void limited() {
			app.advance(Duration.ofMinutes(5));
		}

	}

	static class Orders {

		@Delayed(delay = "1h", name = "#{@orderProperties.name}", key = "#id")
		public void close(long id) {
		}

		@CancelDelayed(name = "#{@orderProperties.name}", key = "#id")
		public void pay(long id) {
		}

	}

	static class SameName {

		@Delayed(delay = "1h", name = "#{@orderProperties.name}", key = "#id")
		public void other(long id) {
		}

	}

	static class OnExecutor {

		@Delayed(delay = "0", executor = "#{@orderProperties.executor}")
		public void run(List<String> threads) {
			threads.add(Thread.currentThread().getName());
		}

	}

	static class EarlyCaller {

		private final Orders orders;

		EarlyCaller(Orders orders) {
			this.orders = orders;
		}

		@PostConstruct
		void call() {
			this.orders.close(1);
		}

	}

}
