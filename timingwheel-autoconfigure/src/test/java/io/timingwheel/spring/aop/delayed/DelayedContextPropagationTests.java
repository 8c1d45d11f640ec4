package io.timingwheel.spring.aop.delayed;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.micrometer.context.ContextRegistry;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.TaskExecutor;

import static io.timingwheel.spring.aop.delayed.DelayedContexts.advance;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.advanceAndAwait;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.awaitIdle;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.counts;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.pending;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

class DelayedContextPropagationTests {

	private static final ThreadLocal<@Nullable Object> tenant = new ThreadLocal<>();

	private static final InheritableThreadLocal<@Nullable String> inheritable = new InheritableThreadLocal<>();

	private static final List<@Nullable Object> seen = new CopyOnWriteArrayList<>();

	private final ApplicationContextRunner runner = DelayedContexts.runner().withBean("service", Service.class);

	@BeforeEach
	void reset() {
		seen.clear();
	}

	@AfterEach
	void clear() {
		tenant.remove();
		inheritable.remove();
	}

	@Test
	void aTaskDecoratorSeesTheCallingThread() {
		this.runner.withBean(TaskDecorator.class, () -> DelayedContextPropagationTests::withTenant).run((context) -> {
			tenant.set("acme");
			context.getBean(Service.class).tenant();
			tenant.set("other");
			advanceAndAwait(context, Duration.ofSeconds(2));
			assertThat(seen).containsExactly("acme");
		});
	}

	@Test
	void aReplacementBringsItsOwnContext() {
		this.runner.withBean(TaskDecorator.class, () -> DelayedContextPropagationTests::withTenant).run((context) -> {
			tenant.set("acme");
			context.getBean(Service.class).keyed("k");
			tenant.set("other");
			context.getBean(Service.class).keyed("k");
			tenant.remove();
			advanceAndAwait(context, Duration.ofSeconds(2));
			assertThat(seen).containsExactly("other");
		});
	}

	@Test
	void theTemplatesTasksAreDecoratedToo() {
		this.runner.withBean(TaskDecorator.class, () -> DelayedContextPropagationTests::withTenant).run((context) -> {
			tenant.set("acme");
			DelayedTask<?> task = context.getBean(DelayedTaskTemplate.class)
				.task(() -> tenant.get())
				.every(Duration.ofSeconds(1));
			context.getBean(DelayedTaskTemplate.class).task(() -> seen.add(tenant.get())).every(Duration.ofSeconds(1));
			tenant.remove();
			advanceAndAwait(context, Duration.ofSeconds(1));
			advanceAndAwait(context, Duration.ofSeconds(1));
			assertThat(seen).containsExactly("acme", "acme");
			assertThat(task.isDone()).isFalse();
		});
	}

	@Test
	void severalDecoratorsActInTheirOrder() {
		this.runner.withBean("first", TaskDecorator.class, () -> (task) -> () -> {
			seen.add("first");
			task.run();
		}).withBean("second", TaskDecorator.class, () -> (task) -> () -> {
			seen.add("second");
			task.run();
		}).run((context) -> {
			context.getBean(Service.class).tenant();
			advanceAndAwait(context, Duration.ofSeconds(2));
			assertThat(seen).contains("first", "second").endsWith((Object) null);
		});
	}

	@Test
	void aDecoratorThatDropsTheTaskCancelsIt() {
		withUndecoratedExecutor().withBean(TaskDecorator.class, () -> (task) -> () -> {
		}).run((context) -> {
			DelayedTask<String> task = context.getBean(Service.class).result();
			advanceAndAwait(context, Duration.ofSeconds(2));
			await().until(() -> task.status() == DelayedTask.Status.CANCELLED);
		});
	}

	@Test
	void aDecoratorThatFailsFailsTheTask() {
		withUndecoratedExecutor().withBean(TaskDecorator.class, () -> (task) -> () -> {
			throw new IllegalStateException("decorator");
		}).run((context) -> {
			DelayedTask<String> task = context.getBean(Service.class).result();
			context.getBean(Service.class).tenant();
			advanceAndAwait(context, Duration.ofSeconds(2));
			await().until(() -> task.status() == DelayedTask.Status.FAILED);
			assertThat(counts(context, "service.tenant").failed()).isOne();
		});
	}

	@Test
	void aDecoratorThatThrowsWithoutAContextFailsTheTaskOnce() {
		AtomicInteger calls = new AtomicInteger();
		this.runner.withBean(TaskDecorator.class, () -> (task) -> {
			calls.incrementAndGet();
			if (tenant.get() == null) {
				throw new IllegalStateException("No tenant");
			}
			return task;
		}).run((context) -> {
			tenant.set("acme");
			DelayedTask<String> task = context.getBean(Service.class).result();
			tenant.remove();
			advanceAndAwait(context, Duration.ofSeconds(2));
			await().until(task::isDone);
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(task::get)
				.withStackTraceContaining("No tenant");
			advance(context, Duration.ofMinutes(1));
			assertThat(calls).hasValue(2);
			assertThat(counts(context, "service.result").failed()).isOne();
			assertThat(pending(context)).isZero();
		});
	}

