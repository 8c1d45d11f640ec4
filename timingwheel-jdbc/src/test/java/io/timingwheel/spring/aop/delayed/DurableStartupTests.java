package io.timingwheel.spring.aop.delayed;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.context.SecurityContextImpl;
import org.springframework.security.task.DelegatingSecurityContextAsyncTaskExecutor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * How durable methods are found: at the start, when their bean is made, or when it comes
 * or goes later.
 */
@ExtendWith(OutputCaptureExtension.class)
class DurableStartupTests {

	private static final List<String> runs = new CopyOnWriteArrayList<>();

	private final ApplicationContextRunner runner = DurableContexts.runner();

	@BeforeEach
	void reset() {
		runs.clear();
	}

	@Test
	void handlersAreRegisteredBeforeTheirFirstCall() {
		this.runner
			.withBean("good", DurableStartFailureApprovalTests.Good.class, DurableStartFailureApprovalTests.Good::new,
					(definition) -> definition.setLazyInit(true))
			.run((context) -> {
				DurableHandlers handlers = context.getBean(DurableHandlers.class);
				assertThat(handlers.names()).containsExactlyInAnyOrder("good", "better", "best", "good.unnamed");
				assertThat(handlers.find("best")).isSameAs(handlers.find("good"));
				assertThat(context.getBean(DelayedTaskRegistry.class).names()).containsExactly("good", "good.unnamed");
				assertThat(context.getBeanFactory().containsSingleton("good")).isFalse();
			});
	}

	@Test
	void theCheckForAStoreDoesNotInstantiateIt() {
		DelayedContexts.runner().withBean("store", DelayedTaskStore.class, () -> {
			throw new IllegalStateException("instantiated");
		}, (definition) -> definition.setLazyInit(true))
			.withBean("plain", InMemory.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void aNameHasAtMost255BytesOfValidUnicode() {
		this.runner.withPropertyValues("the.name=" + "€".repeat(85))
			.withBean(DurableStartFailureApprovalTests.Named.class)
			.run((context) -> assertThat(context).hasNotFailed());
		this.runner.withPropertyValues("the.name=half\ud83d")
			.withBean(DurableStartFailureApprovalTests.Named.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("must be valid Unicode, without half of a surrogate pair"));
	}

	@Test
	void aMethodThatTheTypeOfTheBeanHidesIsRegisteredWhenTheBeanIsMade() {
		this.runner.withBean("hidden", Marker.class, Hidden::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
				assertThat(context.getBean(DurableHandlers.class).names()).isEmpty();
				context.getBean("hidden");
				assertThat(context.getBean(DurableHandlers.class).names()).containsExactly("hidden");
			});
	}

	@Test
	void cancellingANameOfAnotherApplicationIsOnlyWarnedOf(CapturedOutput output) {
		this.runner.withBean("culprit", CancelsUnknown.class).withBean("unrelated", Marker.class, () -> {
			throw new IllegalStateException("created although it is lazy");
		}, (definition) -> definition.setLazyInit(true)).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("CancelsUnknown#cancel(long)")
				.contains("@CancelDelayed names the task \"unknown\", which no @Delayed method has")
				.contains("Another application at the same store, or a bean that was replaced, may have the name");
		});
	}

	@Test
	void anAliasMayBeThatOfABean() {
		this.runner.withBean("earlierName", String.class, () -> "close")
			.withBean("orders", WithAlias.class)
			.run((context) -> assertThat(context.getBean(DurableHandlers.class).canonicalName("close"))
				.isEqualTo("close-order"));
	}

	@Test
	void theScheduleOfABeanThatIsRegisteredAfterTheStartRuns() {
		this.runner.run((context) -> {
			GenericApplicationContext application = (GenericApplicationContext) context.getSourceApplicationContext();
			application.registerBean("late", Job.class);
			application.getBean("late");
			await().until(() -> runs.contains("report"));
		});
	}

	@Test
	void aDurableMethodMayUseAnExecutorWithASecurityContextOfItsOwn() {
		this.runner
			.withBean("applicationTaskExecutor", Executor.class,
					() -> new DelegatingSecurityContextAsyncTaskExecutor(new SimpleAsyncTaskExecutor(),
							new SecurityContextImpl(new TestingAuthenticationToken("system", "secret"))))
			.withBean(Secured.class)
			.run((context) -> {
				context.getBean(Secured.class).run();
				await().untilAsserted(() -> assertThat(runs).containsExactly("system"));
			});
	}

	static class InMemory {

		@Delayed("1h")
		public void run() {
		}

	}

	interface Marker {

	}

	static class Hidden implements Marker {

		@Delayed(delay = "1h", name = "hidden", durable = true)
		public void run() {
		}

	}

	static class CancelsUnknown {

		@CancelDelayed(name = "unknown", key = "#id")
		public void cancel(long id) {
		}

	}

	static class WithAlias {

		@Delayed(delay = "1h", name = "close-order", aliases = "#{@earlierName}", durable = true)
		public void run() {
		}

	}

	static class Job {

		@Recurring(every = "50ms", durable = true)
		public void report() {
			runs.add("report");
		}

	}

	static class Secured {

		@Delayed(delay = "1ms", durable = true)
		public void run() {
			runs.add(SecurityContextHolder.getContext().getAuthentication().getName());
		}

	}

}
