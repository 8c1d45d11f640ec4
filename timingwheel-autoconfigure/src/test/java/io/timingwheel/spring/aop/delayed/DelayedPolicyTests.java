package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.Backoff;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;

import static io.timingwheel.spring.aop.delayed.DelayedContexts.advance;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class DelayedPolicyTests {

	private final ApplicationContextRunner runner = DelayedContexts.runner()
		.withUserConfiguration(Advice.class)
		.withBean("callbacks", Callbacks.class);

	@Test
	void aBodyThatReturnsAFutureHoldsItsPlaceUntilTheFutureEnds() {
		this.runner.run((context) -> {
			Callbacks callbacks = context.getBean(Callbacks.class);
			DelayedTask<?> first = (DelayedTask<?>) callbacks.send();
			DelayedTask<?> second = (DelayedTask<?>) callbacks.send();
			advance(context, Duration.ofSeconds(2));
			DelayedTaskRegistry tasks = context.getBean(DelayedTaskRegistry.class);
			await().until(() -> first.status() == Status.RUNNING && tasks.waiting("send") == 1);
			assertThat(second.status()).isEqualTo(Status.SCHEDULED);
			awaitStage().complete("sent");
			await().until(() -> {
				advance(context, Duration.ZERO);
				return second.status() == Status.RUNNING;
			});
			await().until(() -> first.status() == Status.SUCCEEDED);
			awaitStage().complete("sent");
			await().until(second::isDone);
			await().until(() -> tasks.runningCount() == 0);
		});
	}

	/**
	 * A task is running before its body has begun.
	 */
	private static CompletableFuture<String> awaitStage() {
		await().until(() -> !Callbacks.STAGES.isEmpty());
		return Callbacks.STAGES.remove();
	}

	@Test
	void eachAttemptPassesAllOtherAdviceAndOnlyTheLastFailureIsHandled() {
		this.runner.run((context) -> {
			context.getBean(Callbacks.class).fail("a");
			Advice advice = context.getBean(Advice.class);
			for (int i = 1; i <= 3; i++) {
				int attempts = i;
				advance(context, Duration.ofSeconds((i == 1) ? 1 : 2));
				await().untilAsserted(() -> assertThat(advice.seen).hasSize(attempts));
				await().until(() -> context.getBean(DelayedTaskRegistry.class).runningCount() == 0);
				// The next attempt is scheduled.
				await().until(() -> context.getBean(TimingWheel.class).pending() == ((attempts < 3) ? 1 : 0));
			}
			assertThat(advice.seen).containsExactly("fail a", "fail a", "fail a");
			await().untilAsserted(() -> assertThat(advice.handled).containsExactly("no 3"));
			await().until(() -> context.getBean(DelayedTaskRegistry.class).pendingCount() == 0);
		});
	}

	@Test
	void aBodyWhoseFutureFailsIsTriedAgain() {
		this.runner.run((context) -> {
			CompletableFuture<String> result = context.getBean(Callbacks.class).send();
			advance(context, Duration.ofSeconds(2));
			await().until(() -> !Callbacks.STAGES.isEmpty());
			Callbacks.STAGES.remove().completeExceptionally(new IllegalStateException("first"));
			await().until(() -> context.getBean(DelayedTaskRegistry.class).pendingCount() == 1);
			advance(context, Duration.ofSeconds(2));
			await().until(() -> !Callbacks.STAGES.isEmpty());
			Callbacks.STAGES.remove().complete("sent");
			assertThat(result).succeedsWithin(Duration.ofMinutes(1)).isEqualTo("sent");
		});
	}

	@Configuration(proxyBeanMethods = false)
	static class Advice {

		final List<String> seen = new CopyOnWriteArrayList<>();

		final List<String> handled = new CopyOnWriteArrayList<>();

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		DefaultPointcutAdvisor advisor() {
			NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
			pointcut.addMethodName("fail");
			MethodInterceptor advice = (invocation) -> {
				this.seen.add("fail " + invocation.getArguments()[0]);
				return invocation.proceed();
			};
			return new DefaultPointcutAdvisor(pointcut, advice);
		}

		@Bean
		AsyncUncaughtExceptionHandler exceptionHandler() {
			return (ex, method, arguments) -> this.handled.add(ex.getMessage());
		}

	}

	static class Callbacks {

		static final Queue<CompletableFuture<String>> STAGES = new ConcurrentLinkedQueue<>();

		private int attempts;

		@Delayed(delay = "1s", name = "send", policy = @TaskPolicy(maxAttempts = 2, maxConcurrent = 1,
				backoff = @Backoff(initial = "1s", jitter = 0)))
		public CompletableFuture<String> send() {
			CompletableFuture<String> stage = new CompletableFuture<>();
			STAGES.add(stage);
			return stage;
		}

		@Delayed(delay = "1s", name = "fail",
				policy = @TaskPolicy(maxAttempts = 3, backoff = @Backoff(initial = "2s", multiplier = 1, jitter = 0)))
		public void fail(String argument) {
			throw new IllegalStateException("no " + ++this.attempts);
		}

	}

}
