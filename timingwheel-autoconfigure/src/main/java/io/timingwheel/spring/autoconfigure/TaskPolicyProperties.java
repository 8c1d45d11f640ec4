package io.timingwheel.spring.autoconfigure;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.timingwheel.spring.autoconfigure.internal.PropertyChecks;
import io.timingwheel.spring.task.internal.BackoffSettings;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.StartRate;
import io.timingwheel.spring.task.internal.TaskPolicies;
import io.timingwheel.spring.task.support.RelaxedNames;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * The properties {@code timingwheel.tasks.<name>.*}. A name may hold dots, as
 * {@code bean.method} does. Only the letters and digits of a name count, and not their
 * case.
 */
final class TaskPolicyProperties implements TaskPolicies.Overrides {

	static final String PREFIX = "timingwheel.tasks";

	private static final Log logger = LogFactory.getLog(TaskPolicyProperties.class);

	/** The names of the settings by their uniform forms. */
	private static final Map<String, String> SETTINGS = Stream
		.of("max-attempts", "backoff.initial", "backoff.multiplier", "backoff.max", "backoff.jitter", "max-concurrent",
				"max-concurrent-per-key", "rate", "paused")
		.collect(Collectors.toMap(RelaxedNames::uniform, Function.identity()));

	/** An environment variable separates each word of a setting. */
	private static final int MAX_ELEMENTS = 4;

	/** The names as they are in the properties. */
	private final Set<String> names = new TreeSet<>();

	private final Map<String, PolicySettings> byUniformName = new HashMap<>();

	/**
	 * Reads and checks the properties.
	 * @param environment the source of the properties
	 * @throws InvalidConfigurationPropertyValueException if a value is not valid
	 */
	TaskPolicyProperties(Environment environment) {
		// As texts, because the binder would end the name of a task at its first dot.
		Binder.get(environment)
			.bind(PREFIX, Bindable.mapOf(String.class, String.class))
			.orElse(Map.of())
			.forEach(this::read);
		for (String name : this.names) {
			BackoffSettings backoff = of(name).backoff();
			PropertyChecks.pass(PREFIX + "." + name + ".backoff.max", String.valueOf(backoff.max()),
					(max) -> backoff.checkOrder());
		}
	}

	private void read(String key, String text) {
		String[] elements = key.split("\\.");
		for (int length = Math.min(MAX_ELEMENTS, elements.length - 1); length > 0; length--) {
			int end = elements.length - length;
			String setting = SETTINGS
				.get(RelaxedNames.uniform(String.join("", Arrays.copyOfRange(elements, end, elements.length))));
			if (setting != null) {
				PolicySettings policy = read(PREFIX + "." + key, setting, text);
				String name = String.join(".", Arrays.copyOf(elements, end));
				PropertyChecks.check(name.indexOf('/') < 0, PREFIX + "." + key, text,
						"the name of a task contains no slash");
				this.names.add(name);
				// Sources of higher precedence come first.
				this.byUniformName.merge(RelaxedNames.uniform(name), policy,
						(earlier, later) -> later.overriddenBy(earlier));
				return;
			}
		}
		throw new InvalidConfigurationPropertyValueException(PREFIX + "." + key, text,
				"it must end with the name of a task and one of " + SETTINGS.values().stream().sorted().toList());
	}

	/**
	 * Reads one setting. The policy has only this setting.
	 */
	private static PolicySettings read(String property, String setting, String text) {
		PropertyChecks.check(StringUtils.hasText(text), property, text, "it must not be empty");
		try {
			TimingWheelTaskProperties task = new Binder(
					new MapConfigurationPropertySource(Map.of("task." + setting, text)))
				.bind("task", TimingWheelTaskProperties.class)
				.get();
			return settings(task);
		}
		catch (BindException | IllegalArgumentException ex) {
			throw new InvalidConfigurationPropertyValueException(property, text,
					String.valueOf(NestedExceptionUtils.getMostSpecificCause(ex).getMessage()));
		}
	}

	private static PolicySettings settings(TimingWheelTaskProperties task) {
		TimingWheelTaskProperties.Backoff backoff = task.getBackoff();
		String rate = task.getRate();
		return new PolicySettings(task.getMaxAttempts(),
				new BackoffSettings(backoff.getInitial(), backoff.getMultiplier(), backoff.getMax(),
						backoff.getJitter()),
				task.getMaxConcurrent(), task.getMaxConcurrentPerKey(), (rate != null) ? StartRate.parse(rate) : null,
				task.getPaused());
	}

	@Override
	public PolicySettings of(String name) {
		return this.byUniformName.isEmpty() ? PolicySettings.NONE
				: this.byUniformName.getOrDefault(RelaxedNames.uniform(name), PolicySettings.NONE);
	}

	@Override
	public void checkNames(Set<String> names) {
		for (String name : this.names) {
			if (!RelaxedNames.contains(names, name)) {
				logger.warn(("%s.%s sets the policy of tasks that no method with @Delayed or @Recurring has%s."
						+ " It takes effect only for tasks in memory to which code gives the name. Durable tasks follow the"
						+ " policy of the applications that have the method")
					.formatted(PREFIX, name,
							RelaxedNames.nearest(names, name, 1)
								.stream()
								.map((nearest) -> ". The nearest name is " + nearest)
								.collect(Collectors.joining())));
			}
		}
	}

}
