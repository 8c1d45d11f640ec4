package io.timingwheel.spring.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.timingwheel.spring.autoconfigure.internal.PropertyChecks;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.TaskPolicies;

import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.BindableRuntimeHintsRegistrar;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.core.env.Environment;

/** The properties {@code timingwheel.tasks.<name>.*}. */
final class TaskPolicyProperties implements TaskPolicies.Overrides {

	private static final String PREFIX = "timingwheel.tasks";

	private static final Bindable<Map<String, TimingWheelTaskProperties>> TASKS = Bindable.mapOf(String.class,
			TimingWheelTaskProperties.class);

	private final NamedSettings<PolicySettings> policies;

	TaskPolicyProperties(Environment environment) {
		Map<String, PolicySettings> policies = new LinkedHashMap<>();
		bind(environment).forEach((name, task) -> {
			PropertyChecks.check(name.indexOf('/') < 0, PREFIX + "." + name, task,
					"the name of a task contains no slash");
			policies.put(name, task.settings(PREFIX + "." + name + "."));
		});
		this.policies = new NamedSettings<>(policies, (earlier, later) -> later.overriddenBy(earlier));
	}

	/**
	 * Refuses settings that a policy does not have: a misspelt limit, or a name with a
	 * dot that does not stand in brackets, would have no effect.
	 */
	private static Map<String, TimingWheelTaskProperties> bind(Environment environment) {
		BindHandler strict = new NoUnboundElementsBindHandler(BindHandler.DEFAULT, new UnboundElementsSourceFilter());
		try {
			return Binder.get(environment).bind(PREFIX, TASKS, strict).orElse(Map.of());
		}
		catch (BindException ex) {
			if (!(ex.getCause() instanceof UnboundConfigurationPropertiesException unbound)) {
				throw ex;
			}
			ConfigurationProperty first = unbound.getUnboundProperties().iterator().next();
			throw new InvalidConfigurationPropertyValueException(first.getName().toString(), first.getValue(),
					"a policy has no such setting. It has max-attempts, backoff.initial, backoff.multiplier, backoff.max,"
							+ " backoff.jitter, max-concurrent, max-concurrent-per-key, rate and paused. A name with dots"
							+ " stands in brackets: timingwheel.tasks.[orders.close].rate");
		}
	}

	@Override
	public PolicySettings of(String name) {
		return Objects.requireNonNullElse(this.policies.find(name), PolicySettings.NONE);
	}

	@Override
	public void checkNames(Set<String> names) {
		this.policies.warnOfUnknown(names, PREFIX
				+ ".%s sets the policy of tasks that no method with @Delayed or @Recurring has. The names are %s. It takes effect"
				+ " only for tasks in memory to which code gives the name. Durable tasks follow the policy of"
				+ " the applications that have the method");
	}

	static final class Hints extends BindableRuntimeHintsRegistrar {

		Hints() {
			super(TimingWheelTaskProperties.class);
		}

	}

}
