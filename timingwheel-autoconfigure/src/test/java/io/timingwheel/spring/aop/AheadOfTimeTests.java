package io.timingwheel.spring.aop;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.junit.jupiter.api.Test;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertAll;

/**
 * The annotations in contexts that start from code that was generated ahead of time.
 */
@CompileWithForkedClassLoader
class AheadOfTimeTests {

	/**
	 * One test method, since each test method has a class loader of its own, which takes
	 * seconds to load Spring.
	 */
	@Test
	void contextsFromGeneratedCodeBehaveAsOthers() {
		assertAll(AheadOfTimeTests::annotationsWorkWithInterfaceBasedProxies,
				AheadOfTimeTests::annotationsWorkBehindABeanMethodThatDeclaresAnInterface,
				AheadOfTimeTests::attributesAreResolvedByThePropertiesAtStart,
				AheadOfTimeTests::anInvalidAnnotationFailsTheStart);
	}

	private static void annotationsWorkWithInterfaceBasedProxies() {
		AotContexts.of(OrderService.class).withProperties("spring.aop.proxy-target-class=false").run((context) -> {
			assertThat(AopUtils.isJdkDynamicProxy(context.getBean(Orders.class))).isTrue();
			assertWorks(context);
		});
	}

	private static void annotationsWorkBehindABeanMethodThatDeclaresAnInterface() {
		AotContexts.of(HiddenBehindInterface.class).run((context) -> {
			context.getBean(Reminders.class).remind("1");
			assertThat(context.getBean(DelayedTaskRegistry.class).memoryTasks().page("reminders.remind", null, 10))
				.hasSize(1);
		});
	}

	private static void attributesAreResolvedByThePropertiesAtStart() {
		AotContexts.of(Configured.class).run((context) -> {
			Configured configured = context.getBean(Configured.class);
			configured.run("1");
			assertThat(context.getBean(DelayedTaskRegistry.class).memoryTasks().page("from-property", null, 10))
				.hasSize(1);
			configured.cancel("1");
			assertThat(context.getBean(DelayedTaskRegistry.class).pendingCount()).isZero();
			assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(configured::slow);
		}, "the.delay=10s", "the.name=from-property", "the.limit=20ms");
	}

	private static void anInvalidAnnotationFailsTheStart() {
		AotContexts.of(PrivateMethod.class)
			.start((context, refresh) -> assertThatExceptionOfType(InvalidAnnotatedMethodException.class)
				.isThrownBy(refresh::run)
				.withMessageContaining("PrivateMethod#run()")
				.withMessageContaining("private method"));
	}

	private static void assertWorks(BeanFactory context) {
		Orders orders = context.getBean(Orders.class);
		ManualTimeSource time = context.getBean(ManualTimeSource.class);
		orders.closeIfUnpaid(1);
		orders.closeIfUnpaid(2);
		orders.pay(2);
		time.advance(Duration.ofMinutes(31));
		await().untilAsserted(() -> assertThat(orders.closed()).containsExactly(1L));
		assertThat(context.getBean(DelayedTaskRegistry.class).pendingCount()).isZero();
		assertThat(orders.quote(Duration.ofMillis(799))).isEqualTo("in time");
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> orders.quote(Duration.ofMillis(800)));
		assertThat(Thread.interrupted()).isFalse();
	}

	public interface Orders {

		@Delayed(delay = "30m", name = "close-order", key = "#orderId")
		void closeIfUnpaid(long orderId);

		@CancelDelayed(name = "close-order", key = "#orderId")
		void pay(long orderId);

		@Timeout("800ms")
		String quote(Duration work);

		Set<Long> closed();

	}

	static class OrderService implements Orders {

		private final Set<Long> closed = ConcurrentHashMap.newKeySet();

		private final ManualTimeSource time;

		@Autowired
		OrderService(ManualTimeSource time) {
			this.time = time;
		}

		@Override
		public void closeIfUnpaid(long id) {
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

		@Override
		public Set<Long> closed() {
			return this.closed;
		}

	}

	interface Reminders {

		void remind(String id);

	}

	static class MailReminders implements Reminders {

		@Override
		@Delayed("1h")
		public void remind(String id) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class HiddenBehindInterface {

		@Bean
		Reminders reminders() {
			return new MailReminders();
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

}
