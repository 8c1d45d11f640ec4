package io.timingwheel.spring.aop;

import java.time.Duration;
import java.util.function.BiFunction;

import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.internal.TimeoutMethodRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Which limit a method has, by annotation and by property, and with which fallback. A
 * body takes the time that its call says.
 */
class TimeoutTests {

	private static final String LIMITS = "timingwheel.timeout.limits.";

	@RegisterExtension
	static final VirtualApplication app = VirtualApplication
		.of(WholeClass.class, WithFallback.class, ScopedQuotes.class, HiddenFallback.class, Database.class,
				JdbcOrders.class)
		.with("spring.aop.proxy-target-class=false")
		.with("limit", Duration.class, () -> Duration.ofMillis(50));

	@AfterEach
	void noTimerAndNoInterruptIsLeft() {
		assertThat(app.timers()).isZero();
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void theLimitMayComeFromTheClassFromABeanAndFromAnExpression(WholeClass wholeClass) {
		assertLimit(app, wholeClass::plain, "800ms");
		assertLimit(app, wholeClass::packagePrivate, "800ms");
		assertLimit(app, wholeClass::ofBean, "50ms");
		assertLimit(app, wholeClass::byExpression, "50ms");
	}

	private static void assertLimit(VirtualApplication app, BiFunction<VirtualApplication, Duration, String> method,
			String text) {
		Duration limit = DurationFormatterUtils.detectAndParse(text);
		assertThat(method.apply(app, limit.minusNanos(1))).isEqualTo("in time");
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> method.apply(app, limit))
			.satisfies((ex) -> assertThat(ex.getTimeout()).isEqualTo(limit));
	}

	private static String work(VirtualApplication app, Duration duration) {
		app.advance(duration);
		return "in time";
	}

	@Test
	void aPropertyReplacesTheLimitOfOneBean() {
		try (VirtualApplication app = VirtualApplication.of(ScopedQuotes.class)
			.with(LIMITS + "first.limited=50ms", LIMITS + "first.by-argument=1m10s",
					LIMITS + "scopedQuotes.limited=50ms", LIMITS + "hidden.limited=50ms")
			.with("first", Quotes.class, Quotes::new)
			.with("second", Quotes.class, Quotes::new)
			.with("hidden", Limited.class, Quotes::new)) {
			Quotes first = app.context().getBean("first", Quotes.class);
			assertLimit(app, first::limited, "50ms");
			assertLimit(app, app.context().getBean("second", Quotes.class)::limited, "800ms");
			assertLimit(app, first::byArgument, "70s");
			assertLimit(app, app.bean(ScopedQuotes.class)::limited, "50ms");
			assertLimit(app, app.context().getBean("hidden", Limited.class)::limited, "50ms");
		}
	}

	@Test
	void aListenerHearsOnceOfEachTimeoutAlsoThroughAScopedProxy(ScopedQuotes scoped, TimeoutMethodRegistry methods) {
		methods.onTimeout((method) -> app.calls().add(method.getName()));
		assertLimit(app, scoped::limited, "800ms");
		assertThat(app.calls()).containsExactly("limited");
	}

	@Test
	void theFallbackOfAClassIsNotItsOwnFallback(WithFallback service) {
		assertThat(service.plain(Duration.ofSeconds(1))).isEqualTo("fallback");
		assertThatExceptionOfType(MethodTimeoutException.class)
			.isThrownBy(() -> service.instead(Duration.ofSeconds(1)));
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void theFallbackMayBeInTheClassBehindAnInterface(boolean proxyTargetClass) {
		try (VirtualApplication application = VirtualApplication.of(HiddenFallback.class)
			.with("spring.aop.proxy-target-class=" + proxyTargetClass)) {
			assertThat(application.bean(Hidden.class).hidden(application)).isEqualTo("of the class");
		}
	}

	@Test
	void aTimeoutRollsBackBeforeTheFallbackRunsEvenIfTheBodyClearsTheInterrupt(JdbcOrders orders) {
		assertThat(orders.insert(1, Duration.ofMillis(799))).isEqualTo("in time");
		assertThat(orders.insert(2, Duration.ofMillis(800))).isEqualTo("1 orders");
		assertThat(orders.insert(3, Duration.ofMillis(800))).isEqualTo("1 orders");
	}

	@Timeout("800ms")
	static class WholeClass {

		public String plain(VirtualApplication app, Duration work) {
			return work(app, work);
		}

		String packagePrivate(VirtualApplication app, Duration work) {
			return work(app, work);
		}

		@Timeout("#{limit.toMillis()}")
		protected String ofBean(VirtualApplication app, Duration work) {
			return work(app, work);
		}

		@Timeout(timeoutExpression = "@limit")
		public String byExpression(VirtualApplication app, Duration work) {
			return work(app, work);
		}

	}

	interface Limited {

		String limited(VirtualApplication app, Duration work);

	}

	static class Quotes implements Limited {

		@Override
		@Timeout("800ms")
		public String limited(VirtualApplication app, Duration work) {
			return work(app, work);
		}

		@Timeout(timeoutExpression = "#work.dividedBy(2)")
		public String byArgument(VirtualApplication app, Duration work) {
			return work(app, work);
		}

	}

	@Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
	static class ScopedQuotes extends Quotes {

	}

	@Timeout(timeout = "800ms", fallback = "instead")
	static class WithFallback {

		public String plain(Duration work) {
			return work(app, work);
		}

		public String instead(Duration work) {
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
			work(app, Duration.ofSeconds(1));
			return "fallback";
		}

	}

	interface Hidden {

		@Timeout(timeout = "800ms", fallback = "ofClass")
		String hidden(VirtualApplication application);

	}

	static class HiddenFallback implements Hidden {

		private final String text = "of the class";

		@Override
		public String hidden(VirtualApplication application) {
			return work(application, Duration.ofSeconds(1));
		}

		private String ofClass(VirtualApplication application) {
			return this.text;
		}

	}

	static class JdbcOrders {

		private final JdbcTemplate jdbc;

		JdbcOrders(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
			jdbc.execute("create table orders (id int)");
		}

		@Timeout(timeout = "800ms", fallback = "count")
		@Transactional
		public String insert(int id, Duration work) {
			this.jdbc.update("insert into orders values (?)", id);
			work(app, work);
			Thread.interrupted();
			return "in time";
		}

		private String count(int id, Duration work) {
			return this.jdbc.queryForObject("select count(*) from orders", Integer.class) + " orders";
		}

	}

}
