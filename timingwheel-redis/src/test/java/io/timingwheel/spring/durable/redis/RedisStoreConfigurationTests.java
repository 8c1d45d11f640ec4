package io.timingwheel.spring.durable.redis;

import java.util.Locale;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.redis.autoconfigure.TimingWheelRedisStoreAutoConfiguration;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/**
 * When there is a store, and the hints that it gets in a native image. What stops the
 * start is in the approved files.
 */
class RedisStoreConfigurationTests {

	private static final String FOLDER = "io/timingwheel/spring/durable/redis/";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(TimingWheelRedisStoreAutoConfiguration.class, DataRedisAutoConfiguration.class))
		.withPropertyValues("timingwheel.store.type=redis");

	@Test
	void isThereIfTheTypeNamesItAndTheApplicationHasNone() {
		this.runner.run((context) -> assertThat(context).hasSingleBean(RedisDelayedTaskStore.class));
		for (String property : new String[] { "timingwheel.store.type=none", "timingwheel.enabled=false" }) {
			this.runner.withPropertyValues(property)
				.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(DelayedTaskStore.class));
		}
		this.runner.withBean("mine", DelayedTaskStore.class, () -> mock(DelayedTaskStore.class))
			.run((context) -> assertThat(context).hasSingleBean(DelayedTaskStore.class)
				.doesNotHaveBean(RedisDelayedTaskStore.class));
	}

	@Test
	void aNativeImageHasEachScriptAndReadsTheConfigurationOfTheConnectionFactory() {
		RuntimeHints hints = new RuntimeHints();
		SpringFactoriesLoader.forResourceLocation("META-INF/spring/aot.factories")
			.load(RuntimeHintsRegistrar.class)
			.stream()
			.filter(StoreConnection.Hints.class::isInstance)
			.forEach((registrar) -> registrar.registerHints(hints, getClass().getClassLoader()));
		Stream<String> scripts = Stream.of(Script.values()).map((script) -> script.name().toLowerCase(Locale.ROOT));
		assertThat(Stream.concat(scripts, Stream.of("prelude"))).allSatisfy((name) -> assertThat(hints)
			.matches(RuntimeHintsPredicates.resource().forResource(FOLDER + name + ".lua")));
		assertThat(hints).matches(
				RuntimeHintsPredicates.reflection().onFieldAccess(LettuceConnectionFactory.class, "configuration"));
	}

}
