package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.timingwheel.spring.aop.internal.delayed.DurableMethod;
import io.timingwheel.spring.durable.call.MemoryStore;
import io.timingwheel.spring.durable.node.DurableHandler;
import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.payload.PayloadCodec;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.params.provider.Arguments.arguments;

class DurableExecutorTests {

	private final ApplicationContextRunner runner = DurableContexts.runner(new MemoryStore(true));

	static List<Arguments> failures() {
		OutOfMemoryError noThread = new OutOfMemoryError("unable to create native thread");
		return List.of(arguments(new BeanCreationException("lateExecutor", "not yet"), 1, false),
				arguments(noThread, 0, false),
				arguments(new BeanCreationException("lateExecutor", "failed to start", noThread), 0, false),
				arguments(new IllegalStateException("No context"), 1, true));
	}

	@ParameterizedTest
	@MethodSource("failures")
	void aTaskWithoutAnExecutorIsTriedAgainAndGivenBackWithoutAnAttemptIfThereIsNoThread(Throwable failure,
			int failures, boolean inExecute) {
		this.runner.withPropertyValues("timingwheel.store.max-attempts=" + (failures + 1)).run((context) -> {
			AtomicBoolean failed = new AtomicBoolean();
			Executor executor = (body) -> {
				if (failed.compareAndSet(false, true)) {
					ReflectionUtils.rethrowRuntimeException(failure);
				}
				body.run();
			};
			Handler handler = new Handler("notify", () -> {
				if (!inExecute) {
					executor.execute(() -> {
					});
				}
				return executor;
			}, () -> {
			});
			enqueue(context, handler);
			eventually().until(() -> handler.runs().get() == 1);
			assertThat(context.getBean(DelayedTaskRegistry.class).counts("notify").failed()).isEqualTo(failures);
		});
	}

	@Test
	void whileAnErrorOfSuchATaskIsHandledOtherTasksRun() {
		CountDownLatch handling = new CountDownLatch(1);
		CountDownLatch release = new CountDownLatch(1);
		this.runner.withPropertyValues("timingwheel.store.max-attempts=1").run((context) -> {
			try {
				enqueue(context, new Handler("notify", () -> {
					throw new BeanCreationException("lateExecutor", "never");
				}, () -> {
					handling.countDown();
					awaitUninterruptibly(release);
				}));
				eventually().until(() -> handling.getCount() == 0);
				Handler other = new Handler("notifyAll", () -> Runnable::run, () -> {
				});
				enqueue(context, other);
				eventually().until(() -> other.runs().get() == 1);
			}
			finally {
				release.countDown();
			}
		});
	}

	private static void enqueue(ApplicationContext context, Handler handler) {
		context.getBean(DurableHandlers.class).register(handler.make(context.getBean(PayloadCodec.class)));
		context.getBean(DelayedTaskOperations.class)
			.enqueueAll(List.of(DurableCall.of(handler.name(), Duration.ofMillis(1))));
	}

	private static ConditionFactory eventually() {
		return await().atMost(Duration.ofMinutes(1));
	}

	private static void awaitUninterruptibly(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * A handler with the name of its method, whose executor may be missing.
	 */
	private record Handler(String name, Supplier<? extends Executor> executor, Runnable onError, AtomicInteger runs) {

		Handler(String name, Supplier<? extends Executor> executor, Runnable onError) {
			this(name, executor, onError, new AtomicInteger());
		}

		DurableHandler make(PayloadCodec codec) {
			DurableMethod method = new DurableMethod(this.name, List.of(),
					ReflectionUtils.findMethod(Object.class, this.name), List.of(), this.executor, null, false, null,
					(arguments) -> this.runs.incrementAndGet(), (error, arguments) -> this.onError.run());
			return new DurableHandler(method, codec.payloads(List.of(this.name), method.method(), List.of()),
					Missed.ONCE, null);
		}

	}

}
