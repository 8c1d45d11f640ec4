package io.timingwheel.spring.aop.delayed;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.Backoff;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTask.Status;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the attempts and the places of a policy mean for the body of a method.
 */
class DelayedPolicyTests {

	@RegisterExtension
	static final VirtualApplication app = VirtualApplication.of(Advice.class, Callbacks.class);

	@Test
	void aBodyThatReturnsAFutureHoldsItsPlaceUntilTheFutureEnds(Callbacks callbacks) {
		DelayedTask<?> first = (DelayedTask<?>) callbacks.send();
		DelayedTask<?> second = (DelayedTask<?>) callbacks.send();
		app.advanceSeconds(1);
		assertThat(first.status()).isEqualTo(Status.RUNNING);
		assertThat(second.status()).isEqualTo(Status.SCHEDULED);
		Callbacks.futures.remove().complete("sent");
		app.advanceSeconds(0);
		assertThat(first.status()).isEqualTo(Status.SUCCEEDED);
		assertThat(second.status()).isEqualTo(Status.RUNNING);
		Callbacks.futures.remove().complete("sent");
		assertThat(second.isDone()).isTrue();
	}

	@Test
	void aBodyWhoseFutureFailsIsTriedAgain(Callbacks callbacks) {
		CompletableFuture<String> result = callbacks.send();
		app.advanceSeconds(1);
		Callbacks.futures.remove().completeExceptionally(new IllegalStateException("first"));
		app.advanceSeconds(1);
		Callbacks.futures.remove().complete("sent");
		assertThat(result).isCompletedWithValue("sent");
	}

	@Test
	void eachAttemptPassesAllOtherAdviceAndOnlyTheLastFailureIsHandled(Callbacks callbacks) {
		callbacks.fail("a");
		app.advanceSeconds(1);
		app.advanceSeconds(2);
		assertThat(app.calls()).containsExactly("advice a", "advice a");
		app.advanceSeconds(2);
		assertThat(app.calls()).containsExactly("advice a", "advice a", "advice a", "handled no 3");
		assertThat(app.pending()).isZero();
	}

	@Test
	void aTaskThatHasExpiredWhileItWaitedDoesNotCountForTheRate(Callbacks callbacks) {
		for (int i = 0; i < 3; i++) {
			callbacks.perishable();
		}
		app.advanceSeconds(1);
		app.advanceSeconds(49);
		callbacks.perishable();
		app.advanceSeconds(1);
		assertThat(app.calls()).containsExactly("perishable");
		app.advanceSeconds(11);
		assertThat(app.calls()).containsExactly("perishable", "perishable");
		assertThat(app.counts("perishable").expired()).isEqualTo(2);
		assertThat(app.pending()).isZero();
	}

	@Configuration(proxyBeanMethods = false)
	static class Advice {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static DefaultPointcutAdvisor advisor() {
			NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
			pointcut.addMethodName("fail");
			MethodInterceptor advice = (invocation) -> {
				app.calls().add("advice " + invocation.getArguments()[0]);
				return invocation.proceed();
			};
			return new DefaultPointcutAdvisor(pointcut, advice);
		}

		@Bean
		AsyncUncaughtExceptionHandler exceptionHandler() {
			return (ex, method, arguments) -> app.calls().add("handled " + ex.getMessage());
		}

	}

	static class Callbacks {

		static final Queue<CompletableFuture<String>> futures = new ArrayDeque<>();

		private int attempts;

		@Delayed(delay = "1s", name = "send", policy = @TaskPolicy(maxAttempts = 2, maxConcurrent = 1,
				backoff = @Backoff(initial = "1s", jitter = 0)))
		public CompletableFuture<String> send() {
			CompletableFuture<String> future = new CompletableFuture<>();
			futures.add(future);
			return future;
		}

		@Delayed(delay = "1s", name = "perishable", expireAfter = "30s", policy = @TaskPolicy(rate = "1/m"))
		public void perishable() {
			app.calls().add("perishable");
		}

		@Delayed(delay = "1s", name = "fail",
				policy = @TaskPolicy(maxAttempts = 3, backoff = @Backoff(initial = "2s", multiplier = 1, jitter = 0)))
		public void fail(String argument) {
			throw new IllegalStateException("no " + ++this.attempts);
		}

	}

}
