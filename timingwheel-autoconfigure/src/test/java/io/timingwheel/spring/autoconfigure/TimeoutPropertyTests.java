package io.timingwheel.spring.autoconfigure;

import java.time.Duration;
import java.util.Map;
import java.util.function.BiFunction;

import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Properties that replace the limit of a method.
 */
@ExtendWith(OutputCaptureExtension.class)
class TimeoutPropertyTests {

	private static final String LIMITS = "timingwheel.timeout.limits.";

	@AfterEach
	void noInterruptIsLeft() {
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void aPropertyReplacesTheLimitOfOneBean() {
		try (VirtualApplication app = VirtualApplication.of(ScopedQuotes.class, HiddenTypes.class)
			.with(LIMITS + "first.limited=50ms", LIMITS + "first.by-argument=1m10s",
					LIMITS + "scopedQuotes.limited=50ms", LIMITS + "hidden.limited=50ms")
			.with("first", Quotes.class, Quotes::new)
			.with("second", Quotes.class, Quotes::new)) {
			Quotes first = app.context().getBean("first", Quotes.class);
			Quotes second = app.context().getBean("second", Quotes.class);
			assertLimit(app, first::limited, Duration.ofMillis(50));
			assertLimit(app, second::limited, Duration.ofMillis(800));
			assertLimit(app, first::byArgument, Duration.ofSeconds(70));
			assertLimit(app, app.context().getBean("scopedQuotes", Quotes.class)::limited, Duration.ofMillis(50));
			assertLimit(app, app.context().getBean("hidden", Hidden.class)::limited, Duration.ofMillis(50));
			assertThatExceptionOfType(MethodTimeoutException.class)
				.isThrownBy(() -> second.byArgument(app, Duration.ofSeconds(1)));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "the.quote-service_1.byArgument", "[the.quoteService1].byArgument",
			"THE.QUOTESERVICE1.BYARGUMENT", "the.quote-service1.by-argument" })
	void theNamesInPropertiesAreRelaxed(String name) {
		try (VirtualApplication app = VirtualApplication.of()
			.with(LIMITS + name + "=50ms")
			.with("the.quoteService1", Quotes.class, Quotes::new)) {
			assertLimit(app, app.bean(Quotes.class)::byArgument, Duration.ofMillis(50));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "other=any", LIMITS + "first.byArgument=2h", LIMITS + "first.by-argument=2h" })
	void anEnvironmentVariableReplacesALimitAlsoThatOfAnotherSource(String properties) {
		try (VirtualApplication app = VirtualApplication.of()
			.with(properties)
			.withEnvironment(Map.of("TIMINGWHEEL_TIMEOUT_LIMITS_FIRST_BYARGUMENT", "50ms"))
			.with("first", Quotes.class, Quotes::new)) {
			assertLimit(app, app.bean(Quotes.class)::byArgument, Duration.ofMillis(50));
		}
	}

	@Test
	void aPropertyForAnUnknownMethodIsAWarningWithAllNames(CapturedOutput output) {
		try (VirtualApplication app = VirtualApplication.of(Quotes.class)
			.with(LIMITS + "qoutes.limitd=50ms", LIMITS + "quotes.limited=50ms")) {
			app.context();
			assertThat(output).containsOnlyOnce("has no effect")
				.contains(LIMITS + "qoutes.limitd has no effect, because no bean has a method with @Timeout of this"
						+ " name. The names are [quotes.byArgument, quotes.limited]");
		}
	}

	private static void assertLimit(VirtualApplication app, BiFunction<VirtualApplication, Duration, String> method,
			Duration limit) {
		assertThat(method.apply(app, limit.minusNanos(1))).isEqualTo("in time");
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> method.apply(app, limit))
			.satisfies((ex) -> assertThat(ex.getTimeout()).isEqualTo(limit));
	}

	interface Hidden {

		String limited(VirtualApplication app, Duration work);

	}

	static class Quotes implements Hidden {

		@Override
		@Timeout("800ms")
		public String limited(VirtualApplication app, Duration work) {
			app.advance(work);
			return "in time";
		}

		@Timeout(timeoutExpression = "#work.dividedBy(2)")
		public String byArgument(VirtualApplication app, Duration work) {
			app.advance(work);
			return "in time";
		}

	}

	@Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
	static class ScopedQuotes extends Quotes {

	}

	@Configuration(proxyBeanMethods = false)
	static class HiddenTypes {

		@Bean(autowireCandidate = false)
		Hidden hidden() {
			return new Quotes();
		}

	}

}
