package io.timingwheel.spring.aop.delayed;

import java.time.Duration;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskCounts;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Application contexts whose wheel is on virtual time, while bodies run on executors. */
public final class DelayedContexts {

	private DelayedContexts() {
	}

	static ApplicationContextRunner runner(Class<?>... configurations) {
		return realTimeRunner(configurations).withUserConfiguration(VirtualTime.class);
	}

	static ApplicationContextRunner realTimeRunner(Class<?>... configurations) {
		return new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class, AopAutoConfiguration.class,
							TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class))
			.withUserConfiguration(configurations);
	}

	static void advance(BeanFactory context, Duration by) {
		context.getBean(ManualTimeSource.class).advance(by);
	}

	/** Waits until all tasks that were handed over have ended. */
	static void awaitIdle(BeanFactory context) {
		DelayedTaskRegistry tasks = context.getBean(DelayedTaskRegistry.class);
		TimingWheel wheel = context.getBean(TimingWheel.class);
		await().untilAsserted(() -> {
			assertThat(tasks.pendingCount()).isEqualTo(wheel.pending());
			assertThat(tasks.runningCount()).isZero();
		});
	}

	static TaskCounts counts(BeanFactory context, String name) {
		DelayedTaskRegistry tasks = context.getBean(DelayedTaskRegistry.class);
		assertThat(tasks.names()).contains(name);
		return tasks.counts(name);
	}

	static long pending(BeanFactory context) {
		return context.getBean(DelayedTaskRegistry.class).pendingCount();
	}

	@Configuration(proxyBeanMethods = false)
	public static class VirtualTime {

		@Bean
		ManualTimeSource time() {
			return new ManualTimeSource();
		}

		@Bean
		TimingWheelBuilderCustomizer timeCustomizer(ManualTimeSource time) {
			return (builder) -> builder.timeSource(time);
		}

	}

}
