package io.timingwheel.spring.aop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.ProxyType;
import org.springframework.context.annotation.Proxyable;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.OverridingClassLoader;
import org.springframework.core.annotation.AliasFor;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The annotations take effect wherever they are, and however a bean is made and proxied.
 */
class AnnotatedBeansTests {

	private static final List<String> calls = new CopyOnWriteArrayList<>();

	private static final AtomicInteger instances = new AtomicInteger();

	private static ManualTimeSource time = new ManualTimeSource();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, TaskExecutionAutoConfiguration.class,
				TimingWheelAutoConfiguration.class))
		.withBean(TimingWheelBuilderCustomizer.class, () -> (builder) -> builder.timeSource(time));

	@BeforeEach
	void reset() {
		calls.clear();
		instances.set(0);
		time = new ManualTimeSource();
	}

	@ParameterizedTest
	@MethodSource
	void theAnnotationsWork(Class<?> beans, String property) {
		this.runner.withPropertyValues(property).withUserConfiguration(beans).run((context) -> {
			assertWorks(context);
			assertThat(context.getBean(DelayedTaskRegistry.class).names()).containsExactly("close");
		});
	}

	static List<Arguments> theAnnotationsWork() {
		List<Arguments> cases = new ArrayList<>();
		Stream
			.of(OnInterface.class, OnHiddenClass.class, OnSuperclass.class, OnGenericSuperclass.class,
					OnInheritedMethods.class, OnComposedAnnotations.class, OfLazyBean.class, OfPrototype.class,
					OfPrimary.class, OfProxy.class, OfProxyFactory.class, OfFactory.class, HiddenFinalOrders.class,
					FinalOrders.class, NamedSubInterface.class)
			.forEach((beans) -> Stream
				.of("spring.aop.proxy-target-class=true", "spring.aop.proxy-target-class=false",
						"spring.aop.auto=false")
				.forEach((property) -> cases.add(Arguments.of(beans, property))));
		Stream.of(OfScope.class, OfConfiguration.class)
			.forEach((beans) -> cases.add(Arguments.of(beans, "spring.aop.auto=true")));
		return cases;
	}

	private static void assertWorks(AssertableApplicationContext context) {
		assertThat(context).hasNotFailed();
		Plain<Order> orders = orders(context);
		DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
		orders.close(new Order(1, Duration.ofHours(1)));
		orders.close(new Order(2, Duration.ofHours(2)));
		assertThat(tasks.find(TaskId.of("close", 1))).isPresent();
		orders.pay(2);
		assertThat(tasks.find(TaskId.of("close", 2))).isEmpty();
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(orders::quote);
		assertThat(calls).isEmpty();
		time.advance(Duration.ofHours(1));
		await().untilAsserted(() -> assertThat(calls).containsExactly("close 1"));
	}

	@SuppressWarnings("unchecked")
	private static Plain<Order> orders(AssertableApplicationContext context) {
		return context.getBean(Plain.class);
	}

	@Test
	void aPackagePrivateMethodIsIntercepted() {
		this.runner.withBean(PackagePrivate.class).run((context) -> {
			context.getBean(PackagePrivate.class).run();
			assertThat(context.getBean(DelayedTaskOperations.class).pendingCount()).isOne();
		});
	}

	@Test
	void aCallWithinTheBeanIsNotIntercepted() {
		this.runner.withBean(PackagePrivate.class).run((context) -> {
			context.getBean(PackagePrivate.class).callsItself();
			assertThat(calls).containsExactly("run");
			assertThat(context.getBean(DelayedTaskOperations.class).pendingCount()).isZero();
		});
	}

	@Test
	void eachBeanHasTasksOfItsOwn() {
		this.runner.withUserConfiguration(OfNamelessBeans.class).run((context) -> {
			DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
			context.getBean(Nameless.class).close(1);
			assertThat(tasks.find(TaskId.of("second.close", 1))).isPresent();
			assertThat(tasks.find(TaskId.of("first.close", 1))).isEmpty();
			context.getBean("first", Nameless.class).close(1);
			assertThat(tasks.find(TaskId.of("first.close", 1))).isPresent();
			assertThat(context.getBean(DelayedTaskRegistry.class).names()).contains("scoped.close")
				.noneMatch((name) -> name.contains("scopedTarget"));
			time.advance(Duration.ofHours(1));
			await().untilAsserted(() -> assertThat(calls).containsExactlyInAnyOrder("first 1", "second 1"));
		});
	}

	@Test
	void eachPrototypeRunsItsOwnBody() {
		this.runner
			.withBean("twin", PackagePrivate.class, PackagePrivate::new,
					(definition) -> definition.setScope("prototype"))
			.run((context) -> {
				PackagePrivate first = context.getBean(PackagePrivate.class);
				PackagePrivate second = context.getBean(PackagePrivate.class);
				first.run();
				second.run();
				second.run();
				time.advance(Duration.ofHours(1));
				await().untilAsserted(() -> {
					assertThat(first.runs()).isOne();
					assertThat(second.runs()).isEqualTo(2);
				});
			});
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void theNamesOfALazyBeanAreKnownBeforeItIsCreated(boolean allLazy) {
		this.runner.withInitializer((context) -> {
			if (allLazy) {
				context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor());
			}
		})
			.withBean("lazy", PackagePrivate.class, PackagePrivate::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
				assertThat(context.getBean(DelayedTaskRegistry.class).names()).contains("lazy.run");
				assertThat(instances).hasValue(0);
				context.getBean(PackagePrivate.class).run();
				assertThat(context.getBean(DelayedTaskOperations.class).pendingCount()).isOne();
			});
	}

	@Test
	void aClassProxyMayBeForcedForABeanAndReplacesAMissingInterface() {
		this.runner.withPropertyValues("spring.aop.proxy-target-class=false")
			.withUserConfiguration(ClassProxied.class, NoInterface.class)
			.run((context) -> {
				context.getBean(ClassProxied.class).outside();
				context.getBean(NoInterface.class).close();
				assertThat(context.getBean(DelayedTaskOperations.class).pendingCount()).isEqualTo(2);
			});
	}

	@Test
	@SuppressWarnings("unchecked")
	void aReturnTypeMayBeATypeVariableThatTheClassOrTheDefinitionOfTheBeanKnows() {
		this.runner.withPropertyValues("spring.aop.proxy-target-class=false")
			.withUserConfiguration(GenericJobs.class)
			.run((context) -> {
				CompletableFuture<String> first = ((Job<CompletableFuture<String>>) context.getBean("inherited",
						Job.class))
					.run();
				DelayedTask<String> second = ((Job<DelayedTask<String>>) context.getBean("lambda", Job.class)).run();
				time.advance(Duration.ofSeconds(2));
				assertThat(first).succeedsWithin(60, TimeUnit.SECONDS).isEqualTo("inherited");
				assertThat(second).succeedsWithin(60, TimeUnit.SECONDS).isEqualTo("lambda");
			});
	}

	@Test
	void twoContextsInOneJvmHaveTasksOfTheirOwn() {
		this.runner.withUserConfiguration(OnInterface.class).run((first) -> {
			orders(first).close(new Order(7, Duration.ofDays(1)));
			this.runner.withUserConfiguration(OnInterface.class).run((second) -> {
				assertThat(second.getBean(DelayedTaskOperations.class).pendingCount()).isZero();
				assertWorks(second);
			});
			assertThat(first.getBean(DelayedTaskOperations.class).find(TaskId.of("close", 7))).isPresent();
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
			Class<?> restarted = ClassUtils.resolveClassName(Restarted.class.getName(), loader);
			this.runner.withClassLoader(loader).withBean("restarted", restarted).run((context) -> {
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

	private static String workForTooLong() {
		time.advance(Duration.ofMillis(10));
		return "late";
	}

	record Order(long id, Duration window) {

	}

	interface Plain<T> {

		void close(T order);

		void pay(long id);

		String quote();

	}

	interface SubInterface extends Plain<Order> {

	}

	interface Orders<T> extends Plain<T> {

		@Override
		@Delayed(delayExpression = "#order.window", name = "close", key = "#order.id")
		default void close(T order) {
			calls.add("close " + ((Order) order).id());
		}

		@Override
		@CancelDelayed(name = "close", key = "#id")
		default void pay(long id) {
		}

		@Override
		@Timeout("10ms")
		default String quote() {
			return workForTooLong();
		}

	}

	static class DefaultOrders implements Orders<Order> {

	}

	static class AnnotatedOrders implements Plain<Order> {

		@Override
		@Delayed(delayExpression = "#order.window", name = "close", key = "#order.id")
		public void close(Order order) {
			calls.add("close " + order.id());
		}

		@Override
		@CancelDelayed(name = "close", key = "#id")
		public void pay(long id) {
		}

		@Override
		@Timeout("10ms")
		public String quote() {
			return workForTooLong();
		}

	}

	/** A parameter has another name than in the annotated method. */
	static class OverridingOrders extends AnnotatedOrders {

		@Override
		public void close(Order other) {
			calls.add("close " + other.id());
		}

	}

	static class GenericOverridingOrders implements Orders<Order> {

		@Override
		public void close(Order other) {
			calls.add("close " + other.id());
		}

	}

	static class Unrelated {

		public void close(Order order) {
			calls.add("close " + order.id());
		}

		public void pay(long id) {
		}

		public String quote() {
			return workForTooLong();
		}

	}

	static class InheritingOrders extends Unrelated implements Orders<Order> {

		@Override
		public void close(Order other) {
			super.close(other);
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@Delayed(delayExpression = "#order.window", key = "#order.id")
	@interface AfterWindow {

		@AliasFor(annotation = Delayed.class, attribute = "name")
		String task();

	}

	@Retention(RetentionPolicy.RUNTIME)
	@CancelDelayed(name = "close", key = "")
	@interface KeepsOpen {

		@AliasFor(annotation = CancelDelayed.class)
		String key();

	}

	@Retention(RetentionPolicy.RUNTIME)
	@Timeout
	@interface Quick {

		@AliasFor(annotation = Timeout.class, attribute = "timeout")
		String limit() default "10ms";

	}

	static class ComposedOrders implements Plain<Order> {

		@Override
		@AfterWindow(task = "close")
		public void close(Order order) {
			calls.add("close " + order.id());
		}

		@Override
		@KeepsOpen(key = "#id")
		public void pay(long id) {
		}

		@Override
		@Quick
		public String quote() {
			return workForTooLong();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OnInterface {

		@Bean
		Orders<Order> orders() {
			return new DefaultOrders();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OnHiddenClass {

		@Bean
		Plain<Order> orders() {
			return new AnnotatedOrders();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OnSuperclass {

		@Bean
		OverridingOrders orders() {
			return new OverridingOrders();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OnGenericSuperclass {

		@Bean
		GenericOverridingOrders orders() {
			return new GenericOverridingOrders();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OnInheritedMethods {

		@Bean
		InheritingOrders orders() {
			return new InheritingOrders();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OnComposedAnnotations {

		@Bean
		ComposedOrders orders() {
			return new ComposedOrders();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OfScope {

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
	static class OfLazyBean {

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

	@Configuration(proxyBeanMethods = false)
	static class OfProxy {

		@Bean
		@SuppressWarnings("unchecked")
		Orders<Order> orders() {
			InvocationHandler handler = (proxy, method, arguments) -> switch (method.getName()) {
				case "hashCode" -> 1;
				case "equals" -> proxy == arguments[0];
				case "toString" -> "orders";
				default -> InvocationHandler.invokeDefault(proxy, method, arguments);
			};
			return (Orders<Order>) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Orders.class },
					handler);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OfProxyFactory {

		@Bean
		@SuppressWarnings("unchecked")
		Orders<Order> orders() {
			DefaultOrders target = new DefaultOrders();
			return ProxyFactory.getProxy(Orders.class, (MethodInterceptor) (invocation) -> ReflectionUtils
				.invokeMethod(invocation.getMethod(), target, invocation.getArguments()));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class HiddenFinalOrders {

		@Bean
		@Proxyable(ProxyType.INTERFACES)
		Plain<Order> orders() {
			return new FinalOrders();
		}

	}

	@Proxyable(ProxyType.INTERFACES)
	static final class FinalOrders extends AnnotatedOrders {

	}

	@Proxyable(interfaces = SubInterface.class)
	static final class NamedSubInterface extends AnnotatedOrders implements SubInterface, Runnable {

		@Override
		public void run() {
		}

	}

	@Proxyable(ProxyType.TARGET_CLASS)
	static class ClassProxied implements Runnable {

		@Override
		public void run() {
		}

		@Delayed("1h")
		public void outside() {
		}

	}

	@Proxyable(ProxyType.INTERFACES)
	static class NoInterface {

		@Delayed("1h")
		public void close() {
		}

	}

	static class PackagePrivate {

		private final AtomicInteger runs = new AtomicInteger();

		PackagePrivate() {
			if (getClass() == PackagePrivate.class) {
				instances.incrementAndGet();
			}
		}

		@Delayed("1h")
		void run() {
			this.runs.incrementAndGet();
			calls.add("run");
		}

		public void callsItself() {
			run();
		}

		public int runs() {
			return this.runs.get();
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
			return (id) -> calls.add("first " + id);
		}

		@Bean
		@Primary
		Nameless second() {
			return (id) -> calls.add("second " + id);
		}

		@Bean
		@Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.INTERFACES)
		Nameless scoped() {
			return (id) -> {
			};
		}

	}

	interface Job<T extends Future<String>> {

		@Delayed("1s")
		T run();

	}

	abstract static class AbstractJob<T extends Future<String>> implements Job<T> {

		@Override
		@SuppressWarnings("unchecked")
		public T run() {
			return (T) CompletableFuture.completedFuture("inherited");
		}

	}

	static class InheritedJob extends AbstractJob<CompletableFuture<String>> {

	}

	@Configuration(proxyBeanMethods = false)
	static class GenericJobs {

		@Bean
		InheritedJob inherited() {
			return new InheritedJob();
		}

		@Bean
		Job<DelayedTask<String>> lambda() {
			return () -> DelayedTask.completed("lambda");
		}

	}

	private static final class RestartClassLoader extends OverridingClassLoader {

		RestartClassLoader() {
			super(AnnotatedBeansTests.class.getClassLoader());
		}

		@Override
		protected boolean isEligibleForOverriding(String className) {
			return className.equals(Restarted.class.getName());
		}

	}

	public static class Restarted {

		@Delayed(delay = "1h", key = "#id")
		public void close(long id) {
		}

		@CancelDelayed(name = "restarted.close", key = "#id")
		public void pay(long id) {
		}

	}

}
