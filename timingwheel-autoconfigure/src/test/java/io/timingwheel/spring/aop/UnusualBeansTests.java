package io.timingwheel.spring.aop;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.OverridingClassLoader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The three annotations work on beans of every kind.
 */
class UnusualBeansTests {

	private static final List<String> calls = new CopyOnWriteArrayList<>();

	private final ManualTimeSource time = new ManualTimeSource();

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(AutoConfigurations
		.of(AopAutoConfiguration.class, TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class));

	private final ApplicationContextRunner manualRunner = this.runner.withBean(TimingWheelBuilderCustomizer.class,
			() -> (builder) -> builder.timeSource(this.time));

	@BeforeEach
	void reset() {
		calls.clear();
	}

	@ParameterizedTest
	@ValueSource(classes = { OfInterface.class, OfScopes.class, OfLazy.class, OfFactory.class, OfPrototype.class,
			OfConfiguration.class, OfPrimary.class })
	void theAnnotationsWork(Class<?> configuration) {
		this.manualRunner.withUserConfiguration(configuration).run((context) -> assertDelaysAndCancels(context));
		this.runner.withUserConfiguration(configuration).run((context) -> assertLimits(context));
	}

	@ParameterizedTest
	@ValueSource(classes = { OfInterface.class, OfLazy.class, OfPrototype.class, OfPrimary.class })
	void theAnnotationsWorkThroughInterfaceBasedProxies(Class<?> configuration) {
		this.manualRunner.withPropertyValues("spring.aop.proxy-target-class=false")
			.withUserConfiguration(configuration)
			.run((context) -> assertDelaysAndCancels(context));
		this.runner.withPropertyValues("spring.aop.proxy-target-class=false")
			.withUserConfiguration(configuration)
			.run((context) -> assertLimits(context));
	}

	private void assertDelaysAndCancels(AssertableApplicationContext context) {
		Orders<Order> orders = orders(context);
		DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
		orders.close(new Order(1, Duration.ofHours(1)));
		orders.close(new Order(2, Duration.ofHours(2)));
		assertThat(tasks.find(TaskId.of("close", 1))).isPresent();
		orders.pay(2);
		assertThat(tasks.find(TaskId.of("close", 2))).isEmpty();
		assertThat(calls).isEmpty();
		this.time.advance(Duration.ofHours(1));
		await().untilAsserted(() -> assertThat(calls).containsExactly("close 1"));
	}

