package io.timingwheel.spring.autoconfigure;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Explains why an application context did not start.
 */
public final class StartFailures {

	private StartFailures() {
	}

	/**
	 * The message that a user reads about a store that cannot be used.
	 */
	public static FailureAnalysis ofStore(AssertableApplicationContext context) {
		assertThat(context).hasFailed();
		FailureAnalysis analysis = analyze(context.getStartupFailure());
		assertThat(analysis).as(() -> String.valueOf(context.getStartupFailure())).isNotNull();
		assertThat(analysis.getDescription()).startsWith("Durable tasks cannot be stored:");
		return analysis;
	}

	/**
	 * Asks all analyzers that are registered, without the properties of the application.
	 */
	public static @Nullable FailureAnalysis analyze(Throwable failure) {
		return analyze(new GenericApplicationContext(), failure);
	}

	/**
	 * Asks all analyzers that are registered, as Spring Boot does.
	 */
	static @Nullable FailureAnalysis analyze(ConfigurableApplicationContext context, Throwable failure) {
		ArgumentResolver arguments = ArgumentResolver.of(BeanFactory.class, context.getBeanFactory())
			.and(Environment.class, context.getEnvironment());
		FailureHandler ignore = (type, name, ex) -> {
		};
		return SpringFactoriesLoader.forDefaultResourceLocation()
			.load(FailureAnalyzer.class, arguments, ignore)
			.stream()
			.map((analyzer) -> analyzer.analyze(failure))
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	/**
	 * The refusal of the value of a property.
	 */
	public static InvalidConfigurationPropertyValueException invalidValue(AssertableApplicationContext context) {
		Throwable failure = context.getStartupFailure();
		while (failure != null && !(failure instanceof InvalidConfigurationPropertyValueException)) {
			failure = failure.getCause();
		}
		assertThat(failure).isNotNull();
		return (InvalidConfigurationPropertyValueException) failure;
	}

}
