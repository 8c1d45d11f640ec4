package io.timingwheel.spring.aop.delayed;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.micrometer.context.ContextRegistry;
import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.scheduling.concurrent.ConcurrentTaskExecutor;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.concurrent.DelegatingSecurityContextExecutor;
import org.springframework.security.concurrent.DelegatingSecurityContextExecutorService;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.context.SecurityContextImpl;
import org.springframework.security.task.DelegatingSecurityContextAsyncTaskExecutor;
import org.springframework.util.Assert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What a body sees of the context of its caller: thread locals by a {@code TaskDecorator}
 * or by Micrometer, and the security context by the executors of Spring Security.
 */
class DelayedContextPropagationTests {

	private static final ThreadLocal<@Nullable Object> tenant = new ThreadLocal<>();

	private static final List<@Nullable Object> seen = new CopyOnWriteArrayList<>();

	@RegisterExtension
	static final VirtualApplication app = VirtualApplication.of(Service.class)
		.withExecutors()
		.with(TaskDecorator.class, () -> DelayedContextPropagationTests::withTenant);

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

	@BeforeEach
	void reset() {
		seen.clear();
	}

	@AfterEach
	void clear() {
		tenant.remove();
		SecurityContextHolder.clearContext();
	}

	private static void run(VirtualApplication application) {
		application.advanceSeconds(1);
		application.awaitIdle();
	}

	@Test
	void aTaskDecoratorSeesTheThreadOfTheLastCallAndDecoratesEachRun(Service service) {
		tenant.set("acme");
		service.tenant();
		service.keyed("k");
		app.tasks().task(() -> seen.add("run of " + tenant.get())).every(Duration.ofSeconds(1));
		tenant.set("other");
		service.keyed("k");
		tenant.remove();
		run(app);
		run(app);
		assertThat(seen).containsExactlyInAnyOrder("acme", "other", "run of acme", "run of acme");
	}

	@Test
	void severalDecoratorsActAroundTheBody() {
		TaskDecorator noting = (task) -> () -> {
			seen.add("decorator");
			task.run();
		};
		try (VirtualApplication application = VirtualApplication.of(Service.class)
			.with("first", TaskDecorator.class, () -> noting)
			.with("second", TaskDecorator.class, () -> noting)) {
			application.bean(Service.class).tenant();
			run(application);
			assertThat(seen).containsExactly("decorator", "decorator", null);
		}
	}

	/** Spring Boot's executor decorates the task again when it is handed over. */
	@Test
	void aDecoratorThatFailsAtTheHandOverFailsTheTaskOnce() {
		AtomicInteger calls = new AtomicInteger();
		TaskDecorator decorator = (task) -> {
			calls.incrementAndGet();
			Assert.state(tenant.get() != null, "No tenant");
			return task;
		};
		try (VirtualApplication application = VirtualApplication.of(Service.class)
			.withExecutors()
			.with(TaskDecorator.class, () -> decorator)) {
			tenant.set("acme");
			DelayedTask<String> task = application.bean(Service.class).result();
			tenant.remove();
			run(application);
			await().until(() -> task.status() == Status.FAILED);
			application.advance(Duration.ofMinutes(1));
			assertThat(application.pending()).isZero();
			assertThat(calls).hasValue(2);
		}
	}

	private static VirtualApplication withExecutor(Executor executor) {
		return VirtualApplication.of(Service.class)
			.withExecutors()
			.with("applicationTaskExecutor", Executor.class, () -> executor);
	}

	@Test
	void propagateContextCarriesThreadLocals() {
		ContextRegistry.getInstance().registerThreadLocalAccessor("tenant", tenant::get, tenant::set, tenant::remove);
		try (VirtualApplication application = VirtualApplication.of(Service.class)
			.withExecutors()
			.with("spring.task.execution.propagate-context=true")) {
			tenant.set("acme");
			application.bean(Service.class).tenant();
			// The thread that advances the wheel has a context, but not the caller's.
			tenant.set("other");
			run(application);
			assertThat(seen).containsExactly("acme");
		}
		finally {
			ContextRegistry.getInstance().removeThreadLocalAccessor("tenant");
		}
	}

