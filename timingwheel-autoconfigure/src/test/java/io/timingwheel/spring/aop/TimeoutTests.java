package io.timingwheel.spring.aop;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.Function;
import java.util.function.Supplier;

import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.internal.timeout.TimeoutMethodRegistry;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Which limit a method has, and with which fallback. A body takes the time that its call
 * says.
 */
@ExtendWith(OutputCaptureExtension.class)
class TimeoutTests {

	@RegisterExtension
	static final VirtualApplication app = VirtualApplication
		.of(Quotes.class, DefaultRates.class, PatientRates.class, WholeClass.class, WithFallback.class,
				ScopedQuotes.class, HiddenFallback.class, TaskSupplier.class, OwnLoader.class, InheritedLoader.class,
				Database.class, JdbcOrders.class)
		.with("spring.aop.proxy-target-class=false")
		.with("lambda", Loader.class, () -> () -> new FutureTask<>(() -> "never runs"))
		.with("policy", Policy.class, Policy::new);

	@AfterEach
	void noTimerAndNoInterruptIsLeft() {
		assertThat(app.timers()).isZero();
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void theLimitIsThatOfTheNearestAnnotation(WholeClass wholeClass) {
		Quotes quotes = app.context().getBean("quotes", Quotes.class);
		assertLimit(quotes::limited, "800ms");
		assertLimit(app.context().getBean("defaultRates", Rates.class)::rate, "800ms");
		assertLimit(app.context().getBean("patientRates", Rates.class)::rate, "5s");
		assertLimit(wholeClass::plain, "800ms");
		assertLimit(wholeClass::own, "5s");
		assertLimit(wholeClass::packagePrivate, "800ms");
		assertLimit(quotes::ofBean, "50ms");
		assertLimit(quotes::byExpression, "50ms");
	}

	private static void assertLimit(Function<Duration, ?> method, String text) {
		Duration limit = DurationFormatterUtils.detectAndParse(text);
		assertThat(method.apply(limit.minusNanos(1))).isEqualTo("in time");
		assertTimesOut(() -> method.apply(limit));
	}

	private static void assertTimesOut(ThrowingCallable call) {
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(call);
	}

	private static String work(Duration duration) {
		app.advance(duration);
		return "in time";
	}

	@Test
	void aListenerHearsOnceOfEachTimeoutAlsoThroughAScopedProxy(ScopedQuotes scoped, TimeoutMethodRegistry methods) {
		methods.onTimeout((method) -> app.calls().add(method.getDeclaringClass().getSimpleName()));
		assertTimesOut(() -> app.context().getBean("defaultRates", Rates.class).rate(Duration.ofSeconds(1)));
		assertTimesOut(() -> scoped.limited(Duration.ofSeconds(1)));
		assertThat(app.calls()).containsExactly("DefaultRates", "Quotes");
	}

	@Test
	void theAnnotationOfAClassCannotLimitAFinalMethodAndSaysSo(CapturedOutput output) {
		VirtualApplication.of(WholeClass.class).context().close();
		assertThat(output).containsOnlyOnce("The @Timeout of " + WholeClass.class.getName()
				+ " does not limit isFinal(). A proxy cannot intercept a final method");
	}

	@Test
	void theFallbackOfAClassIsNotItsOwnFallback(WithFallback service) {
		assertThat(service.plain(Duration.ofSeconds(1))).isEqualTo("fallback");
		assertTimesOut(() -> service.instead(Duration.ofSeconds(1)));
	}

	@ParameterizedTest
	@ValueSource(strings = { "true", "false" })
	void theFallbackMayBeInTheClassBehindAnInterface(String proxyTargetClass) {
		try (VirtualApplication application = VirtualApplication.of(HiddenFallback.class)
			.with("spring.aop.proxy-target-class=" + proxyTargetClass)) {
			assertThat(application.bean(Hidden.class).hidden(application)).isEqualTo("of the class");
		}
	}

	@Test
	void aTimeoutRollsBackBeforeTheFallbackRunsEvenIfTheBodyClearsTheInterrupt(Orders orders) {
		JdbcTemplate jdbc = app.bean(JdbcTemplate.class);
		assertThat(orders.insert(1, Duration.ofMillis(799))).isEqualTo("in time");
		assertThat(orders.insert(2, Duration.ofMillis(800))).isEqualTo("1 orders");
		assertThat(orders.insert(3, Duration.ofMillis(800))).isEqualTo("1 orders");
		assertThat(jdbc.queryForList("select id from orders", Integer.class)).containsExactly(1);
	}

	@Test
	@SuppressWarnings("unchecked")
	void aCallerOfAGenericInterfaceGetsTheTypeThatItExpects() {
		FutureTask<String> future = (FutureTask<String>) app.bean(Supplier.class).get();
		FutureTask<String> unknown = TimeoutTests.<FutureTask<String>>loader("lambda").load();
		Own special = TimeoutTests.<Own>loader("ownLoader").load();
		CompletableFuture<String> completable = TimeoutTests.<CompletableFuture<String>>loader("inheritedLoader")
			.load();
		app.advanceSeconds(1);
		assertThat(future).isCancelled();
		assertThat(unknown).isCancelled();
		assertThat(special).isCompletedExceptionally();
		assertThat(completable).isCompletedExceptionally();
	}

	@SuppressWarnings("unchecked")
	private static <T> Loader<T> loader(String name) {
		return app.context().getBean(name, Loader.class);
	}

	static class Policy {

		public Duration getDuration() {
			return Duration.ofMillis(50);
		}

	}

	static class Quotes {

		@Timeout("800ms")
		public String limited(Duration work) {
			return work(work);
		}

		@Timeout("#{policy.duration}")
		public String ofBean(Duration work) {
			return work(work);
		}

		@Timeout(timeoutExpression = "@policy.duration")
		public String byExpression(Duration work) {
			return work(work);
		}

	}

	@Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
	static class ScopedQuotes extends Quotes {

	}

	interface Rates {

		@Timeout("800ms")
		String rate(Duration work);

	}

	static class DefaultRates implements Rates {

		@Override
		public String rate(Duration work) {
			return work(work);
		}

	}

	static class PatientRates implements Rates {

		@Override
		@Timeout("5s")
		public String rate(Duration work) {
			return work(work);
		}

	}

	@Timeout("800ms")
	static class WholeClass {

		public String plain(Duration work) {
			return work(work);
		}

		@Timeout("5s")
		public String own(Duration work) {
			return work(work);
		}

		public final boolean isFinal() {
			return true;
		}

		String packagePrivate(Duration work) {
			return work(work);
		}

	}

	@Timeout(timeout = "800ms", fallback = "instead")
	static class WithFallback {

		public String plain(Duration work) {
			return work(work);
		}

		public String instead(Duration work) {
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
			work(Duration.ofSeconds(1));
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
			application.advance(Duration.ofSeconds(1));
			return "late";
		}

		private String ofClass(VirtualApplication application) {
			return this.text;
		}

	}

	interface Loader<T> {

		@Timeout("800ms")
		T load();

	}

	static class Own extends CompletableFuture<String> {

	}

	static class OwnLoader implements Loader<Own> {

		@Override
		public Own load() {
			return new Own();
		}

	}

	static class TaskSupplier implements Supplier<FutureTask<String>> {

		@Override
		@Timeout("800ms")
		public FutureTask<String> get() {
			return new FutureTask<>(() -> "never runs");
		}

	}

	abstract static class AbstractLoader<T extends Future<String>> implements Loader<T> {

		@Override
		@SuppressWarnings("unchecked")
		public T load() {
			return (T) new CompletableFuture<String>();
		}

	}

	static class InheritedLoader extends AbstractLoader<CompletableFuture<String>> {

	}

	interface Orders {

		String insert(int id, Duration work);

	}

	static class JdbcOrders implements Orders {

		private final JdbcTemplate jdbc;

		JdbcOrders(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Override
		@Timeout(timeout = "800ms", fallback = "count")
		@Transactional
		public String insert(int id, Duration work) {
			this.jdbc.update("insert into orders values (?)", id);
			work(work);
			Thread.interrupted();
			return "in time";
		}

		private String count(int id, Duration work) {
			return this.jdbc.queryForObject("select count(*) from orders", Integer.class) + " orders";
		}

	}

}
