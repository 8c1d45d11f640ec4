package io.timingwheel.spring.durable.redis;

import java.util.Locale;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The hints that a native image gets for the store.
 */
class RedisStoreHintsTests {

	private static final String FOLDER = "io/timingwheel/spring/durable/redis/";

	private final RuntimeHints hints = new RuntimeHints();

	RedisStoreHintsTests() {
		SpringFactoriesLoader.forResourceLocation("META-INF/spring/aot.factories")
			.load(RuntimeHintsRegistrar.class)
			.stream()
			.filter(StoreConnection.Hints.class::isInstance)
			.forEach((registrar) -> registrar.registerHints(this.hints, getClass().getClassLoader()));
	}

	@Test
	void eachScriptIsInTheImage() {
		Stream<String> scripts = Stream.of(Script.values()).map((script) -> script.name().toLowerCase(Locale.ROOT));
		assertThat(Stream.concat(scripts, Stream.of("prelude"))).allSatisfy((name) -> assertThat(this.hints)
			.matches(RuntimeHintsPredicates.resource().forResource(FOLDER + name + ".lua")));
	}

	@Test
	void theConfigurationOfTheConnectionFactoryCanBeRead() {
		assertThat(this.hints).matches(
				RuntimeHintsPredicates.reflection().onFieldAccess(LettuceConnectionFactory.class, "configuration"));
	}

}
