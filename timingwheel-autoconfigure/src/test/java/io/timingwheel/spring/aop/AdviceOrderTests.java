package io.timingwheel.spring.aop;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Several annotations on one method: which advice is outside of which, and what follows.
 * Bodies run on executors, and advance the time by their own duration.
 */
class AdviceOrderTests {

	private static final CompletableFuture<String> source = new CompletableFuture<>();

	@RegisterExtension
	static final VirtualApplication app = VirtualApplication.of(Service.class, Advice.class, Database.class)
		.withExecutors();

	@AfterEach
	void noInterruptIsLeft() {
		assertThat(Thread.interrupted()).isFalse();
	}

	@ParameterizedTest
	@CsvSource({ "other=any, Timeout Cache Transaction CancelDelayed",
			"order=" + Ordered.LOWEST_PRECEDENCE + ", Cache Transaction CancelDelayed Timeout" })
	void delaysAreOutsideOfAllAdviceAndAPropertySaysWhereLimitsAre(String property, String inner) {
		try (VirtualApplication application = VirtualApplication.of(Service.class, Advice.class, Database.class)
			.with("timingwheel.timeout." + property)) {
			Advised proxy = (Advised) application.bean(Service.class);
			assertThat(Arrays.stream(proxy.getAdvisors())
				.map((advisor) -> advisor.getAdvice().getClass().getSimpleName())
				.map((name) -> name.replaceFirst("(Annotation)?Interceptor|BeanPostProcessor\\$.*", ""))
				.filter((name) -> !name.contains("$")))
				.containsExactly(("Delayed ConcurrencyLimit Retry " + inner + " Timeout").split(" "));
		}
	}

	@Test
	void theLimitAppliesToTheBodyAndNotToTheDelay(Service service) {
		CompletableFuture<String> inTime = service.delayed(Duration.ofMillis(99));
		app.advanceSeconds(10);
		assertThat(inTime).succeedsWithin(60, TimeUnit.SECONDS).isEqualTo("in time");
		CompletableFuture<String> tooLong = service.delayed(Duration.ofMillis(100));
		app.advanceSeconds(10);
		assertTimesOut(tooLong);
	}

	@Test
	void theFutureOfADelayedBodyIsLimited(Service service) {
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
	void aCallThatTimesOutCancelsNothing(Service service) {
		service.other(1);
		assertThatExceptionOfType(MethodTimeoutException.class)
			.isThrownBy(() -> service.limitedCancel(1, Duration.ofMillis(100)));
		CompletableFuture<String> result = service.limitedCancelOfFuture(1);
		app.advance(Duration.ofMillis(100));
		assertTimesOut(result);
		assertThat(app.counts("other").pending()).isOne();
		service.limitedCancel(1, Duration.ofMillis(99));
		assertThat(app.counts("other").pending()).isZero();
	}

	@Test
	void theBodyHasTheAdviceOfTheUsersOwnAutoProxyCreator() {
		try (VirtualApplication application = VirtualApplication.of(Plain.class, OwnAdvice.class)) {
			application.bean(Plain.class).plain();
			assertThat(app.calls()).isEmpty();
			application.advanceSeconds(10);
			assertThat(app.calls()).containsExactly("advice", "plain");
		}
	}

	private static void assertTimesOut(Future<?> result) {
		assertThat(result).failsWithin(60, TimeUnit.SECONDS)
			.withThrowableThat()
			.havingRootCause()
			.isInstanceOf(TimeoutException.class);
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

		@Delayed(delay = "1h", name = "other", key = "#id")
		public void other(long id) {
		}

		@Delayed("10s")
		@CancelDelayed(name = "other", key = "#id")
		public void delayedCancel(long id) {
		}

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

	}

	static class Plain {

		@Delayed("10s")
		public void plain() {
			app.calls().add("plain");
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

	@Configuration(proxyBeanMethods = false)
	static class OwnAdvice {

		@Bean
		static DefaultAdvisorAutoProxyCreator ownAutoProxyCreator() {
			DefaultAdvisorAutoProxyCreator creator = new DefaultAdvisorAutoProxyCreator();
			creator.setProxyTargetClass(true);
			creator.setUsePrefix(true);
			creator.setAdvisorBeanNamePrefix("own");
			return creator;
		}

		@Bean
		static DefaultPointcutAdvisor ownAdvisor() {
			NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
			pointcut.setMappedName("plain");
			return new DefaultPointcutAdvisor(pointcut, (MethodInterceptor) (invocation) -> {
				app.calls().add("advice");
				return invocation.proceed();
			});
		}

	}

}
