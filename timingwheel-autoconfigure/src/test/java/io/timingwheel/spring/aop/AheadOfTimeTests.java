package io.timingwheel.spring.aop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint;
import io.timingwheel.spring.actuate.TimingWheelEndpoint;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.actuate.internal.TaskDescriptors;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.delayed.DelayedContexts;
import io.timingwheel.spring.autoconfigure.TimingWheelActuatorAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.aop.support.AopUtils;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.TypeReference;
import org.springframework.aot.hint.predicate.ReflectionHintsPredicates;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.javapoet.ClassName;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertAll;

/**
 * Applications that are processed ahead of time: their hints for native images, and their
 * start from generated code.
 */
class AheadOfTimeTests {

	private static final String INTERFACES = "spring.aop.proxy-target-class=false";

	private static final ReflectionHintsPredicates REFLECTION = RuntimeHintsPredicates.reflection();

	private static final AtomicInteger starts = new AtomicInteger();

	static Stream<Arguments> methodsCanBeInvoked() {
		return Stream.of(
				Arguments.of(OrderService.class, OrderService.class, List.of("close", "pay", "quote", "instead")),
				Arguments.of(OrderService.class, Orders.class, List.of("close", "pay", "quote")),
				Arguments.of(Inheriting.class, Unrelated.class, List.of("close")),
				Arguments.of(Expressions.class, Order.class, List.of("customer")),
				Arguments.of(Expressions.class, Customer.class, List.of("getId")),
				Arguments.of(Expressions.class, ByDelay.class, List.of("ttl")),
				Arguments.of(Expressions.class, ByLimit.class, List.of("ttl")),
				Arguments.of(Expressions.class, ByCancel.class, List.of("ttl")),
				Arguments.of(Expressions.class, Rates.class, List.of("window")),
				Arguments.of(Expressions.class, Duration.class, List.of("ofMinutes")));
	}

	/**
	 * With class-based proxies Spring registers all methods of the class.
	 */
	@ParameterizedTest
	@MethodSource
	void methodsCanBeInvoked(Class<?> component, Class<?> type, List<String> methods) {
		RuntimeHints hints = process(INTERFACES, component, Rates.class);
		assertThat(methods).allSatisfy((method) -> assertThat(hints).matches(invocation(type, method)));
		assertThat(hints).matches(invocation(OrderService.class, "unrelated").negate());
	}

	@Test
	void endpointsCanWriteTheirDescriptorsAndOptionalLibrariesCanBeLookedUp() {
		RuntimeHints hints = process("management.endpoints.web.exposure.include=*");
		for (Class<?> descriptor : List.of(TaskDescriptors.TasksDescriptor.class,
				TaskDescriptors.CountsDescriptor.class, TaskDescriptors.NameDescriptor.class,
				TaskDescriptors.TaskDescriptor.class, TaskDescriptors.ResultDescriptor.class,
				TaskDescriptors.DeadDescriptor.class, TaskDescriptors.DeadDescriptor.Group.class,
				TaskDescriptors.StepDescriptor.class, TaskDescriptors.ErrorDescriptor.class,
				TaskDescriptors.ForecastDescriptor.class, StoredTasks.Due.class,
				TimingWheelEndpoint.WheelDescriptor.class, WheelSnapshot.Level.class)) {
			assertThat(descriptor.getRecordComponents()).allSatisfy(
					(component) -> assertThat(hints).matches(REFLECTION.onMethodInvocation(component.getAccessor())));
		}
		assertThat(hints).matches(invocation(TimingWheelEndpoint.class, "wheel"));
		assertThat(List.of("tasks", "tasksOfName", "task", "cancel", "changeTask", "changeName"))
			.allSatisfy((operation) -> assertThat(hints).matches(invocation(DelayedTasksEndpoint.class, operation)));
		assertThat(List.of("reactor.core.publisher.Flux", "reactor.core.publisher.Mono",
				"org.springframework.transaction.support.TransactionSynchronizationManager",
				"org.springframework.transaction.reactive.TransactionSynchronizationManager",
				"kotlinx.coroutines.reactor.MonoKt"))
			.allSatisfy((type) -> assertThat(hints).matches(REFLECTION.onType(TypeReference.of(type))));
	}