	@Test
	void nothingIsRetainedAfterTheEndOrACancelAlsoInTheQueueOfAnExecutor() throws Exception {
		try (VirtualApplication application = VirtualApplication.of(Service.class)
			.withExecutors()
			.with("spring.task.execution.pool.core-size=1")
			.with(TaskDecorator.class, () -> DelayedContextPropagationTests::withTenant)) {
			Service service = application.bean(Service.class);
			CountDownLatch release = new CountDownLatch(1);
			WeakReference<?> decorated = held(tenant::set);
			service.block(release);
			WeakReference<?> ran = held((value) -> service.hold("ran", value));
			tenant.remove();
			WeakReference<?> cancelled = held((value) -> service.hold("cancelled", value));
			WeakReference<?> replaced = held((value) -> service.hold("replaced", value));
			WeakReference<?> queued = held((value) -> service.hold("queued", value));
			DelayedTask<?> handle = application.tasks().find(TaskId.of("service.hold", "cancelled")).orElseThrow();
			application.tasks().cancel(TaskId.of("service.hold", "cancelled"));
			service.hold("replaced", null);
			assertCollected(cancelled);
			assertCollected(replaced);
			assertThat(handle.isCancelled()).isTrue();
			application.advanceSeconds(1);
			assertThat(application.tasks().cancel(TaskId.of("service.hold", "queued"))).isTrue();
			assertCollected(queued);
			release.countDown();
			application.awaitIdle();
			assertCollected(ran);
			assertCollected(decorated);
		}
	}

	private static WeakReference<?> held(Consumer<Object> holder) {
		Object value = new Object();
		holder.accept(value);
		return new WeakReference<>(value);
	}

	private static void assertCollected(WeakReference<?> reference) {
		await().untilAsserted(() -> {
			System.gc();
			assertThat(reference.get()).isNull();
		});
	}

	static List<Executor> securityExecutors() {
		AsyncTaskExecutor delegate = new SimpleAsyncTaskExecutor();
		DelegatingSecurityContextAsyncTaskExecutor usual = new DelegatingSecurityContextAsyncTaskExecutor(delegate);
		return List.of(usual, new DelegatingSecurityContextExecutor(delegate),
				(Executor) new ProxyFactory(usual).getProxy(), new ConcurrentTaskExecutor(
						new DelegatingSecurityContextExecutorService(Executors.newSingleThreadExecutor())));
	}

	@ParameterizedTest
	@MethodSource("securityExecutors")
	void theBodyRunsWithTheSecurityContextOfTheLastCaller(Executor executor) {
		try (VirtualApplication application = withExecutor(executor)) {
			Service service = application.bean(Service.class);
			login("ada");
			service.user("k");
			service.user("l");
			application.tasks().task(() -> seen.add(user())).every(Duration.ofSeconds(1));
			login("eve");
			service.user("k");
			SecurityContextHolder.clearContext();
			service.user("m");
			login("somebody else");
			run(application);
			assertThat(seen).containsExactlyInAnyOrder("ada", "ada", "eve", null);
			run(application);
			assertThat(seen).hasSize(5).last().isEqualTo("ada");
			assertThat(user()).isEqualTo("somebody else");
		}
	}

	@Test
	void aSecurityContextThatWasGivenToTheExecutorHasPriorityAndAnOrdinaryExecutorHasNone() {
		for (Executor executor : List.of(new SimpleAsyncTaskExecutor(),
				new DelegatingSecurityContextAsyncTaskExecutor(new SimpleAsyncTaskExecutor(), contextOf("system")))) {
			try (VirtualApplication application = withExecutor(executor)) {
				login("ada");
				application.bean(Service.class).user("k");
				run(application);
			}
		}
		assertThat(seen).containsExactly(null, "system");
	}

	private static void login(String name) {
		SecurityContextHolder.setContext(contextOf(name));
	}

	private static SecurityContext contextOf(String name) {
		return new SecurityContextImpl(new TestingAuthenticationToken(name, "secret"));
	}

	private static @Nullable String user() {
		Authentication authentication = SecurityContextHolder.getContext().getAuthentication();
		return (authentication != null) ? authentication.getName() : null;
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

		@Delayed(delay = "1s", key = "#key")
		public void user(String key) {
			seen.add(DelayedContextPropagationTests.user());
		}

		@Delayed("1s")
		public DelayedTask<String> result() {
			return DelayedTask.completed("result");
		}

		@Delayed(delay = "1s", key = "#key")
		public void hold(String key, @Nullable Object held) {
		}

		@Delayed("1s")
		public void block(CountDownLatch release) throws Exception {
			release.await();
		}

	}

}
