package io.timingwheel.spring.durable.redis;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
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
			.filter(RedisStoreHints.class::isInstance)
			.forEach((registrar) -> registrar.registerHints(this.hints, getClass().getClassLoader()));
	}

	@Test
	void eachScriptIsInTheImage() throws IOException {
		List<String> files = files();
		assertThat(files).contains("claim.lua", "prelude.lua").hasSize(15);
		for (String file : files) {
			assertThat(this.hints).as(file).matches(RuntimeHintsPredicates.resource().forResource(FOLDER + file));
		}
	}

	@Test
	void theConfigurationOfTheConnectionFactoryCanBeRead() {
		assertThat(this.hints).matches(
				RuntimeHintsPredicates.reflection().onFieldAccess(LettuceConnectionFactory.class, "configuration"));
	}

	/**
	 * All scripts on the class path, in whatever folder.
	 */
	private static List<String> files() throws IOException {
		Resource[] scripts = new PathMatchingResourcePatternResolver()
			.getResources("classpath*:" + FOLDER + "**/*.lua");
		return Arrays.stream(scripts).map(RedisStoreHintsTests::file).toList();
	}

	private static String file(Resource script) {
		String description = script.getDescription().replace('\\', '/').replace("]", "");
		return description.substring(description.lastIndexOf(FOLDER) + FOLDER.length());
	}

}
