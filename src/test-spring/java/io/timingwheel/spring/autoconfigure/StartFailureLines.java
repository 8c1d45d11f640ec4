package io.timingwheel.spring.autoconfigure;

import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Starts applications that fail, and collects what a user reads then.
 */
public final class StartFailureLines {

	private final List<String> lines = new ArrayList<>();

	public List<String> lines() {
		return this.lines;
	}

	/**
	 * Starts an application with each class that is nested in a test. Some can start.
	 * Records are values of these classes.
	 */
	public void tryAll(ApplicationContextRunner runner, String test) {
		Class<?> type = ClassUtils.resolveClassName(test, null);
		Stream.of(type.getDeclaredClasses())
			.filter((nested) -> !Modifier.isAbstract(nested.getModifiers()) && !nested.isRecord())
			.sorted(Comparator.comparing(Class::getName))
			.forEach((nested) -> start(type.getSimpleName() + ", " + nested.getSimpleName(), runner, nested));
	}

	/**
	 * Starts an application that must fail.
	 */
	public void fail(String title, ApplicationContextRunner runner, Class<?>... beans) {
		assertThat(start(title, runner, beans)).as(title).isTrue();
	}

	/**
	 * Starts an application, and adds the texts of its failure to the lines.
	 * @return whether it has failed
	 */
	private boolean start(String title, ApplicationContextRunner runner, Class<?>... beans) {
		List<String> failure = new ArrayList<>();
		ConfigurableApplicationContext[] started = new ConfigurableApplicationContext[1];
		for (Class<?> bean : beans) {
			runner = runner.withUserConfiguration(bean);
		}
		runner.withInitializer((context) -> started[0] = context).run((context) -> {
			Throwable cause = context.getStartupFailure();
			if (cause != null) {
				FailureAnalysis analysis = StartFailures.analyze(started[0], cause);
				failure.add(title);
				add(failure, "", (analysis != null) ? analysis.getDescription()
						: "not analyzed: " + NestedExceptionUtils.getMostSpecificCause(cause));
				add(failure, "-> ", (analysis != null) ? String.valueOf(analysis.getAction()) : "none");
			}
		});
		this.lines.addAll(failure);
		return !failure.isEmpty();
	}

	private static void add(List<String> lines, String mark, String text) {
		text.lines().filter((line) -> !line.isBlank()).forEach((line) -> lines.add("\t" + mark + line.strip()));
	}

}