	@Test
	void onlyArgumentsThatAreStoredOrTakenApartHaveHints() {
		RuntimeHints hints = process("", StoresOrders.class);
		assertThat(List.of(Order.class, Customer.class)).allSatisfy((type) -> assertThat(hints)
			.matches(REFLECTION.onType(type).withMemberCategory(MemberCategory.INVOKE_DECLARED_CONSTRUCTORS)));
		assertThat(hints).matches(invocation(Customer.class, "getId"));
		assertThat(process("", KeepsOrders.class)).matches(REFLECTION.onType(Customer.class).negate())
			.matches(REFLECTION.onType(Order.class).negate());
	}

	private static Predicate<RuntimeHints> invocation(Class<?> type, String method) {
		return REFLECTION.onMethodInvocation(type, method);
	}

	/**
	 * One test method, since each one has a class loader of its own, which takes seconds
	 * to load Spring.
	 */
	@Test
	@CompileWithForkedClassLoader
	void contextsFromGeneratedCodeBehaveAsOthers() {
		start("the.delay=10s,the.name=from-property,the.limit=20ms", (context) -> {
			context.refresh();
			assertAll(() -> annotationsWorkWithInterfaceBasedProxies(context),
					() -> annotationsWorkBehindABeanMethodThatDeclaresAnInterface(context),
					() -> attributesAreResolvedByThePropertiesAtStart(context));
		}, OrderService.class, HiddenBehindInterface.class, Configured.class);
		start("",
				(context) -> assertThatExceptionOfType(InvalidAnnotatedMethodException.class)
					.isThrownBy(context::refresh)
					.withMessageContaining("PrivateMethod#run()")
					.withMessageContaining("private method"),
				PrivateMethod.class);
	}

	private static void annotationsWorkWithInterfaceBasedProxies(ApplicationContext context) {
		Orders orders = context.getBean(Orders.class);
		assertThat(AopUtils.isJdkDynamicProxy(orders)).isTrue();
		orders.close(1);
		orders.close(2);
		orders.pay(2);
		context.getBean(ManualTimeSource.class).advance(Duration.ofMinutes(31));
		await().untilAsserted(() -> assertThat(orders.closed()).containsExactly(1L));
		assertThat(pending(context)).isZero();
		assertThat(orders.quote(Duration.ofMillis(799))).isEqualTo("in time");
		assertThat(orders.quote(Duration.ofMillis(800))).isEqualTo("instead");
		assertThat(Thread.interrupted()).isFalse();
	}

	private static void annotationsWorkBehindABeanMethodThatDeclaresAnInterface(ApplicationContext context) {
		context.getBean("reminder", Runnable.class).run();
		assertThat(pending(context)).isOne();
	}

	private static void attributesAreResolvedByThePropertiesAtStart(ApplicationContext context) {
		Configured configured = context.getBean(Configured.class);
		configured.run("1");
		assertThat(context.getBean(DelayedTaskRegistry.class).memoryTasks().page("from-property", null, 10)).hasSize(1);
		configured.cancel("1");
		assertThat(context.getBean(DelayedTaskRegistry.class).memoryTasks().page("from-property", null, 10)).isEmpty();
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(configured::slow);
	}

	private static long pending(ApplicationContext context) {
		return context.getBean(DelayedTaskRegistry.class).pendingCount();
	}

	private static RuntimeHints process(String property, Class<?>... components) {
		TestGenerationContext generation = new TestGenerationContext();
		process(generation, property, components);
		return generation.getRuntimeHints();
	}

