package io.timingwheel.spring.actuate;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.Measurement;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelMetricsAutoConfiguration;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreMetricsAutoConfiguration;
import io.timingwheel.spring.durable.call.MemoryStore;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

class StoreMetricsTests {

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class, MetricsAutoConfiguration.class,
				TimingWheelAutoConfiguration.class, TimingWheelMetricsAutoConfiguration.class,
				TimingWheelStoreMetricsAutoConfiguration.class, JacksonAutoConfiguration.class,
				TimingWheelStoreAutoConfiguration.class))
		.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
		.withBean("orders", Orders.class);

	@Test
	void readingsOfAllMetersWithinFiveSecondsCountTheStoredTasksOnce() {
		MemoryStore store = new MemoryStore();
		store.insert("of-another-application", "k", "{}");
		this.contextRunner.withBean(MemoryStore.class, () -> store).run((context) -> {
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			long start = System.nanoTime();
			int before = store.countsOfAllNames();
			for (int i = 0; i < 10; i++) {
				assertThat(registry.get("timingwheel.store.unknown").gauge().value()).isOne();
				registry.getMeters().forEach((meter) -> meter.measure().forEach(Measurement::getValue));
			}
			// On a machine that stalls, the readings may take longer.
			long spans = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start) / 5;
			assertThat(store.countsOfAllNames() - before).isLessThanOrEqualTo((int) (1 + spans));
			assertThat(store.countedNames()).isEmpty();
		});
	}

	@Test
	void aDurableMethodThatIsSeenLateHasGauges() {
		this.contextRunner.withBean(MemoryStore.class).run((context) -> {
			context.getAutowireCapableBeanFactory().createBean(Late.class).remind(5);
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			for (String gauge : List.of("overdue", "dead")) {
				assertThat(registry.get("timingwheel.store." + gauge).tag("name", "late").gauge().value()).isZero();
			}
		});
	}

	static class Late {

		@Delayed(delay = "30m", name = "late", durable = true)
		public void remind(long userId) {
		}

	}

	static class Orders {

		@Delayed(delay = "30m", name = "close-order", key = "#orderId")
		public void close(long orderId) {
		}

	}

}
