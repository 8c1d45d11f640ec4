package io.timingwheel.spring.autoconfigure;

import java.util.Set;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.DelayedTaskObservationConvention;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint;
import io.timingwheel.spring.actuate.LinkedTraces;
import io.timingwheel.spring.actuate.ObservedTaskExecution;
import io.timingwheel.spring.actuate.TaskTraces;
import io.timingwheel.spring.actuate.TimingWheelEndpoint;
import io.timingwheel.spring.actuate.TimingWheelHealthIndicator;
import io.timingwheel.spring.actuate.TimingWheelMetrics;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.aop.internal.TimeoutMethodRegistry;
import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.micrometer.metrics.MaximumAllowableTagsMeterFilter;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.function.SingletonSupplier;

/**
 * Auto-configuration of what operators see: the actuator endpoints, health, meters, and
 * the observation of task executions. A child context has endpoints and meters of its
 * own, since it has tasks of its own.
 *
 * @since 0.1
 */
@AutoConfiguration(after = TimingWheelAutoConfiguration.class,
		afterName = {
				"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
				"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration" })
@ConditionalOnBean(DelayedTaskRegistry.class)
public final class TimingWheelActuatorAutoConfiguration {

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
	@EnableConfigurationProperties(DelayedTasksEndpointProperties.class)
	static class EndpointConfiguration {

		@Bean
		@ConditionalOnAvailableEndpoint
		@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
		TimingWheelEndpoint timingWheelEndpoint(TimingWheel wheel, DelayedTaskRegistry tasks) {
			return new TimingWheelEndpoint(wheel, tasks);
		}

		/** The console needs it, too. Boot serves it only if it is exposed. */
		@Bean
		@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
		DelayedTasksEndpoint delayedTasksEndpoint(DelayedTaskRegistry tasks, ObjectProvider<StoredTasks> storedTasks,
				DelayedTasksEndpointProperties properties) {
			return new DelayedTasksEndpoint(tasks, storedTasks.getIfAvailable(), properties.showValues(),
					properties.roles());
		}

	}

	/**
	 * Properties of the endpoint {@code delayedtasks}.
	 *
	 * @param showValues When to show the texts of errors, which may hold personal data.
	 * Otherwise the endpoint shows six asterisks.
	 * @param roles Roles that permit a user to see the texts of errors when they are
	 * shown to authorized users only. When empty, all users that are logged in are
	 * authorized.
	 */
	@ConfigurationProperties("management.endpoint.delayedtasks")
	record DelayedTasksEndpointProperties(@DefaultValue("never") Show showValues, @DefaultValue Set<String> roles) {

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ConditionalOnEnabledHealthIndicator.class)
	@ConditionalOnEnabledHealthIndicator("timingwheel")
	static class HealthConfiguration {

		@Bean
		@ConditionalOnMissingBean(name = "timingWheelHealthIndicator")
		TimingWheelHealthIndicator timingWheelHealthIndicator(TimingWheel wheel, TimingWheelProperties properties,
				ObjectProvider<StoredTasks> storedTasks) {
			return new TimingWheelHealthIndicator(wheel, properties.health().maxLag(), storedTasks.getIfAvailable());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ MeterRegistry.class, CompositeMeterRegistryAutoConfiguration.class })
	@ConditionalOnBean(MeterRegistry.class)
	static class MeterConfiguration {

		private static final int MAX_NAMES = 100;

		private static final String HINT = "Further names of tasks have no meters of their own.";

		@Bean
		@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
		TimingWheelMetrics timingWheelMetrics(TimingWheel wheel, DelayedTaskRegistry tasks,
				TimeoutMethodRegistry timeouts, ObjectProvider<StoredTasks> storedTasks) {
			return new TimingWheelMetrics(wheel, tasks, timeouts, storedTasks.getIfAvailable());
		}

		/** An application may make up names at run time. */
		@Bean
		static MeterFilter timingWheelNameFilter() {
			return new MaximumAllowableTagsMeterFilter("timingwheel.", "name", MAX_NAMES, HINT);
		}

		@Bean
		static MeterFilter timingWheelObservedNameFilter() {
			return new MaximumAllowableTagsMeterFilter("timingwheel.task.execution", "code.function", MAX_NAMES, HINT);
		}

		/**
		 * Binds the meters of a child context, since Boot does so only in the context of
		 * the registry.
		 */
		@Bean
		@ConditionalOnMissingBean(value = MeterRegistry.class, search = SearchStrategy.CURRENT)
		SmartInitializingSingleton timingWheelMetersOfChild(MeterRegistry registry, TimingWheelMetrics metrics) {
			return () -> metrics.bindTo(registry);
		}

	}

	/**
	 * The observation is one more {@link TaskExecution.Interceptor}, beside those of the
	 * application. With a tracer, the executions continue the traces of the callers, or
	 * link to them if the tasks are durable.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ObservationRegistry.class)
	@ConditionalOnBean(ObservationRegistry.class)
	static class ObservationConfiguration {

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

}
