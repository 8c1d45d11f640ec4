package io.timingwheel.spring.actuate;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.timingwheel.spring.task.support.TaskExecution;
import io.timingwheel.spring.task.support.TaskExecutionInterceptor;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;

/**
 * Observes each execution of a delayed task as a child of the observation in which the
 * task was scheduled.
 *
 * <p>
 * The order is 0. Interceptors with a lower order are outside of the observation. All
 * other interceptors are inside of the observation, also those without an order.
 *
 * @since 0.1
 */
public class ObservedTaskExecution implements TaskExecutionInterceptor, Ordered {

	private final DelayedTaskObservationConvention defaultConvention = new DefaultDelayedTaskObservationConvention();

	private final ObservationRegistry registry;

	private final @Nullable DelayedTaskObservationConvention convention;

	/**
	 * Creates an observer.
	 * @param registry the registry
	 * @param convention names the observation; {@code null} for the default
	 */
	public ObservedTaskExecution(ObservationRegistry registry, @Nullable DelayedTaskObservationConvention convention) {
		this.registry = registry;
		this.convention = convention;
	}

	@Override
	public int getOrder() {
		return 0;
	}

	@Override
	public @Nullable Object capture(String name) {
		return this.registry.getCurrentObservation();
	}

	@Override
	public @Nullable Object intercept(TaskExecution execution, @Nullable Object captured) throws Throwable {
		DelayedTaskObservationContext context = new DelayedTaskObservationContext(execution);
		Observation observation = Observation
			.createNotStarted(this.convention, this.defaultConvention, () -> context, this.registry)
			.parentObservation((captured instanceof Observation parent) ? parent : null)
			.start();
		Observation.Scope scope = observation.openScope();
		try {
			Object result = execution.proceed();
			context.setComplete(true);
			return result;
		}
		catch (Throwable ex) {
			observation.error(ex);
			throw ex;
		}
		finally {
			scope.close();
			observation.stop();
		}
	}

}