	private static ClassName process(TestGenerationContext generation, String property, Class<?>... components) {
		System.setProperty(AbstractAotProcessor.AOT_PROCESSING, "true");
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			TestPropertyValues.of(property).applyTo(context);
			context.register(Application.class);
			for (Class<?> component : components) {
				context.register(component);
			}
			return new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
		}
		finally {
			System.clearProperty(AbstractAotProcessor.AOT_PROCESSING);
		}
	}

	/**
	 * Creates a context from the generated code.
	 * @param propertiesAtStart are unknown during the processing
	 */
	private static void start(String propertiesAtStart, Consumer<GenericApplicationContext> test,
			Class<?>... components) {
		// A class loader takes the classes of several contexts if their names differ.
		TestGenerationContext generation = new TestGenerationContext(
				new ClassNameGenerator(TestGenerationContext.TEST_TARGET, "Start" + starts.incrementAndGet()));
		ClassName initializer = process(generation, INTERFACES, components);
		generation.writeGeneratedContent();
		TestCompiler.forSystem().with(generation).compile((compiled) -> {
			try (GenericApplicationContext context = new GenericApplicationContext()) {
				TestPropertyValues.of(INTERFACES).and(propertiesAtStart.split(",")).applyTo(context);
				@SuppressWarnings("unchecked")
				ApplicationContextInitializer<GenericApplicationContext> generated = compiled
					.getInstance(ApplicationContextInitializer.class, initializer.canonicalName());
				generated.initialize(context);
				test.accept(context);
			}
		});
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ PropertyPlaceholderAutoConfiguration.class, AopAutoConfiguration.class,
			TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class,
			TimingWheelActuatorAutoConfiguration.class })
	@Import(DelayedContexts.VirtualTime.class)
	static class Application {

	}

	public interface Orders {

		@Delayed(delay = "30m", name = "close-order", key = "#orderId")
		void close(long orderId);

		@CancelDelayed(name = "close-order", key = "#orderId")
		void pay(long orderId);

		@Timeout(timeout = "800ms", fallback = "instead")
		String quote(Duration work);

		List<Long> closed();

	}

	static class OrderService implements Orders {

		private final List<Long> closed = new ArrayList<>();

		private final ManualTimeSource time;

		OrderService(ManualTimeSource time) {
			this.time = time;
		}

		@Override
		public void close(long id) {
			this.closed.add(id);
		}

		@Override
		public void pay(long id) {
		}

		@Override
		public String quote(Duration work) {
			this.time.advance(work);
			return "in time";
		}

		private String instead(Duration work) {
			return "instead";
		}

		@Override
		public List<Long> closed() {
			return this.closed;
		}

		public void unrelated() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class HiddenBehindInterface {

		@Bean
		Runnable reminder() {
			return new Reminder();
		}

	}

	static class Reminder implements Runnable {

		@Override
		@Delayed("1h")
		public void run() {
		}

	}

	static class Configured {

		private final ManualTimeSource time;

		Configured(ManualTimeSource time) {
			this.time = time;
		}

		@Delayed(delay = "${the.delay}", name = "${the.name}", key = "#id")
		public void run(String id) {
		}

		@CancelDelayed(name = "${the.name}", key = "#id")
		public void cancel(String id) {
		}

		@Timeout("${the.limit}")
		public void slow() {
			this.time.advance(Duration.ofSeconds(1));
		}

	}

	static class PrivateMethod {

		@Delayed("1s")
		private void run() {
		}

	}

	@Delayed("10m")
	@Retention(RetentionPolicy.RUNTIME)
	@interface Later {

	}

	interface Closing {

		@Later
		void close(long id);

	}

	static class Unrelated {

		public void close(long id) {
		}

	}

	static class Inheriting extends Unrelated implements Closing {

	}

	record Order(long id, Duration ttl, Customer customer) {

	}

	static class Customer {

		public String getId() {
			return "5";
		}

	}

	record ByDelay(Duration ttl) {

	}

	record ByLimit(Duration ttl) {

	}

	record ByCancel(Duration ttl) {

	}

	static class Rates {

		public Duration window(long orderId) {
			return Duration.ofMinutes(orderId);
		}

	}

	static class Expressions {

		@Delayed(delay = "1h", name = "by-key", key = "#order.customer().id + #order.id")
		public void key(Order order) {
		}

		@Delayed(delayExpression = "#order.ttl")
		public void delay(ByDelay order) {
		}

		@Timeout(timeoutExpression = "#order.ttl")
		public void limit(ByLimit order) {
		}

		@CancelDelayed(name = "by-key", key = "#order.ttl")
		public void cancel(ByCancel order) {
		}

		@Delayed(delayExpression = "@'aheadOfTimeTests.Rates'.window(#orderId)")
		public void bean(long orderId) {
		}

		@Delayed(delayExpression = "T(java.time.Duration).ofMinutes(#minutes)")
		public void type(long minutes) {
		}

	}

	abstract static class Stores<T> {

		@Delayed(delay = "1h", durable = true)
		public void run(List<T> values) {
		}

	}

	static class StoresOrders extends Stores<Order> {

	}

	static class KeepsOrders {

		@Delayed(delay = "1h", key = "#order")
		public void run(Order order, List<Customer> customers) {
		}

	}

}
