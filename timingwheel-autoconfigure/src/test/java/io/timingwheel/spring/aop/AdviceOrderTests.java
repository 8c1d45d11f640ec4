package io.timingwheel.spring.aop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Several annotations on one method: which advice is outside of which, what follows, and
 * that listeners have it. Bodies run on executors, and advance the time by their own
 * duration.
 */
class AdviceOrderTests {

	private static final CompletableFuture<String> source = new CompletableFuture<>();

	@RegisterExtension
	static final VirtualApplication app = VirtualApplication
		.of(Listeners.class, Service.class, CancelOnly.class, Advice.class, Database.class)
		.withExecutors();

	@AfterEach
	void noInterruptIsLeft() {
		assertThat(Thread.interrupted()).isFalse();
	}

	@ParameterizedTest
	@CsvSource({ "other=any, Timeout Cache CancelDelayed Transaction CancelDelayed",
			"order=" + Ordered.LOWEST_PRECEDENCE + ", Cache CancelDelayed Transaction CancelDelayed Timeout" })
	void delaysAreOutsideOfAllAdviceAndAPropertySaysWhereLimitsAre(String property, String inner) {
		try (VirtualApplication application = VirtualApplication.of(Service.class, Advice.class, Database.class)
			.with("timingwheel.timeout." + property)) {
			Advised proxy = (Advised) application.bean(Service.class);
			assertThat(Arrays.stream(proxy.getAdvisors())
				.map((advisor) -> advisor.getAdvice().toString())
				.map((name) -> name.replaceFirst("Advice of @|.*\\.(\\w+Configuration\\$)?", ""))
				.map((name) -> name
					.replaceFirst("(Annotation)?(Interceptor|BeanPostProcessor\\$|MethodRegistry\\$).*|@.*", ""))
				.filter((name) -> !name.contains("$")))
				.containsExactly(("Delayed ConcurrencyLimit Retry " + inner + " Timeout").split(" "));
		}
	}

	@Test
	void theLimitAppliesToTheBodyAndItsFutureAndNotToTheDelay(Service service) {
		CompletableFuture<String> inTime = service.delayed(Duration.ofMillis(99));
		app.advanceSeconds(10);
		assertThat(inTime).succeedsWithin(60, TimeUnit.SECONDS).isEqualTo("in time");
		CompletableFuture<String> tooLong = service.delayed(Duration.ofMillis(100));
		app.advanceSeconds(10);
		assertTimesOut(tooLong);
		CompletableFuture<String> result = service.delayedFuture();
		app.advanceSeconds(10);
		await().until(() -> !app.calls().isEmpty());
		app.advance(Duration.ofMillis(99));
		assertThat(result).isNotDone();
		app.advance(Duration.ofMillis(1));
		assertTimesOut(result);
		await().until(source::isCancelled);
	}

	@Test
	void aDelayedMethodCancelsOnceItsBodyHasRun(Service service) {
		service.other(1);
		service.delayedCancel(1);
		assertThat(app.counts("other").pending()).isOne();
		app.advanceSeconds(10);
		app.awaitIdle();
		assertThat(app.counts("other").pending()).isZero();
	}

	@Test
	void aCallThatTimesOutOrFailsInAllAttemptsCancelsNothing(Service service) {
		service.other(1);
		assertThatExceptionOfType(MethodTimeoutException.class)
			.isThrownBy(() -> service.limitedCancel(1, Duration.ofMillis(100)));
		CompletableFuture<String> result = service.limitedCancelOfFuture(1);
		app.advance(Duration.ofMillis(100));
		assertTimesOut(result);
		CompletableFuture<String> ofFallback = service.limitedCancelOfMono(1).toFuture();
		app.advance(Duration.ofMillis(100));
		assertThat(ofFallback).succeedsWithin(60, TimeUnit.SECONDS).isEqualTo("fallback");
		assertThatIllegalStateException().isThrownBy(() -> service.cancelInVain(1));
		assertThat(app.calls()).containsExactly("in vain", "in vain");
		assertThat(app.counts("other").pending()).isOne();
		service.limitedCancel(1, Duration.ofMillis(99));
		assertThat(app.counts("other").pending()).isZero();
	}