	@Test
	void propagateContextCarriesThreadLocals() {
		ContextRegistry.getInstance().registerThreadLocalAccessor("tenant", tenant::get, tenant::set, tenant::remove);
		try {
			this.runner.withPropertyValues("spring.task.execution.propagate-context=true").run((context) -> {
				tenant.set("acme");
				context.getBean(Service.class).tenant();
				tenant.set("other");
				// The thread that advances the wheel has a context, but not the caller's.
				advanceAndAwait(context, Duration.ofSeconds(2));
				assertThat(seen).containsExactly("acme");
			});
		}
		finally {
			ContextRegistry.getInstance().removeThreadLocalAccessor("tenant");
		}
	}

	@Test
	void nothingOfTheFirstCallerLeaksIntoTheWheelsThreads() {
		DelayedContexts.realTimeRunner()
			.withBean("service", DirectService.class)
			.withBean("direct", Executor.class, () -> Runnable::run)
			.run((context) -> {
				inheritable.set("first caller");
				context.getBean(DirectService.class).inheritable();
				await().untilAsserted(() -> assertThat(seen).hasSize(1));
				assertThat(seen).containsExactly((Object) null);
			});
	}

	@Test
	void nothingIsRetainedAfterTheEndOrACancel() {
		this.runner.withBean(TaskDecorator.class, () -> DelayedContextPropagationTests::withTenant).run((context) -> {
			Service service = context.getBean(Service.class);
			DelayedTaskTemplate template = context.getBean(DelayedTaskTemplate.class);
			WeakReference<Object> context1 = new WeakReference<>(setTenant());
			WeakReference<Object> ran = new WeakReference<>(new Object());
			service.hold("a", ran.get());
			WeakReference<Object> cancelled = new WeakReference<>(new Object());
			service.hold("b", cancelled.get());
			WeakReference<Object> replaced = new WeakReference<>(new Object());
			service.hold("c", replaced.get());
			DelayedTask<?> handle = template.find(TaskId.of("service.hold", "b")).orElseThrow();
			tenant.remove();
			template.cancel(TaskId.of("service.hold", "b"));
			service.hold("c", null);
			assertCollected(cancelled);
			assertCollected(replaced);
			advanceAndAwait(context, Duration.ofSeconds(2));
			assertCollected(ran);
			assertCollected(context1);
			assertThat(handle.isCancelled()).isTrue();
		});
	}

	@Test
	void aCancelFreesATaskThatWaitsInTheQueueOfAnExecutor() {
		this.runner.withPropertyValues("spring.task.execution.pool.core-size=1").run((context) -> {
			Service service = context.getBean(Service.class);
			AtomicBoolean release = new AtomicBoolean();
			service.block(release);
			WeakReference<Object> cancelled = new WeakReference<>(new Object());
			service.hold("a", cancelled.get());
			advance(context, Duration.ofSeconds(2));
			assertThat(context.getBean(DelayedTaskTemplate.class).cancel(TaskId.of("service.hold", "a"))).isTrue();
			assertCollected(cancelled);
			release.set(true);
			awaitIdle(context);
		});
	}

	private ApplicationContextRunner withUndecoratedExecutor() {
		return this.runner.withBean("applicationTaskExecutor", TaskExecutor.class,
				() -> new SimpleAsyncTaskExecutor("task-"));
	}

	private static Object setTenant() {
		Object value = new Object();
		tenant.set(value);
		return value;
	}

	private static void assertCollected(WeakReference<?> reference) {
		await().untilAsserted(() -> {
			System.gc();
			assertThat(reference.get()).isNull();
		});
	}

	private static Runnable withTenant(Runnable task) {
		Object captured = tenant.get();
		return () -> {
			Object outer = tenant.get();
			tenant.set(captured);
			try {
				task.run();
			}
			finally {
				tenant.set(outer);
			}
		};
	}

	static class Service {

		@Delayed("1s")
		public void tenant() {
			seen.add(tenant.get());
		}

		@Delayed(delay = "1s", key = "#key")
		public void keyed(String key) {
			seen.add(tenant.get());
		}

		@Delayed("1s")
		public DelayedTask<String> result() {
			return DelayedTask.completed("result");
		}

		@Delayed(delay = "1s", key = "#key")
		public void hold(String key, @Nullable Object held) {
		}

		@Delayed("1s")
		public void block(AtomicBoolean release) {
			while (!release.get()) {
				Thread.onSpinWait();
			}
		}

	}

	static class DirectService {

		@Delayed(delay = "1ms", executor = "direct")
		public void inheritable() {
			seen.add(inheritable.get());
		}

	}

}
