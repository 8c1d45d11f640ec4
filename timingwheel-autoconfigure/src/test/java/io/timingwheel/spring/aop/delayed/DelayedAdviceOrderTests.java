package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.spring.annotation.Delayed;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static io.timingwheel.spring.aop.delayed.DelayedContexts.advance;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.advanceAndAwait;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.counts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The advice of {@code @Delayed} is outside of all other advice. The other advice acts on
 * the body.
 */
class DelayedAdviceOrderTests {

	private static final List<String> calls = new CopyOnWriteArrayList<>();

	private static final AtomicInteger running = new AtomicInteger();

	private static final AtomicInteger mostRunning = new AtomicInteger();

	@BeforeEach
	void reset() {
		calls.clear();
		running.set(0);
		mostRunning.set(0);
	}

	@Test
	void theBodyIsRetried() {
		DelayedContexts.runner(Resilience.class).withBean("service", Service.class).run((context) -> {
			CompletableFuture<String> result = context.getBean(Service.class).retried();
			assertThat(calls).isEmpty();
			advance(context, Duration.ofSeconds(2));
			assertThat(result.get(60, TimeUnit.SECONDS)).isEqualTo("third time");
			assertThat(calls).containsExactly("attempt", "attempt", "attempt");
			assertThat(counts(context, "service.retried").completed()).isOne();
		});
	}

	@Test
	void theBodyHasATransactionOfItsOwnOnTheExecutorsThread() {
		DelayedContexts.runner(TransactionConfiguration.class).withBean("service", Service.class).run((context) -> {
			Service service = context.getBean(Service.class);
			new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
				.executeWithoutResult((status) -> {
					service.transactional();
					status.setRollbackOnly();
				});
			advanceAndAwait(context, Duration.ofSeconds(2));
			assertThat(calls).hasSize(1);
			assertThat(calls.get(0)).startsWith("task-").endsWith("active=true");
		});
	}

	@Test
	void theBodyIsCached() {
		DelayedContexts.runner(Caching.class).withBean("service", Service.class).run((context) -> {
			Service service = context.getBean(Service.class);
			CompletableFuture<String> first = service.cached(1);
			CompletableFuture<String> second = service.cached(1);
			assertThat(first).isNotSameAs(second);
			advanceAndAwait(context, Duration.ofSeconds(2));
			CompletableFuture<String> third = service.cached(1);
			assertThat(third).isNotDone();
			advance(context, Duration.ofSeconds(2));
			assertThat(third.get(60, TimeUnit.SECONDS)).isEqualTo("cached 1");
			assertThat(calls).containsOnly("cached").hasSizeLessThanOrEqualTo(2);
		});
	}

	@Test
	void theBodyIsLimitedInConcurrency() {
		DelayedContexts.runner(Resilience.class).withBean("service", Service.class).run((context) -> {
			Service service = context.getBean(Service.class);
			CountDownLatch release = new CountDownLatch(1);
			for (int i = 0; i < 5; i++) {
				service.limited(release);
			}
			advance(context, Duration.ofSeconds(2));
			await().until(() -> counts(context, "service.limited").running() == 5);
			await().until(() -> running.get() == 1);
			release.countDown();
			DelayedContexts.awaitIdle(context);
			assertThat(calls).hasSize(5);
			assertThat(mostRunning).hasValue(1);
		});
	}

	@Test
	void theBodyHasTheAdviceOfTheUsersOwnAutoProxyCreator() {
		DelayedContexts.runner(OwnAdvice.class).withBean("service", Service.class).run((context) -> {
			context.getBean(Service.class).plain();
			assertThat(calls).isEmpty();
			advanceAndAwait(context, Duration.ofSeconds(2));
			assertThat(calls).containsExactly("advice", "plain");
		});
	}

	static class Service {

		@Delayed("1s")
		@Retryable(maxRetries = 3, delay = 1)
		public CompletableFuture<String> retried() {
			calls.add("attempt");
			if (calls.size() < 3) {
				throw new IllegalStateException("not yet");
			}
			return CompletableFuture.completedFuture("third time");
		}

		@Delayed("1s")
		@Transactional
		public void transactional() {
			calls.add(Thread.currentThread().getName() + " active="
					+ TransactionSynchronizationManager.isActualTransactionActive());
		}

		@Delayed("1s")
		@Cacheable("results")
		public CompletableFuture<String> cached(int n) {
			calls.add("cached");
			return CompletableFuture.completedFuture("cached " + n);
		}

		@Delayed("1s")
		@ConcurrencyLimit(1)
		public void limited(CountDownLatch release) throws InterruptedException {
			mostRunning.accumulateAndGet(running.incrementAndGet(), Math::max);
			release.await(60, TimeUnit.SECONDS);
			running.decrementAndGet();
			calls.add("limited");
		}

		@Delayed("1s")
		public void plain() {
			calls.add("plain");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods
	static class Resilience {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableCaching
	static class Caching {

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
				calls.add("advice");
				return invocation.proceed();
			});
		}

	}

}