	private static void assertLimits(AssertableApplicationContext context) {
		Orders<Order> orders = orders(context);
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> orders.quote(new Order(1, null)));
	}

	@SuppressWarnings("unchecked")
	private static Orders<Order> orders(AssertableApplicationContext context) {
		assertThat(context).hasNotFailed();
		return context.getBean(Orders.class);
	}

	@Test
	void anOverriddenDefaultMethodKeepsTheAnnotation() {
		this.manualRunner.withUserConfiguration(Overriding.class).run((context) -> {
			orders(context).close(new Order(1, Duration.ofHours(1)));
			assertThat(calls).isEmpty();
			this.time.advance(Duration.ofHours(1));
			await().untilAsserted(() -> assertThat(calls).containsExactly("overridden 1"));
		});
	}

	@Test
	void theBeanThatIsNotPrimaryHasTasksOfItsOwn() {
		this.manualRunner.withUserConfiguration(OfNamelessBeans.class).run((context) -> {
			DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
			context.getBean(Nameless.class).close(1);
			assertThat(tasks.find(TaskId.of("second.close", 1))).isPresent();
			assertThat(tasks.find(TaskId.of("first.close", 1))).isEmpty();
			context.getBean("first", Nameless.class).close(1);
			assertThat(tasks.find(TaskId.of("first.close", 1))).isPresent();
			assertThat(tasks.pendingCount()).isEqualTo(2);
		});
	}

	@Test
	void aLambdaIsProxiedByItsInterface() {
		this.manualRunner.withBean("lambda", Nameless.class, () -> (id) -> calls.add("lambda " + id)).run((context) -> {
			context.getBean(Nameless.class).close(1);
			assertThat(calls).isEmpty();
			this.time.advance(Duration.ofHours(1));
			await().untilAsserted(() -> assertThat(calls).containsExactly("lambda 1"));
		});
	}

	@Test
	void twoContextsInOneJvmHaveTasksOfTheirOwn() {
		this.runner.withUserConfiguration(OfInterface.class).run((first) -> {
			orders(first).close(new Order(1, Duration.ofHours(1)));
			this.manualRunner.withUserConfiguration(OfInterface.class).run((second) -> {
				assertThat(second.getBean(DelayedTaskOperations.class).pendingCount()).isZero();
				assertDelaysAndCancels(second);
			});
			assertThat(first.getBean(DelayedTaskOperations.class).find(TaskId.of("close", 1))).isPresent();
			orders(first).pay(1);
			assertThat(first.getBean(DelayedTaskOperations.class).pendingCount()).isZero();
		});
	}

	/**
	 * The restart of devtools loads the classes of the application again, and those of
	 * libraries not.
	 */
	@Test
	void anApplicationWorksAfterARestartInANewClassLoader() {
		for (int restart = 0; restart < 2; restart++) {
			ClassLoader loader = new RestartClassLoader();
			this.runner.withClassLoader(loader).withUserConfiguration(load(loader)).run((context) -> {
				assertThat(context).hasNotFailed();
				Object orders = context.getBean("restarted");
				assertThat(orders.getClass().getSuperclass().getClassLoader()).isSameAs(loader);
				orders.getClass().getMethod("close", long.class).invoke(orders, 1L);
				DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
				assertThat(tasks.find(TaskId.of("restarted.close", 1))).isPresent();
				orders.getClass().getMethod("pay", long.class).invoke(orders, 1L);
				assertThat(tasks.find(TaskId.of("restarted.close", 1))).isEmpty();
			});
		}
	}

	private static Class<?> load(ClassLoader loader) {
		try {
			return loader.loadClass(RestartedConfiguration.class.getName());
		}
		catch (ClassNotFoundException ex) {
			throw new IllegalStateException(ex);
		}
	}

	record Order(long id, Duration window) {

	}

	interface Orders<T> {

		@Delayed(delayExpression = "#order.window", name = "close", key = "#order.id")
		default void close(T order) {
			calls.add("close " + ((Order) order).id());
		}

		@CancelDelayed(name = "close", key = "#id")
		default void pay(long id) {
		}

		@Timeout("10ms")
		default String quote(T order) throws InterruptedException {
			TimeUnit.MINUTES.sleep(1);
			return "never";
		}

	}

	static class DefaultOrders implements Orders<Order> {

	}

	static class OverridingOrders implements Orders<Order> {

		@Override
		public void close(Order value) {
			calls.add("overridden " + value.id());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OfInterface {

		@Bean
		Orders<Order> orders() {
			return new DefaultOrders();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Overriding {

		@Bean
		OverridingOrders orders() {
			return new OverridingOrders();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OfScopes {

		@Bean
		static BeanFactoryPostProcessor threadScope() {
			return (factory) -> factory.registerScope("thread", new SimpleThreadScope());
		}

		@Bean
		@Scope(scopeName = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
		DefaultOrders orders() {
			return new DefaultOrders();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OfLazy {

		@Bean
		@Lazy
		DefaultOrders orders() {
			return new DefaultOrders();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OfFactory {

		@Bean
		FactoryBean<DefaultOrders> orders() {
			return new FactoryBean<>() {

				@Override
				public DefaultOrders getObject() {
					return new DefaultOrders();
				}

				@Override
				public Class<?> getObjectType() {
					return DefaultOrders.class;
				}

			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OfPrototype {

		@Bean
		@Scope("prototype")
		DefaultOrders orders() {
			return new DefaultOrders();
		}

	}

	@Configuration
	static class OfConfiguration implements Orders<Order> {

		@Bean
		String text() {
			return "text";
		}

		@Bean
		StringBuilder builder() {
			return new StringBuilder(text());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OfPrimary {

		@Bean
		DefaultOrders original() {
			return new DefaultOrders();
		}

		@Bean
		@Primary
		DefaultOrders replacement() {
			return new DefaultOrders();
		}

	}

	interface Nameless {

		@Delayed(delay = "1h", key = "#id")
		void close(long id);

	}

	@Configuration(proxyBeanMethods = false)
	static class OfNamelessBeans {

		@Bean
		Nameless first() {
			return (id) -> {
			};
		}

		@Bean
		@Primary
		Nameless second() {
			return (id) -> {
			};
		}

	}

	private static final class RestartClassLoader extends OverridingClassLoader {

		RestartClassLoader() {
			super(UnusualBeansTests.class.getClassLoader());
		}

		@Override
		protected boolean isEligibleForOverriding(String className) {
			return className.startsWith(UnusualBeansTests.class.getName() + "$Restarted");
		}

	}

	@Configuration(proxyBeanMethods = false)
	public static class RestartedConfiguration {

		@Bean
		public RestartedOrders restarted() {
			return new RestartedOrders();
		}

	}

	public static class RestartedOrders {

		@Delayed(delay = "1h", key = "#id")
		public void close(long id) {
		}

		@CancelDelayed(name = "restarted.close", key = "#id")
		public void pay(long id) {
		}

	}

}
