package io.timingwheel.spring.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.core.env.Environment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;

import static org.assertj.core.api.Assertions.assertThat;

/** Starts applications that fail, and collects what a user reads then. */
public final class StartFailureLines {

	private final List<String> lines = new ArrayList<>();

	public List<String> lines() {
		return this.lines;
	}

	/** Starts an application that must fail. */
	public void fail(String title, ApplicationContextRunner runner, Class<?>... beans) {
		this.lines.add(title);
		List<String> failure = failure(runner, beans);
		assertThat(failure).as(title).isNotEmpty();
		this.lines.addAll(failure);
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

	private static List<String> failure(ApplicationContextRunner runner, Class<?>... beans) {
		List<String> failure = new ArrayList<>();
		ConfigurableApplicationContext[] started = new ConfigurableApplicationContext[1];
		for (Class<?> bean : beans) {
			runner = runner.withUserConfiguration(bean);
		}
		runner.withInitializer((context) -> started[0] = context).run((context) -> {
			Throwable cause = context.getStartupFailure();
			if (cause != null) {
				FailureAnalysis analysis = analyze(started[0], cause);
				add(failure, "", (analysis != null) ? analysis.getDescription()
						: "not analyzed: " + NestedExceptionUtils.getMostSpecificCause(cause));
				add(failure, "-> ", (analysis != null) ? String.valueOf(analysis.getAction()) : "none");
			}
		});
		return failure;
	}

	/** Asks all analyzers as Spring Boot does, with a class path that has its own ones first. */
	private static @Nullable FailureAnalysis analyze(ConfigurableApplicationContext context, Throwable failure) {
		ArgumentResolver arguments = ArgumentResolver.of(BeanFactory.class, context.getBeanFactory())
			.and(Environment.class, context.getEnvironment());
		FailureHandler ignore = (type, name, ex) -> {
		};
		return SpringFactoriesLoader.forDefaultResourceLocation()
			.load(FailureAnalyzer.class, arguments, ignore)
			.stream()
			// It needs Jakarta Validation.
			.filter((analyzer) -> !analyzer.getClass().getSimpleName().startsWith("ValidationException"))
			.sorted(AnnotationAwareOrderComparator.INSTANCE
				.thenComparing((analyzer) -> analyzer.getClass().getName().startsWith("io.timingwheel")))
			.map((analyzer) -> analyzer.analyze(failure))
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	private static void add(List<String> lines, String mark, String text) {
		text.lines().filter((line) -> !line.isBlank()).forEach((line) -> lines.add("\t" + mark + line.strip()));
	}

}
