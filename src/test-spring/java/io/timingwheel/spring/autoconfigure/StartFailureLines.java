package io.timingwheel.spring.autoconfigure;

import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
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
			.forEach((nested) -> add(type.getSimpleName() + ", " + nested.getSimpleName(), failure(runner, nested)));
	}

	/**
	 * Starts an application that must fail.
	 */
	public void fail(String title, ApplicationContextRunner runner, Class<?>... beans) {
		assertThat(add(title, failure(runner, beans))).as(title).isTrue();
	}

	/**
	 * Starts an application that may fail, and adds to the lines what a user reads, and
	 * whether beans exist by then.
	 */
	void start(String title, ApplicationContextRunner runner, Class<?>... beans) {
		AtomicBoolean beansExist = new AtomicBoolean();
		ApplicationContextRunner probed = runner.withBean("probe", AtomicBoolean.class, () -> {
			beansExist.set(true);
			return beansExist;
		});
		List<String> failure = failure(probed, beans);
		String moment = failure.isEmpty() ? ": starts" : beansExist.get() ? " (seen when beans exist)" : "";
		this.lines.add(title + moment);
		this.lines.addAll(failure);
	}

	private boolean add(String title, List<String> failure) {
		if (!failure.isEmpty()) {
			this.lines.add(title);
			this.lines.addAll(failure);
		}
		return !failure.isEmpty();
	}

	/**
	 * Starts an application.
	 * @return the texts of its failure
	 */
	private static List<String> failure(ApplicationContextRunner runner, Class<?>... beans) {
		List<String> failure = new ArrayList<>();
		ConfigurableApplicationContext[] started = new ConfigurableApplicationContext[1];
		for (Class<?> bean : beans) {
			runner = runner.withUserConfiguration(bean);
		}
		runner.withInitializer((context) -> started[0] = context).run((context) -> {
			Throwable cause = context.getStartupFailure();
			if (cause != null) {
				FailureAnalysis analysis = StartFailures.analyze(started[0], cause);
				add(failure, "", (analysis != null) ? analysis.getDescription()
						: "not analyzed: " + NestedExceptionUtils.getMostSpecificCause(cause));
				add(failure, "-> ", (analysis != null) ? String.valueOf(analysis.getAction()) : "none");
			}
		});
		return failure;
	}

	private static void add(List<String> lines, String mark, String text) {
		text.lines().filter((line) -> !line.isBlank()).forEach((line) -> lines.add("\t" + mark + line.strip()));
	}

}
