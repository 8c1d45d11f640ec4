package io.timingwheel.spring.actuate;

import java.lang.reflect.Method;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;

/**
 * Names the observation {@code timingwheel.task.execution}, with the keys of Spring's
 * {@code tasks.scheduled.execution}. For a task of the template, the function is the name
 * of the task, and there is no namespace.
 *
 * @since 0.1
 */
public class DefaultDelayedTaskObservationConvention implements DelayedTaskObservationConvention {

	@Override
	public String getName() {
		return "timingwheel.task.execution";
	}

	@Override
	public String getContextualName(DelayedTaskObservationContext context) {
		return "task " + context.getExecution().name();
	}

	@Override
	public KeyValues getLowCardinalityKeyValues(DelayedTaskObservationContext context) {
		Method method = context.getExecution().method();
		Throwable error = context.getError();
		return KeyValues.of(
				KeyValue.of("code.function", (method != null) ? method.getName() : context.getExecution().name()),
				KeyValue.of("code.namespace",
						(method != null) ? method.getDeclaringClass().getName() : KeyValue.NONE_VALUE),
				KeyValue.of("exception", (error != null) ? error.getClass().getSimpleName() : KeyValue.NONE_VALUE),
				KeyValue.of("outcome", (error != null) ? "ERROR" : context.isComplete() ? "SUCCESS" : "UNKNOWN"));
	}

}
