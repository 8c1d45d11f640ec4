package io.timingwheel.spring.durable.autoconfigure;

import java.util.Objects;
import java.util.stream.StreamSupport;

import io.timingwheel.spring.autoconfigure.internal.StoreType;
import io.timingwheel.spring.durable.store.UnusableTaskStoreException;

import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/** Explains why durable tasks cannot be stored, and where the store is chosen. */
class UnusableTaskStoreFailureAnalyzer extends AbstractFailureAnalyzer<UnusableTaskStoreException> {

	private static final ConfigurationPropertyName TYPE = ConfigurationPropertyName.of(StoreType.PROPERTY);

	private final Environment environment;

	UnusableTaskStoreFailureAnalyzer(Environment environment) {
		this.environment = environment;
	}

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, UnusableTaskStoreException cause) {
		String description = "Durable tasks cannot be stored:%n%n    %s.%s"
			.formatted(StringUtils.capitalize(cause.getProblem()), type());
		return new FailureAnalysis(description, StringUtils.capitalize(cause.getRemedy()) + ".", cause);
	}

	private String type() {
		return StreamSupport.stream(ConfigurationPropertySources.get(this.environment).spliterator(), false)
			.map((source) -> source.getConfigurationProperty(TYPE))
			.filter(Objects::nonNull)
			.findFirst()
			.map((property) -> "%n%nThe property '%s' is '%s' (originating from %s).".formatted(TYPE,
					property.getValue(), property.getOrigin()))
			.orElse("");
	}

}
