package io.timingwheel.spring.actuate;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;

/**
 * Names the observation {@code timingwheel.task.execution}, with the keys of Spring's
 * {@code tasks.scheduled.execution}. For a task of the template, the function is the name
 * of the task, up to a limit, and there is no namespace.
 *
 * @since 0.1
 */
public class DefaultDelayedTaskObservationConvention implements DelayedTaskObservationConvention {

	private static final int MAX_NAMES = 100;

	private static final String OTHER = "other";

	private final Set<String> names = ConcurrentHashMap.newKeySet();

	private final int maxNames;

	/**
	 * Creates a convention with up to 100 names.
	 */
	public DefaultDelayedTaskObservationConvention() {
		this(MAX_NAMES);
	}

	/**
	 * Creates a convention.
	 * @param maxNames how many names of tasks are used, at least 1. All further names
	 * share the last one, {@code other}
	 */
	public DefaultDelayedTaskObservationConvention(int maxNames) {
		this.maxNames = maxNames;
	}

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
				KeyValue.of("code.function",
						(method != null) ? method.getName() : limited(context.getExecution().name())),
				KeyValue.of("code.namespace",
						(method != null) ? method.getDeclaringClass().getName() : KeyValue.NONE_VALUE),
				KeyValue.of("exception", (error != null) ? error.getClass().getSimpleName() : KeyValue.NONE_VALUE),
				KeyValue.of("outcome", (error != null) ? "ERROR" : context.isComplete() ? "SUCCESS" : "UNKNOWN"));
	}

	/**
	 * Limits the number of names, since an application may make up names at run time.
	 */
	private String limited(String name) {
		return (this.names.contains(name) || add(name)) ? name : OTHER;
	}

	private synchronized boolean add(String name) {
		return this.names.contains(name) || (this.names.size() < this.maxNames - 1 && this.names.add(name));
	}

}
