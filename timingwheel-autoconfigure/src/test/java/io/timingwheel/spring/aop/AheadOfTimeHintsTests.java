package io.timingwheel.spring.aop;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint;
import io.timingwheel.spring.actuate.ForecastDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors;
import io.timingwheel.spring.actuate.internal.DeadGroups;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.actuate.TimingWheelEndpoint;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Timeout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.TypeReference;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The hints that native images get for annotated methods.
 */
class AheadOfTimeHintsTests {

	static Stream<Arguments> methodsCanBeInvoked() {
		return Stream.of(
				Arguments.of(OrderService.class, OrderService.class, List.of("close", "pay", "quote", "composed")),
				Arguments.of(SilentImplementation.class, Silent.class, List.of("markOffline")),
				Arguments.of(SilentImplementation.class, SilentImplementation.class, List.of("markOffline")),
				Arguments.of(InheritedImplementation.class, Unrelated.class, List.of("markOffline")),
				Arguments.of(LimitedClass.class, LimitedClass.class, List.of("run", "instead")),
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
		RuntimeHints hints = AotContexts.of(component, Rates.class)
			.withProperties("spring.aop.proxy-target-class=false")
			.process();
		for (String method : methods) {
			assertThat(hints).as(method).matches(invocation(type, method));
		}
		assertThat(hints).matches(invocation(OrderService.class, "unrelated").negate());
	}

	@Test
	void anExpressionThatIsOneArgumentRegistersNoHint() {
		assertThat(AotContexts.of(WholeArgument.class).process())
			.matches(RuntimeHintsPredicates.reflection().onType(Order.class).negate());
	}

	@Test
	void endpointsCanWriteTheirDescriptors() {
		RuntimeHints hints = AotContexts.of().withProperties("management.endpoints.web.exposure.include=*").process();
		for (Class<?> descriptor : List.of(TaskDescriptors.TasksDescriptor.class,
				TaskDescriptors.CountsDescriptor.class, TaskDescriptors.NameDescriptor.class,
				TaskDescriptors.TaskDescriptor.class, TaskDescriptors.DeadDescriptor.class, DeadGroups.Group.class,
				TaskDescriptors.StepDescriptor.class, TaskDescriptors.ErrorDescriptor.class, ForecastDescriptor.class,
				StoredTasks.Due.class, TimingWheelEndpoint.WheelDescriptor.class, WheelSnapshot.Level.class)) {
			for (var component : descriptor.getRecordComponents()) {
				assertThat(hints).as(component.toString())
					.matches(RuntimeHintsPredicates.reflection().onMethodInvocation(component.getAccessor()));
			}
		}
		assertThat(hints).matches(invocation(TimingWheelEndpoint.class, "wheel"));
		for (String operation : List.of("tasks", "tasksOfName", "task", "cancel", "changeTask", "changeName")) {
			assertThat(hints).as(operation).matches(invocation(DelayedTasksEndpoint.class, operation));
		}
	}

	@Test
	void storedArgumentsCanBeWrittenAndRead() {
		RuntimeHints hints = AotContexts.of(StoresOrders.class).process();
		for (Class<?> type : List.of(Order.class, Customer.class)) {
			assertThat(hints).as(type.getName())
				.matches(RuntimeHintsPredicates.reflection()
					.onType(type)
					.withMemberCategory(MemberCategory.INVOKE_DECLARED_CONSTRUCTORS));
		}
		assertThat(hints).matches(invocation(Customer.class, "getId"));
		assertThat(AotContexts.of(KeepsOrders.class).process())
			.matches(RuntimeHintsPredicates.reflection().onType(Customer.class).negate());
	}

	@Test
	void optionalLibrariesCanBeLookedUpByName() {
		RuntimeHints hints = AotContexts.of().process();
		for (String type : List.of("reactor.core.publisher.Flux", "reactor.core.publisher.Mono",
				"org.springframework.transaction.support.TransactionSynchronizationManager",
				"org.springframework.transaction.reactive.TransactionSynchronizationManager",
				"org.springframework.web.context.request.async.DeferredResult", "kotlinx.coroutines.reactor.MonoKt")) {
			assertThat(hints).as(type).matches(RuntimeHintsPredicates.reflection().onType(TypeReference.of(type)));
		}
	}

	private static Predicate<RuntimeHints> invocation(Class<?> type, String method) {
		return RuntimeHintsPredicates.reflection().onMethodInvocation(type, method);
	}

	interface Orders {

		void close(long orderId);

		void pay(long orderId);

		String quote();

		void composed();

	}

	static class OrderService implements Orders {

		@Override
		@Delayed(delay = "30m", name = "close-order", key = "#orderId")
		public void close(long orderId) {
		}

		@Override
		@CancelDelayed(name = "close-order", key = "#orderId")
		public void pay(long orderId) {
		}

		@Override
		@Timeout("800ms")
		public String quote() {
			return "";
		}

		@Override
		@Briefly
		public void composed() {
		}

		public void unrelated() {
		}

	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@Timeout("50ms")
	@interface Briefly {

	}

	interface Silent {

		@Delayed(delay = "10m", key = "#driverId")
		void markOffline(String driverId);

	}

	static class SilentImplementation implements Silent {

		@Override
		public void markOffline(String id) {
		}

	}

	static class Unrelated {

		public void markOffline(String driverId) {
		}

	}

	static class InheritedImplementation extends Unrelated implements Silent {

	}

	record Order(long id, Duration ttl, Customer customer) {

	}

	@Timeout(timeout = "1s", fallback = "instead")
	static class LimitedClass implements Runnable {

		@Override
		public void run() {
		}

		private void instead() {
		}

	}

	static class Customer {

		private final String id;

		Customer(String id) {
			this.id = id;
		}

		public String getId() {
			return this.id;
		}

	}

	record ByDelay(Duration ttl) {

	}

	record ByLimit(Duration ttl) {

	}

	record ByCancel(Duration ttl) {

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

		@Delayed(delayExpression = "@'aheadOfTimeHintsTests.Rates'.window(#orderId)")
		public void bean(long orderId) {
		}

		@Delayed(delayExpression = "T(java.time.Duration).ofMinutes(#minutes)")
		public void type(long minutes) {
		}

	}

	static class WholeArgument {

		@Delayed(delay = "1h", key = "#order")
		public void run(Order order) {
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

		@Delayed("1h")
		public void run(List<Order> orders) {
		}

	}

	static class Rates {

		public Duration window(long orderId) {
			return Duration.ofMinutes(orderId);
		}

	}

}
