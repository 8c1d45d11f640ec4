package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.support.DurableHandler;
import io.timingwheel.spring.durable.support.DurableTaskManager;
import io.timingwheel.spring.durable.support.MemoryStore;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.BeanCreationException;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class DurableExecutorTests {

	@Test
	void aTaskWhoseExecutorCannotBeCreatedHasFailedAndIsTriedAgain() {
		DurableContexts.runner(new MemoryStore(true), Application.class).run((context) -> {
			DurableTaskManager tasks = context.getBean(DurableTaskManager.class);
			Handler handler = new Handler(new AtomicBoolean(), new AtomicInteger());
			tasks.register(handler);
			tasks.enqueue(handler, null, IfPending.REPLACE, null, DueTime.after(Duration.ofMillis(1)), new Object[0]);
			await().until(() -> handler.runs().get() == 1);
			assertThat(context.getBean(DelayedTaskRegistry.class).counts("late").failed()).isOne();
		});
	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

	}

	/**
	 * Has an executor whose first creation fails, as that of a lazy bean may.
	 *
	 * @param asked whether somebody has asked for the executor
	 * @param runs how often the body has run
	 */
	private record Handler(AtomicBoolean asked, AtomicInteger runs) implements DurableHandler {

		@Override
		public String name() {
			return "late";
		}

		@Override
		public Method method() {
			return ReflectionUtils.findMethod(Object.class, "notify");
		}

		@Override
		public List<Type> argumentTypes() {
			return List.of();
		}

		@Override
		public Supplier<? extends Executor> executor() {
			return () -> {
				if (this.asked.compareAndSet(false, true)) {
					throw new BeanCreationException("lateExecutor", "not yet");
				}
				return Runnable::run;
			};
		}

		@Override
		public Object invoke(Object[] arguments) {
			return this.runs.incrementAndGet();
		}

		@Override
		public void handleError(Throwable error, Object[] arguments) {
		}

	}

}
