package io.timingwheel.spring.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.timingwheel.spring.autoconfigure.internal.PropertyChecks;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.TaskPolicies;

/**
 * The properties {@code timingwheel.tasks.<name>.*}.
 */
final class TaskPolicyProperties implements TaskPolicies.Overrides {

	private static final String PREFIX = "timingwheel.tasks.";

	private final NamedSettings<PolicySettings> policies;

	TaskPolicyProperties(Map<String, TimingWheelTaskProperties> tasks) {
		Map<String, PolicySettings> policies = new LinkedHashMap<>();
		tasks.forEach((name, task) -> {
			PropertyChecks.check(name.indexOf('/') < 0, PREFIX + name, task, "the name of a task contains no slash");
			policies.put(name, task.settings(PREFIX + name + "."));
		});
		this.policies = new NamedSettings<>(policies, (earlier, later) -> later.overriddenBy(earlier));
	}

	@Override
	public PolicySettings of(String name) {
		return Objects.requireNonNullElse(this.policies.find(name), PolicySettings.NONE);
	}

	@Override
	public void checkNames(Set<String> names) {
		this.policies.warnOfUnknown(names,
				PREFIX + "%s sets the policy of tasks that no method with @Delayed or @Recurring has%s. It takes effect"
						+ " only for tasks in memory to which code gives the name. Durable tasks follow the policy of"
						+ " the applications that have the method");
	}

}
