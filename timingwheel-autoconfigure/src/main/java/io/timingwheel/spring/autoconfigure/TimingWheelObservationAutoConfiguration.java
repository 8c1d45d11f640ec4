package io.timingwheel.spring.autoconfigure;

import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import io.timingwheel.spring.actuate.DelayedTaskObservationConvention;
import io.timingwheel.spring.actuate.LinkedTraces;
import io.timingwheel.spring.actuate.ObservedTaskExecution;
import io.timingwheel.spring.actuate.TaskTraces;
import io.timingwheel.spring.task.internal.TaskExecutionInterceptor;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.function.SingletonSupplier;

/**
 * Auto-configuration of the observation of task executions. The observation is one more
 * {@link TaskExecutionInterceptor}, beside those of the application. With a tracer, the
 * executions continue the traces of the callers, or link to them if the tasks are
 * durable.
 *
 * @since 0.1
 */
@AutoConfiguration(after = TimingWheelAutoConfiguration.class,
		afterName = "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration")
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnBean({ DelayedTaskRegistry.class, ObservationRegistry.class })
public final class TimingWheelObservationAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	ObservedTaskExecution timingWheelObservedTaskExecution(ObservationRegistry registry,
			ObjectProvider<DelayedTaskObservationConvention> convention, ObjectProvider<TaskTraces> traces) {
		return new ObservedTaskExecution(registry, convention.getIfAvailable(), traces.getIfAvailable());
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(Tracer.class)
	static class TraceConfiguration {

		@Bean
		TaskTraces timingWheelTaskTraces(ObjectProvider<Tracer> tracer) {
			return new TaskTraces(SingletonSupplier.of(() -> tracer.getIfUnique(() -> Tracer.NOOP)));
		}

		@Bean
		LinkedTraces timingWheelLinkedTraces(TaskTraces traces) {
			return new LinkedTraces(traces);
		}

	}

}
