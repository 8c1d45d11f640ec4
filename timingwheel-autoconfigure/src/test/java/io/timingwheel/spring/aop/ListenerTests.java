package io.timingwheel.spring.aop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;

import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Post-processors that call methods of beans themselves call them with all advice,
 * whether the application or an auto-configuration declares them.
 */
class ListenerTests {

	@RegisterExtension
	static final VirtualApplication app = VirtualApplication.of(ListenerPostProcessor.class, Orders.class,
			DelayedOnly.class, CancelOnly.class);

	@Test
	void aMessageListenerHasTheAdvice(ListenerPostProcessor listeners) {
		listeners.send("close", 1L);
		assertThat(app.tasks().find(TaskId.of("close", 1))).isPresent();
		listeners.send("pay", 1L);
		assertThat(app.tasks().find(TaskId.of("close", 1))).isEmpty();
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> listeners.send("quote", 1L));
		listeners.send("closeOnly", 3L);
		assertThat(app.tasks().find(TaskId.of("close-only", 3))).isPresent();
		listeners.send("payOnly", 3L);
		assertThat(app.pending()).isZero();
		assertThat(app.calls()).containsExactly("pay");
	}

	@Test
	void theOrderOfTheAdviceStays() {
		try (VirtualApplication application = VirtualApplication.of(ListenerPostProcessor.class, Orders.class,
				Resilience.class)) {
			ListenerPostProcessor listeners = application.bean(ListenerPostProcessor.class);
			application.bean(Orders.class).close(1);
			assertThatIllegalStateException().isThrownBy(() -> listeners.send("payInVain", 1L));
			assertThat(app.calls()).containsExactly("in vain", "in vain");
			listeners.send("closeRetried", 5L);
			assertThat(application.pending()).isEqualTo(2);
		}
	}

	static class Orders {

		@Listener
		@Delayed(delay = "30m", name = "close", key = "#id")
		public void close(long id) {
		}

		@Listener
		@CancelDelayed(name = "close", key = "#id")
		public void pay(long id) {
			app.calls().add("pay");
		}

		@Listener
		@Timeout("10ms")
		public void quote(long id) {
			app.advanceSeconds(1);
		}

		@Listener
		@CancelDelayed(name = "close", key = "#id")
		@Retryable(maxRetries = 1, delay = 1)
		public void payInVain(long id) {
			app.calls().add("in vain");
			throw new IllegalStateException();
		}

		@Listener
		@Delayed(delay = "30m", name = "close-retried", key = "#id")
		@Retryable(maxRetries = 1, delay = 1)
		public void closeRetried(long id) {
		}

	}

	static class DelayedOnly {

		@Listener
		@Delayed(delay = "30m", name = "close-only", key = "#id")
		public void closeOnly(long id) {
		}

	}

	static class CancelOnly {

		@Listener
		@CancelDelayed(name = "close-only", key = "#id")
		public void payOnly(long id) {
		}

	}

	@EnableResilientMethods
	@Configuration(proxyBeanMethods = false)
	static class Resilience {

	}

	@Retention(RetentionPolicy.RUNTIME)
	@interface Listener {

	}

	/**
	 * Keeps the bean that it gets, and is registered first, as those of
	 * {@code @KafkaListener}, {@code @JmsListener} and {@code @RabbitListener}.
	 */
	static class ListenerPostProcessor implements BeanPostProcessor, Ordered {

		private final Map<String, Object> beans = new HashMap<>();

		private final Map<String, Method> methods = new HashMap<>();

		@Override
		public int getOrder() {
			return LOWEST_PRECEDENCE;
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			ReflectionUtils.doWithMethods(AopProxyUtils.ultimateTargetClass(bean), (method) -> {
				this.beans.put(method.getName(), bean);
				this.methods.put(method.getName(), AopUtils.selectInvocableMethod(method, bean.getClass()));
			}, (method) -> method.isAnnotationPresent(Listener.class));
			return bean;
		}

		void send(String name, long id) {
			Method method = this.methods.get(name);
			ReflectionUtils.makeAccessible(method);
			ReflectionUtils.invokeMethod(method, this.beans.get(name), id);
		}

	}

}