	@Test
	void aMessageListenerHasTheAdvice(Listeners listeners) {
		listeners.send("other", 1L);
		assertThat(app.counts("other").pending()).isOne();
		assertThatIllegalStateException().isThrownBy(() -> listeners.send("cancelInVain", 1L));
		assertThat(app.calls()).containsExactly("in vain", "in vain");
		listeners.send("delayedCancel", 1L);
		assertThat(app.pending()).isEqualTo(2);
		assertThatExceptionOfType(MethodTimeoutException.class)
			.isThrownBy(() -> listeners.send("limitedCancel", 1L, Duration.ofMillis(100)));
		listeners.send("limitedCancel", 1L, Duration.ZERO);
		assertThat(app.pending()).isOne();
		listeners.send("other", 1L);
		assertThat(app.pending()).isEqualTo(2);
		listeners.send("payOnly", 1L);
		assertThat(app.pending()).isOne();
	}

	private static void assertTimesOut(Future<?> result) {
		assertThat(result).failsWithin(60, TimeUnit.SECONDS)
			.withThrowableThat()
			.havingRootCause()
			.isInstanceOf(TimeoutException.class);
	}

	@Retention(RetentionPolicy.RUNTIME)
	@interface Listener {

	}

	/**
	 * Keeps the bean that it gets, and is registered first, as the post-processors of
	 * {@code @KafkaListener}, {@code @JmsListener} and {@code @RabbitListener} are.
	 */
	static class Listeners implements BeanPostProcessor, Ordered {

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

		void send(String name, Object... message) {
			Method method = this.methods.get(name);
			ReflectionUtils.makeAccessible(method);
			ReflectionUtils.invokeMethod(method, this.beans.get(name), message);
		}

	}

	static class Service {

		@Delayed("1h")
		@ConcurrencyLimit(1)
		@Retryable
		@Cacheable("results")
		@Timeout("1s")
		@Transactional
		@CancelDelayed(name = "other", key = "1")
		public CompletableFuture<String> everything() {
			return new CompletableFuture<>();
		}

		@Delayed("10s")
		@Timeout("100ms")
		public CompletableFuture<String> delayed(Duration duration) {
			app.advance(duration);
			return CompletableFuture.completedFuture("in time");
		}

		@Delayed("10s")
		@Timeout("100ms")
		public CompletableFuture<String> delayedFuture() {
			app.calls().add("begun");
			return source;
		}

		@Listener
		@Delayed(delay = "1h", name = "other", key = "#id")
		public void other(long id) {
		}

		@Listener
		@Delayed("10s")
		@Retryable
		@CancelDelayed(name = "other", key = "#id")
		public void delayedCancel(long id) {
		}

		@Listener
		@Timeout("100ms")
		@CancelDelayed(name = "other", key = "#id")
		public void limitedCancel(long id, Duration duration) {
			app.advance(duration);
		}

		@Timeout("100ms")
		@CancelDelayed(name = "other", key = "#id")
		public CompletableFuture<String> limitedCancelOfFuture(long id) {
			return new CompletableFuture<>();
		}

		@Timeout(timeout = "100ms", fallback = "fallback")
		@CancelDelayed(name = "other", key = "#id")
		public Mono<String> limitedCancelOfMono(long id) {
			return Mono.never();
		}

		Mono<String> fallback(long id) {
			return Mono.just("fallback");
		}

		@Listener
		@CancelDelayed(name = "other", key = "#id")
		@Retryable(maxRetries = 1, delay = 1)
		public void cancelInVain(long id) {
			app.calls().add("in vain");
			throw new IllegalStateException();
		}

	}

	/** Has no other proxy. */
	static class CancelOnly {

		@Listener
		@CancelDelayed(name = "other", key = "#id")
		public void payOnly(long id) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods
	@EnableCaching
	static class Advice {

		@Bean
		CacheManager cacheManager() {
			return new ConcurrentMapCacheManager();
		}

	}

}
