package io.timingwheel.spring.aop.internal;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.context.support.GenericApplicationContext;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;
import org.springframework.core.env.MapPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class AttributeResolverTests {

	private final GenericApplicationContext context = new GenericApplicationContext();

	private final AttributeResolver resolver;

	AttributeResolverTests() {
		this.context.registerBean(PropertySourcesPlaceholderConfigurer.class);
		this.context.registerBean("limit", Duration.class, () -> Duration.ofSeconds(7));
		this.context.getEnvironment()
			.getPropertySources()
			.addFirst(new MapPropertySource("test", Map.of("window", "30m", "fruit", "banana")));
		this.context.refresh();
		this.resolver = new AttributeResolver(this.context.getBeanFactory());
	}

	@ParameterizedTest
	@CsvSource({ "30s,PT30S", "PT30M,PT30M", "500,PT0.5S", "0,PT0S", "-5s,PT-5S", "' 10m ',PT10M", "${window},PT30M",
			"${window:1s},PT30M", "${absent:1s},PT1S", "#{limit},PT7S", "#{limit.toMillis() * 2},PT14S",
			"#{'3s'},PT3S" })
	void resolvesDurations(String text, Duration expected) {
		assertThat(this.resolver.duration(text)).isEqualTo(expected);
	}

	@Test
	void invalidDurationFailsAndQuotesTheText() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.resolver.duration("banana"))
			.withMessage("\"banana\" is not a duration such as 500ms, 30s, 10m, 2h or PT30M");
		assertThatIllegalArgumentException().isThrownBy(() -> this.resolver.duration("${fruit}"))
			.withMessageStartingWith("\"${fruit}\" gives no duration: \"banana\" is not a duration");
		assertThatIllegalArgumentException().isThrownBy(() -> this.resolver.duration("${absent}"))
			.withMessageStartingWith("\"${absent}\" cannot be resolved: ")
			.withMessageContaining("'absent'");
		assertThatIllegalArgumentException().isThrownBy(() -> this.resolver.duration("#{nothing}"))
			.withMessageStartingWith("\"#{nothing}\" cannot be resolved: ");
		assertThatIllegalArgumentException().isThrownBy(() -> this.resolver.duration("#{1 +}"))
			.withMessageStartingWith("\"#{1 +}\" cannot be resolved: ");
		assertThatIllegalArgumentException().isThrownBy(() -> this.resolver.duration("#{null}"))
			.withMessage("\"#{null}\" gives null");
	}

	@Test
	void convertsNumbersAsMilliseconds() {
		assertThat(AttributeResolver.toDuration(250)).hasMillis(250);
		assertThat(AttributeResolver.toDuration(0.25)).hasNanos(250_000);
		assertThat(AttributeResolver.toDuration(new BigDecimal("1500.5"))).isEqualTo(Duration.parse("PT1.5005S"));
		assertThat(AttributeResolver.toDuration(Long.MAX_VALUE)).isEqualTo(Duration.ofMillis(Long.MAX_VALUE));
	}

	@Test
	void rejectsOtherTypesAndNull() {
		assertThatIllegalArgumentException().isThrownBy(() -> AttributeResolver.toDuration(Double.NaN))
			.withMessage("NaN is not a number of milliseconds");
		assertThatIllegalArgumentException().isThrownBy(() -> AttributeResolver.toDuration(1e300));
		assertThatIllegalArgumentException().isThrownBy(() -> AttributeResolver.toDuration(null))
			.withMessage("null is no duration");
		assertThatIllegalArgumentException().isThrownBy(() -> AttributeResolver.toDuration(Instant.EPOCH))
			.withMessageStartingWith("a java.time.Instant is neither");
	}

}
