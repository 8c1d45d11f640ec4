package io.timingwheel.spring.autoconfigure.internal;

import java.util.Objects;
import java.util.stream.StreamSupport;

import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * Explains why durable tasks cannot be stored, and says where
 * {@code timingwheel.store.type} is set.
 *
 * @param <T> the type of the failure
 * @since 0.1
 */
public abstract class AbstractStoreFailureAnalyzer<T extends Throwable> extends AbstractFailureAnalyzer<T> {

	private static final ConfigurationPropertyName TYPE = ConfigurationPropertyName.of(StoreType.PROPERTY);

	private final Environment environment;

	protected AbstractStoreFailureAnalyzer(Environment environment) {
		this.environment = environment;
	}

	/**
	 * Explains a failure by a problem and a remedy, both without a capital letter and a
	 * full stop.
	 */
	protected final FailureAnalysis analysis(String problem, String remedy, T cause) {
		String description = "Durable tasks cannot be stored:%n%n    %s.%s".formatted(StringUtils.capitalize(problem),
				type());
		return new FailureAnalysis(description, StringUtils.capitalize(remedy) + ".", cause);
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
