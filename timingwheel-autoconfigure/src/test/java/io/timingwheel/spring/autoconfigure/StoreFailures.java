package io.timingwheel.spring.autoconfigure;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.core.env.StandardEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Explains why an application context with a store did not start.
 */
final class StoreFailures {

	private StoreFailures() {
	}

	/**
	 * The message that a user reads about a store that cannot be used.
	 */
	static FailureAnalysis analyze(AssertableApplicationContext context) {
		assertThat(context).hasFailed();
		FailureAnalysis analysis = new UnusableTaskStoreFailureAnalyzer(new StandardEnvironment())
			.analyze(context.getStartupFailure());
		assertThat(analysis).as(() -> String.valueOf(context.getStartupFailure())).isNotNull();
		assertThat(analysis.getDescription()).startsWith("Durable tasks cannot be stored:");
		return analysis;
	}

	/**
	 * The refusal of the value of a property.
	 */
	static InvalidConfigurationPropertyValueException invalidValue(AssertableApplicationContext context) {
		Throwable failure = context.getStartupFailure();
		while (failure != null && !(failure instanceof InvalidConfigurationPropertyValueException)) {
			failure = failure.getCause();
		}
		assertThat(failure).isNotNull();
		return (InvalidConfigurationPropertyValueException) failure;
	}

}
