package io.timingwheel.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.task.DelayedTaskOperations;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Which contexts have virtual time, each a time of its own, and which calls it refuses.
 */
class ContextTests {

	private final ApplicationContextRunner context = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(TimingWheelAutoConfiguration.class, VirtualTimeAutoConfiguration.class));

	@Test
	void theModuleOfDurableTasksIsOptional() {
		this.context.withClassLoader(new FilteredClassLoader("io.timingwheel.spring.durable"))
			.run((context) -> context.getBean(VirtualTime.class).reset());
	}

	@Test
	void anApplicationWithoutTheWheelOfVirtualTimeDoesNotStart() {
		assertFails(this.context.withPropertyValues("timingwheel.enabled=off"), "Remove timingwheel.enabled=false",
				"or remove the annotation");
		assertFails(new ApplicationContextRunner().withConfiguration(
				AutoConfigurations.of(VirtualTimeAutoConfiguration.class)), "add TimingWheelAutoConfiguration");
		assertFails(
				this.context.withBean(TimingWheelBuilderCustomizer.class,
						() -> (builder) -> builder.timeSource(new ManualTimeSource())),
				"two clocks", "TimingWheelBuilderCustomizer");
		assertFails(
				this.context.withBean("ownWheel", TimingWheel.class, () -> TimingWheel.builder(Runnable::run).build()),
				"two clocks");
	}

	private static void assertFails(ApplicationContextRunner runner, String... messages) {
		runner.run((context) -> assertThat(context.getStartupFailure().getMessage()).contains(messages));
	}

	@Test
	void eachContextHasATimeOfItsOwn() {
		this.context.run((outer) -> this.context.run((inner) -> {
			VirtualTime outerTime = outer.getBean(VirtualTime.class);
			VirtualTime innerTime = inner.getBean(VirtualTime.class);
			Instant start = outerTime.now();
			Instant innerStart = innerTime.now();
			List<String> ran = new ArrayList<>();
			outer.getBean(DelayedTaskOperations.class).schedule(Duration.ofHours(1), () -> {
				ran.add("outer");
				innerTime.advance(Duration.ofHours(1));
			});
			inner.getBean(DelayedTaskOperations.class).schedule(Duration.ofHours(1), () -> {
				ran.add("inner");
			});
			outerTime.advance(Duration.ofHours(2));
			assertThat(ran).containsExactly("outer", "inner");
			assertThat(outerTime.now()).isEqualTo(start.plus(Duration.ofHours(2)));
			assertThat(innerTime.now()).isEqualTo(innerStart.plus(Duration.ofHours(1)));
		}));
	}

	@Test
	@Timeout(90)
	void aFutureThatIsNotDoneDoesNotHoldUpTheEndOfTheContext() {
		this.context.withBean(Forgetful.class)
			.withPropertyValues("timingwheel.shutdown.await-termination-period=10m")
			.run((context) -> {
				context.getBean(Forgetful.class).forget();
				context.getBean(VirtualTime.class).advance(Duration.ofMinutes(1));
			});
	}

	@Test
	void aBodyCannotMoveTheTimeAndFaultsOfAStoreNeedAStore() {
		this.context.run((context) -> {
			VirtualTime time = context.getBean(VirtualTime.class);
			DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
			tasks.schedule(Duration.ofHours(1), () -> time.advance(Duration.ofHours(1)));
			tasks.schedule(Duration.ofHours(1), time::reset);
			assertThatIllegalStateException().isThrownBy(() -> time.advance(Duration.ofHours(1)))
				.withMessageContaining("The body of a task cannot move the time")
				.satisfies((ex) -> assertThat(ex.getSuppressed()[0])
					.hasMessageContaining("The body of a task cannot begin anew"));
			assertThatIllegalStateException().isThrownBy(() -> time.deliverTwice(true))
				.withMessageContaining("deliverTwice")
				.withMessageContaining("timingwheel.store.type");
			assertThatIllegalStateException().isThrownBy(() -> time.crashBeforeAcknowledge("plain"))
				.withMessageContaining("no store");
		});
	}

	@Test
	void aSpanThatIsNegativeOrTogetherWithEarlierOnesTooLongIsRefused() {
		this.context.run((context) -> {
			VirtualTime time = context.getBean(VirtualTime.class);
			Instant start = time.now();
			for (Instant tooFar : List.of(start.plus(Duration.ofDays(300 * 365)), Instant.MAX)) {
				assertThatIllegalArgumentException().isThrownBy(() -> time.advanceTo(tooFar))
					.withMessageContaining("200 years");
			}
			for (Instant back : List.of(start.minusNanos(1), Instant.MIN)) {
				assertThatIllegalArgumentException().isThrownBy(() -> time.advanceTo(back))
					.withMessageContaining("cannot go back");
			}
			for (long seconds : new long[] { Long.MIN_VALUE, Long.MAX_VALUE }) {
				assertThatIllegalArgumentException().isThrownBy(() -> time.advance(Duration.ofSeconds(seconds)));
			}
			assertThat(time.now()).isEqualTo(start);
			time.advance(Duration.ofDays(150 * 365));
			time.reset();
			assertThatIllegalArgumentException().isThrownBy(() -> time.advance(Duration.ofDays(51 * 365)))
				.withMessageContaining("together")
				.withMessageContaining("@DirtiesContext");
		});
	}

	@Test
	void anotherThreadCannotMoveOrResetTheTimeMeanwhile() {
		this.context.run((context) -> {
			VirtualTime time = context.getBean(VirtualTime.class);
			List<Throwable> refused = new ArrayList<>();
			context.getBean(DelayedTaskOperations.class).schedule(Duration.ofSeconds(1), () -> {
				refused.add(onAnotherThread(() -> time.advance(Duration.ofSeconds(1))));
				refused.add(onAnotherThread(time::runAll));
				refused.add(onAnotherThread(time::reset));
			});
			time.advance(Duration.ofMinutes(1));
			assertThat(refused).hasSize(3)
				.allSatisfy((error) -> assertThat(error).isInstanceOf(IllegalStateException.class)
					.hasMessageContaining("\"" + Thread.currentThread().getName() + "\" is moving the time"));
		});
	}

	private static Throwable onAnotherThread(ThrowingCallable action) {
		return CompletableFuture.supplyAsync(() -> catchThrowable(action), (task) -> new Thread(task).start()).join();
	}

	static class Forgetful {

		@Delayed("1m")
		public CompletableFuture<Void> forget() {
			return new CompletableFuture<>();
		}

	}

}
