package io.timingwheel.spring.aop.delayed;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rules for durable methods, and their registration at startup.
 */
@ExtendWith(OutputCaptureExtension.class)
class DurableStartupTests {

	private final ApplicationContextRunner runner = DurableContexts.runner();

	@Test
	void handlersAreRegisteredBeforeTheirFirstCall() {
		this.runner
			.withBean("good", DurableStartFailureApprovalTests.Good.class, DurableStartFailureApprovalTests.Good::new,
					(definition) -> definition.setLazyInit(true))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(DurableHandlers.class).names()).containsExactlyInAnyOrder("good", "better",
						"best", "good.unnamed");
				assertThat(context.getBean(DurableHandlers.class).find("best"))
					.isSameAs(context.getBean(DurableHandlers.class).find("good"));
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
	void typeVariablesAreKnownByTheBeansClass() {
		this.runner.withBean(TakesStrings.class).run((context) -> assertThat(context).hasNotFailed());
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
				.contains("Another application at the same store may have the name");
		});
	}

	static class InMemory {

		@Delayed("1h")
		public void run() {
		}

	}

	static class TakesStrings extends DurableStartFailureApprovalTests.Generic<String> {

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

}
