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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

	private static VirtualApplication application(Class<?>... beans) {
		return VirtualApplication.of(Settings.class).with(beans).with("orders.name=close", "orders.grace=5m");
	}

	@ParameterizedTest
	@ValueSource(
			classes = { WithDelay.class, WithExpireAfter.class, WithName.class, WithTimeout.class, WithCancel.class })
	void thePropertiesOfTheBeanAreBound(Class<?> bean) {
		try (VirtualApplication application = application(bean)) {
			OrderProperties properties = application.bean(OrderProperties.class);
			assertThat(properties.getName()).isEqualTo("close");
			assertThat(properties.getGrace()).isEqualTo(Duration.ofMinutes(5));
		}
	}

	@Test
	void theDelayTheExpiryAndTheLimitFollowTheBean() {
		try (VirtualApplication application = application(WithDelay.class, WithExpireAfter.class, WithTimeout.class)) {
			application.bean(WithDelay.class).run();
			application.bean(WithExpireAfter.class).run();
			DelayedTaskRegistry registry = application.bean(DelayedTaskRegistry.class);
			registry.setPaused("withExpireAfter.run", true);
			application.advance(Duration.ofMinutes(5));
			assertThat(application.counts("withDelay.run").completed()).isOne();
			application.advance(Duration.ofMinutes(1));
			registry.setPaused("withExpireAfter.run", false);
			application.advanceSeconds(0);
			assertThat(application.counts("withExpireAfter.run").expired()).isOne();
			assertThatExceptionOfType(MethodTimeoutException.class)
				.isThrownBy(() -> application.bean(WithTimeout.class).run(application))
				.satisfies((ex) -> assertThat(ex.getTimeout()).hasMinutes(5));
		}
	}

	@Test
	void theNameFollowsTheBeanAndCanBeCancelled() {
		try (VirtualApplication application = application(WithCancel.class)) {
			WithCancel orders = application.bean(WithCancel.class);
			orders.run(5);
			assertThat(application.tasks().find(TaskId.of("close", 5))).isPresent();
			orders.pay(5);
			assertThat(application.pending()).isZero();
		}
	}

	@Test
	void theExecutorFollowsTheBean() {
		List<String> threads = new CopyOnWriteArrayList<>();
		try (VirtualApplication application = application(WithExecutor.class).with("orders.name=mine")
			.withExecutors()) {
			application.bean(WithExecutor.class).run(threads);
			application.advanceSeconds(0);
			application.awaitIdle();
			assertThat(threads).singleElement().asString().startsWith("mine-");
		}
	}

	@Test
	void aCallBeforeTheEndOfTheStartResolvesTheAttributes() {
		try (VirtualApplication application = application(WithName.class, EarlyCaller.class)) {
			assertThat(application.tasks().find(TaskId.of("close", 1))).isPresent();
		}
	}

	@Test
	void aNameThatTurnsOutToBeTakenOrAnExecutorThatTurnsOutToBeMissingStopsTheStart() {
		assertThatExceptionOfType(InvalidAnnotatedMethodException.class)
			.isThrownBy(application(WithName.class, SameName.class)::context)
			.withMessageContaining("the name \"close\" of @Delayed belongs to");
		assertThatExceptionOfType(InvalidAnnotatedMethodException.class)
			.isThrownBy(application(WithExecutor.class).with("orders.name=nobody")::context)
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

	}

	static class WithDelay {

		@Delayed("#{@orderProperties.grace}")
		public void run() {
		}

	}

	static class WithExpireAfter {

		@Delayed(delay = "0", expireAfter = "#{@orderProperties.grace}")
		public void run() {
		}

	}

	static class WithName {

		@Delayed(delay = "1h", name = "#{@orderProperties.name}", key = "#id")
		public void run(long id) {
		}

	}

	static class SameName {

		@Delayed(delay = "1h", name = "#{@orderProperties.name}", key = "#id")
		public void other(long id) {
		}

	}

	static class WithExecutor {

		@Delayed(delay = "0", executor = "#{@orderProperties.name}")
		public void run(List<String> threads) {
			threads.add(Thread.currentThread().getName());
		}

	}

	static class WithTimeout {

		@Timeout("#{@orderProperties.grace}")
		public void run(VirtualApplication application) {
			application.advance(Duration.ofMinutes(5));
		}

	}

	static class WithCancel extends WithName {

		@CancelDelayed(name = "#{@orderProperties.name}", key = "#id")
		public void pay(long id) {
		}

	}

	static class EarlyCaller {

		private final WithName orders;

		EarlyCaller(WithName orders) {
			this.orders = orders;
		}

		@PostConstruct
		void call() {
			this.orders.run(1);
		}

	}

}
