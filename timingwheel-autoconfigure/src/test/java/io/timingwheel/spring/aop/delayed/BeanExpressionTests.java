package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import jakarta.annotation.PostConstruct;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;

import static io.timingwheel.spring.aop.delayed.DelayedContexts.advance;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.advanceAndAwait;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.awaitIdle;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.counts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * An attribute with a bean expression waits for its beans: the beans are created, bound
 * and post-processed like all others.
 */
class BeanExpressionTests {

	private static final List<String> calls = new CopyOnWriteArrayList<>();

	private final ApplicationContextRunner runner = DelayedContexts.runner(Settings.class)
		.withPropertyValues("orders.name=close", "orders.grace=5m");

	@BeforeEach
	void reset() {
		calls.clear();
	}

	@ParameterizedTest
	@ValueSource(
			classes = { WithDelay.class, WithExpireAfter.class, WithName.class, WithTimeout.class, WithCancel.class })
	<T> void thePropertiesOfTheBeanAreBound(Class<T> bean) {
		this.runner.withBean("orders", bean).run((context) -> {
			assertThat(context).hasNotFailed();
			OrderProperties properties = context.getBean(OrderProperties.class);
			assertThat(properties.getName()).isEqualTo("close");
			assertThat(properties.getGrace()).isEqualTo(Duration.ofMinutes(5));
		});
	}

	@Test
	void theExpiryFollowsTheBean() {
		this.runner.withBean("orders", WithExpireAfter.class).run((context) -> {
			WithExpireAfter orders = context.getBean(WithExpireAfter.class);
			orders.run();
			runAfter(context, Duration.ofMinutes(6));
			assertThat(counts(context, "orders.run").expired()).isOne();
			orders.run();
			runAfter(context, Duration.ofMinutes(4));
			assertThat(calls).containsExactly("in time");
		});
	}

	/**
	 * Runs the body late, as a busy executor does.
	 */
	private static void runAfter(BeanFactory context, Duration lateness) {
		advance(context, Duration.ofSeconds(1));
		await().until(() -> !context.getBean(Settings.class).busy.isEmpty());
		advance(context, lateness);
		context.getBean(Settings.class).busy.remove().run();
		awaitIdle(context);
	}

	@Test
	void theNameFollowsTheBeanAndCanBeCancelled() {
		this.runner.withBean("orders", WithCancel.class).run((context) -> {
			assertThat(context.getBean(DelayedTaskRegistry.class).names()).contains("close");
			context.getBean(WithCancel.class).run(5);
			DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
			assertThat(tasks.find(TaskId.of("close", 5))).isPresent();
			context.getBean(WithCancel.class).pay(5);
			assertThat(tasks.find(TaskId.of("close", 5))).isEmpty();
		});
	}

	@Test
	void theExecutorFollowsTheBean() {
		this.runner.withPropertyValues("orders.name=mine").withBean("orders", WithExecutor.class).run((context) -> {
			context.getBean(WithExecutor.class).run();
			advanceAndAwait(context, Duration.ofSeconds(1));
			assertThat(calls).singleElement().asString().startsWith("mine-");
		});
	}

	@Test
	void aCallBeforeTheEndOfTheStartResolvesTheAttributes() {
		this.runner.withBean("orders", WithName.class).withBean("early", EarlyCaller.class).run((context) -> {
			assertThat(context.getBean(DelayedTaskOperations.class).find(TaskId.of("close", 1))).isPresent();
			assertThat(context.getBean(OrderProperties.class).getGrace()).isEqualTo(Duration.ofMinutes(5));
		});
	}

	@Test
	void twoNamesThatTurnOutToBeTheSameStopTheStart() {
		this.runner.withBean("orders", WithName.class)
			.withBean("others", SameName.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("the name \"close\" of @Delayed belongs to"));
	}

	@Test
	void anExecutorThatTurnsOutToBeMissingStopsTheStart() {
		this.runner.withPropertyValues("orders.name=nobody")
			.withBean("orders", WithExecutor.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("@Delayed names the executor \"nobody\""));
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

		@Delayed(delay = "0", expireAfter = "#{@orderProperties.grace}", executor = "busyExecutor")
		public void run() {
			calls.add("in time");
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
		public void run() {
			calls.add(Thread.currentThread().getName());
		}

	}

	static class WithTimeout {

		@Timeout("#{@orderProperties.grace}")
		public void run() {
		}

	}

	static class WithCancel {

		@Delayed(delay = "1h", name = "#{@orderProperties.name}", key = "#id")
		public void run(long id) {
		}

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
