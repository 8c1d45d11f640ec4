package io.timingwheel.spring.aop.delayed;

import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.durable.PayloadMigration;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.jdbc.autoconfigure.TimingWheelJdbcStoreAutoConfiguration;
import io.timingwheel.spring.task.DelayedTaskContext;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Two releases of an application run side by side on one database, and the signature of a
 * durable method differs between them.
 */
@ExtendWith(OutputCaptureExtension.class)
class TwoReleasesTests {

	private static final String NAME = "close-order";

	private final String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";

	private final Runs runs = new Runs(new LinkedBlockingQueue<>());

	private final ApplicationContextRunner first = release().withBean(FirstRelease.class, this.runs);

	private final ApplicationContextRunner added = release().withBean(ParameterAdded.class, this.runs);

	private final ApplicationContextRunner changed = release().withBean(ParametersChanged.class, this.runs)
		.withBean(OrderMigration.class);

	@Test
	void theNewReleaseReadsPayloadsOfTheOldOneWithADefault() {
		this.first.run((old) -> this.added.run((next) -> {
			tasks(old).node().pause();
			old.getBean(FirstRelease.class).close(7);
			assertThat(take()).isEqualTo("added 7 null, attempt 1");
			awaitNothingStored(next);
		}));
	}

	@Test
	void theOldReleaseLeavesPayloadsOfTheNewOneToIt() {
		this.first.run((old) -> this.added.run((next) -> {
			tasks(next).node().pause();
			next.getBean(ParameterAdded.class).close(7, "unpaid");
			awaitFailure(old);
			tasks(next).node().resume();
			assertThat(take()).startsWith("added 7 unpaid, attempt ");
			awaitNothingStored(next);
		}));
	}

	@Test
	void aMigrationReadsPayloadsOfTheOldRelease() {
		this.first.run((old) -> this.changed.run((next) -> {
			tasks(old).node().pause();
			old.getBean(FirstRelease.class).close(7);
			assertThat(take()).isEqualTo("changed order-7 0, attempt 1");
			awaitNothingStored(next);
		}));
	}

	@Test
	void aMigrationWithoutAMethodIsNamedAtTheStart(CapturedOutput output) {
		release().withBean(OrderMigration.class).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("The PayloadMigration for \"close-order\" is never called");
	}

	private ApplicationContextRunner release() {
		return DelayedContexts.realTimeRunner()
			.withConfiguration(AutoConfigurations.of(JacksonAutoConfiguration.class, DataSourceAutoConfiguration.class,
					TimingWheelJdbcStoreAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class))
			.withPropertyValues("timingwheel.store.type=jdbc", "spring.datasource.url=" + this.url,
					"timingwheel.store.poll-interval=20ms", "timingwheel.store.backoff.initial=10ms");
	}

	private static StoredTasks tasks(ApplicationContext context) {
		return context.getBean(StoredTasks.class);
	}

	private static void awaitFailure(ApplicationContext context) {
		await().until(() -> DelayedContexts.counts(context, NAME).failed() > 0);
	}

	/**
	 * Waits until no task is stored, not even a dead one.
	 */
	private static void awaitNothingStored(ApplicationContext context) {
		await().untilAsserted(() -> {
			assertThat(tasks(context).dead(NAME, 100)).isEmpty();
			assertThat(tasks(context).pending(NAME, null, 100)).isEmpty();
			assertThat(tasks(context).node().inFlight()).isZero();
		});
	}

	private String take() throws InterruptedException {
		return this.runs.events().poll(60, TimeUnit.SECONDS);
	}

	record Runs(BlockingQueue<String> events) {

		void add(String event) {
			this.events.add(event + ", attempt " + DelayedTaskContext.current().orElseThrow().attempt());
		}

	}

	static class FirstRelease {

		private final Runs runs;

		FirstRelease(Runs runs) {
			this.runs = runs;
		}

		@Delayed(delay = "1ms", name = NAME, durable = true)
		public void close(long id) {
			this.runs.add("first " + id);
		}

	}

	static class ParameterAdded {

		private final Runs runs;

		ParameterAdded(Runs runs) {
			this.runs = runs;
		}

		@Delayed(delay = "1ms", name = NAME, durable = true)
		public void close(long id, @Nullable String reason) {
			this.runs.add("added " + id + " " + reason);
		}

	}

	static class ParametersChanged {

		private final Runs runs;

		ParametersChanged(Runs runs) {
			this.runs = runs;
		}

		@Delayed(delay = "1ms", name = NAME, durable = true)
		public void close(String code, int fee) {
			this.runs.add("changed " + code + " " + fee);
		}

	}

	static class OrderMigration implements PayloadMigration {

		@Override
		public String taskName() {
			return NAME;
		}

		@Override
		public String migrate(int arity, String arguments) {
			if (arity != 1) {
				throw new IllegalArgumentException("unknown signature");
			}
			return "[\"order-" + arguments.substring(1, arguments.length() - 1) + "\", 0]";
		}

	}

}
