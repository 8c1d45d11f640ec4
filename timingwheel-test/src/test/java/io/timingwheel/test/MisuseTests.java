package io.timingwheel.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;

class MisuseTests {

	private final ApplicationContextRunner context = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(TimingWheelAutoConfiguration.class, VirtualTimeAutoConfiguration.class));

	@Test
	void aContextRunnerHasVirtualTime() {
		this.context.run((context) -> assertThat(context).hasSingleBean(VirtualTime.class));
	}

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
	void aSpanThatIsNegativeOrTooLongIsRefused() {
		this.context.run((context) -> {
			VirtualTime time = context.getBean(VirtualTime.class);
			Instant start = time.now();
			assertThatIllegalArgumentException().isThrownBy(() -> time.advance(Duration.ofSeconds(Long.MIN_VALUE)))
				.withMessageContaining("cannot go back");
			assertThatIllegalArgumentException().isThrownBy(() -> time.advance(Duration.ofDays(300 * 365)))
				.withMessageContaining("2262");
			assertThatIllegalArgumentException().isThrownBy(() -> time.advance(Duration.ofSeconds(Long.MAX_VALUE)))
				.withMessageContaining("2262");
			assertThatIllegalArgumentException().isThrownBy(() -> time.advanceTo(Instant.MAX))
				.withMessageContaining("2262");
			assertThatIllegalArgumentException().isThrownBy(() -> time.advanceTo(Instant.MIN))
				.withMessageContaining("cannot go back");
			assertThat(time.now()).isEqualTo(start);
		});
	}

	@Test
	void twoCenturiesPassInOneTestButNotInTwoOfOneContext() {
		this.context.run((context) -> {
			VirtualTime time = context.getBean(VirtualTime.class);
			DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
			Duration twoCenturies = Duration.ofDays(200 * 365);
			time.advance(twoCenturies);
			DelayedTask<Void> task = tasks.schedule(Duration.ofHours(1), () -> {
			});
			assertThat(task.dueAt()).isEqualTo(time.now().plus(Duration.ofHours(1)));
			time.advance(Duration.ofHours(1));
			assertThat(task).isDone();
			time.reset();
			assertThatIllegalArgumentException().isThrownBy(() -> time.advance(twoCenturies))
				.withMessageContaining("292 years")
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

}
