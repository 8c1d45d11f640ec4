package io.timingwheel.spring.aop;

import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ProxyType;
import org.springframework.context.annotation.Proxyable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The check of proxies follows {@link Proxyable}, as Spring itself does.
 */
class ProxyableTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(AutoConfigurations
		.of(AopAutoConfiguration.class, TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class));

	private final ApplicationContextRunner interfaceRunner = this.runner
		.withPropertyValues("spring.aop.proxy-target-class=false");

	@Test
	void aFinalClassWorksBehindItsInterfaces() {
		this.runner.withUserConfiguration(FinalOrders.class)
			.run((context) -> assertWorks(context.getBean(Orders.class), context.getBean(DelayedTaskOperations.class),
					"proxyableTests.FinalOrders.close"));
	}

	@Test
	void aFinalClassOfABeanMethodThatDeclaresItsInterfaceWorks() {
		this.runner.withUserConfiguration(HiddenOrders.class)
			.run((context) -> assertWorks(context.getBean(Orders.class), context.getBean(DelayedTaskOperations.class),
					"orders.close"));
	}

	private static void assertWorks(Orders orders, DelayedTaskOperations tasks, String name) throws Exception {
		assertThat(AopUtils.isJdkDynamicProxy(orders)).isTrue();
		orders.close(5);
		assertThat(tasks.find(TaskId.of(name, 5))).isPresent();
		orders.pay(5);
		assertThat(tasks.find(TaskId.of(name, 5))).isEmpty();
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(orders::quote);
	}

	@ParameterizedTest
	@MethodSource
	void aMethodOutsideOfTheInterfacesStopsTheStart(Class<?> bean, String annotation) {
		this.runner.withUserConfiguration(bean)
			.run((context) -> assertThat(context).getFailure()
				.isExactlyInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining(bean.getName() + "#outside(")
				.hasMessageContaining(annotation + " is on a method that is in no interface of the proxy")
				.hasMessageContaining("@Proxyable"));
	}

	static Stream<Arguments> aMethodOutsideOfTheInterfacesStopsTheStart() {
		return Stream.of(Arguments.of(DelayedOutside.class, "@Delayed"),
				Arguments.of(CancelOutside.class, "@CancelDelayed"), Arguments.of(TimeoutOutside.class, "@Timeout"),
				Arguments.of(OutsideOfTheNamedInterface.class, "@Delayed"));
	}

	@Test
	void aMethodOfAnInheritedInterfaceIsInTheNamedInterface() {
		this.runner.withUserConfiguration(NamedSubInterface.class).run((context) -> {
			assertThat(context).hasNotFailed();
			context.getBean(SubOrders.class).close(5);
			assertThat(context.getBean(DelayedTaskOperations.class).pendingCount()).isOne();
		});
	}

	@Test
	void aClassWithoutAnInterfaceGetsAClassProxyAnyway() {
		this.runner.withUserConfiguration(NoInterface.class).run((context) -> {
			context.getBean(NoInterface.class).close(5);
			assertThat(context.getBean(DelayedTaskOperations.class).pendingCount()).isOne();
		});
		this.runner.withUserConfiguration(FinalWithoutInterface.class)
			.run((context) -> assertThat(context).getFailure()
				.isExactlyInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("the final class"));
	}

	@Test
	void aClassProxyIsForcedForOneBean() {
		this.interfaceRunner.withUserConfiguration(ClassProxied.class).run((context) -> {
			context.getBean(ClassProxied.class).outside(5);
			assertThat(context.getBean(DelayedTaskOperations.class).pendingCount()).isOne();
		});
		this.interfaceRunner.withUserConfiguration(FinalClassProxied.class)
			.run((context) -> assertThat(context).getFailure()
				.isExactlyInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("the final class"));
	}

	interface Orders {

		void close(long id);

		void pay(long id);

		void quote() throws Exception;

	}

	@Proxyable(ProxyType.INTERFACES)
	static final class FinalOrders implements Orders {

		@Override
		@Delayed(delay = "1h", key = "#id")
		public void close(long id) {
		}

		@Override
		@CancelDelayed(name = "proxyableTests.FinalOrders.close", key = "#id")
		public void pay(long id) {
		}

		@Override
		@Timeout("10ms")
		public void quote() throws Exception {
			TimeUnit.MINUTES.sleep(1);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class HiddenOrders {

		@Bean
		@Proxyable(ProxyType.INTERFACES)
		Orders orders() {
			return new FinalHiddenOrders();
		}

	}

	static final class FinalHiddenOrders implements Orders {

		@Override
		@Delayed(delay = "1h", key = "#id")
		public void close(long id) {
		}

		@Override
		@CancelDelayed(name = "orders.close", key = "#id")
		public void pay(long id) {
		}

		@Override
		@Timeout("10ms")
		public void quote() throws Exception {
			TimeUnit.MINUTES.sleep(1);
		}

	}

	interface Plain {

		void inside();

	}

	@Proxyable(ProxyType.INTERFACES)
	static class DelayedOutside implements Plain {

		@Override
		public void inside() {
		}

		@Delayed("1h")
		public void outside() {
		}

	}

	@Proxyable(ProxyType.INTERFACES)
	static class CancelOutside implements Plain {

		@Override
		@Delayed(delay = "1h", name = "inside")
		public void inside() {
		}

		@CancelDelayed(name = "inside", key = "#id")
		public void outside(long id) {
		}

	}

	@Proxyable(ProxyType.INTERFACES)
	static class TimeoutOutside implements Plain {

		@Override
		public void inside() {
		}

		@Timeout("1h")
		public void outside() {
		}

	}

	interface Other {

		void outside();

	}

	@Proxyable(interfaces = Plain.class)
	static class OutsideOfTheNamedInterface implements Plain, Other {

		@Override
		public void inside() {
		}

		@Override
		@Delayed("1h")
		public void outside() {
		}

	}

	interface BaseOrders {

		void close(long id);

	}

	interface SubOrders extends BaseOrders {

	}

	@Proxyable(interfaces = SubOrders.class)
	static final class NamedSubInterface implements SubOrders, Plain {

		@Override
		@Delayed("1h")
		public void close(long id) {
		}

		@Override
		public void inside() {
		}

	}

	@Proxyable(ProxyType.INTERFACES)
	static class NoInterface {

		@Delayed("1h")
		public void close(long id) {
		}

	}

	@Proxyable(ProxyType.INTERFACES)
	static final class FinalWithoutInterface {

		@Delayed("1h")
		public void close(long id) {
		}

	}

	@Proxyable(ProxyType.TARGET_CLASS)
	static class ClassProxied implements Plain {

		@Override
		public void inside() {
		}

		@Delayed("1h")
		public void outside(long id) {
		}

	}

	@Proxyable(ProxyType.TARGET_CLASS)
	static final class FinalClassProxied implements Plain {

		@Override
		@Delayed("1h")
		public void inside() {
		}

	}

}
