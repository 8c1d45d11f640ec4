package io.timingwheel.spring.aop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint;
import io.timingwheel.spring.actuate.TimingWheelEndpoint;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.actuate.internal.TaskDescriptors;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.autoconfigure.TimingWheelActuatorAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

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
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.context.aot.ApplicationContextAotGenerator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The hints for native images of applications that are processed ahead of time. The
 * sample application starts from its generated code.
 */
class AheadOfTimeTests {

	private static final String INTERFACES = "spring.aop.proxy-target-class=false";

	private static final ReflectionHintsPredicates REFLECTION = RuntimeHintsPredicates.reflection();

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

	/** With class-based proxies Spring registers all methods of the class. */
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

	private static RuntimeHints process(String property, Class<?>... components) {
		TestGenerationContext generation = new TestGenerationContext();
		System.setProperty(AbstractAotProcessor.AOT_PROCESSING, "true");
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			TestPropertyValues.of(property).applyTo(context);
			context.register(Application.class);
			for (Class<?> component : components) {
				context.register(component);
			}
			new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
		}
		finally {
			System.clearProperty(AbstractAotProcessor.AOT_PROCESSING);
		}
		return generation.getRuntimeHints();
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ PropertyPlaceholderAutoConfiguration.class, AopAutoConfiguration.class,
			TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class,
			TimingWheelActuatorAutoConfiguration.class })
	static class Application {

	}

	interface Orders {

		@Delayed(delay = "30m", name = "close-order", key = "#orderId")
		void close(long orderId);

		@CancelDelayed(name = "close-order", key = "#orderId")
		void pay(long orderId);

		@Timeout(timeout = "800ms", fallback = "instead")
		String quote(Duration work);

	}

	static class OrderService implements Orders {

		@Override
		public void close(long id) {
		}

		@Override
		public void pay(long id) {
		}

		@Override
		public String quote(Duration work) {
			return "in time";
		}

		private String instead(Duration work) {
			return "instead";
		}

		public void unrelated() {
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
