package io.timingwheel.spring.autoconfigure;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.timeout.TimeoutListener;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.CustomScopeConfigurer;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.Ordered;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionInterceptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

@ExtendWith(OutputCaptureExtension.class)
class TimeoutConfigurationTests {

	private static final ManualTimeSource TIME = new ManualTimeSource();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class))
		.withUserConfiguration(TimeoutConfiguration.class, WheelConfiguration.class);

	@AfterEach
	void noInterruptIsLeft() {
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void limitsMethodsOfBeans() {
		this.runner.withBean(Service.class).run((context) -> {
			Service service = context.getBean(Service.class);
			assertThat(service.limited(Duration.ofMillis(799))).isEqualTo("in time");
			assertTimesOut(() -> service.limited(Duration.ofMillis(800)));
			assertThat(context.getBean(TimingWheel.class).pending()).isZero();
		});
	}

	@Test
	void theMethodsOwnAnnotationPrecedesThatOfTheInterface() {
		this.runner.withBean(PatientQuotes.class).run((context) -> {
			PatientQuotes quotes = context.getBean(PatientQuotes.class);
			assertThat(quotes.quote("x", Duration.ofSeconds(1))).isEqualTo("x");
			assertTimesOut(() -> quotes.quote("x", Duration.ofSeconds(5)));
		});
	}

	@Test
	void resolvesBeanExpressions() {
		this.runner.withBean("policy", Policy.class).withBean(WithBeans.class).run((context) -> {
			WithBeans service = context.getBean(WithBeans.class);
			for (Limited method : List.<Limited>of(service::duration, service::number, service::text,
					service::argument)) {
				assertThat(method.run(Duration.ofMillis(49))).isEqualTo("in time");
				assertTimesOut(() -> method.run(Duration.ofMillis(50)));
			}
		});
	}

	@Test
	void aCallThroughAScopedProxyIsLimitedOnce() {
		this.runner.withUserConfiguration(ScopedConfiguration.class, Timeouts.class).run((context) -> {
			assertTimesOut(() -> context.getBean(Service.class).limited(Duration.ofSeconds(1)));
			assertThat(context.getBean(Timeouts.class).methods).hasSize(1);
		});
	}

	@Test
	void eachRetryHasItsOwnLimit() {
		this.runner.withUserConfiguration(RetryConfiguration.class, Timeouts.class).run((context) -> {
			Retried service = context.getBean(Retried.class);
			assertThat(service.thirdTimeLucky()).isEqualTo(3);
			assertThat(context.getBean(Timeouts.class).methods).hasSize(2);
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "true", "false" })
	void rollsBackEvenIfTheBodyClearsTheInterrupt(String proxyTargetClass) {
		this.runner.withPropertyValues("spring.aop.proxy-target-class=" + proxyTargetClass)
			.withUserConfiguration(TransactionConfiguration.class)
			.run((context) -> {
				Orders orders = context.getBean(Orders.class);
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				orders.insert(1, Duration.ofMillis(799));
				assertTimesOut(() -> orders.insert(2, Duration.ofMillis(800)));
				assertThat(jdbc.queryForList("select id from orders", Integer.class)).containsExactly(1);
			});
	}

	@ParameterizedTest
	@CsvSource({ "0, TimeoutInterceptor, TransactionInterceptor",
			Ordered.LOWEST_PRECEDENCE + ", TransactionInterceptor, TimeoutInterceptor" })
	void theLimitIsInsideRetriesAndTheOrderSaysOnWhichSideOfTransactions(String order, String outer, String inner) {
		this.runner.withUserConfiguration(RetryConfiguration.class, TransactionConfiguration.class)
			.withPropertyValues("timingwheel.timeout." + (order.equals("0") ? "other=any" : "order=" + order))
			.withBean(Everything.class)
			.run((context) -> assertThat(adviceOf(context.getBean(Everything.class)))
				.containsExactly("RetryAnnotationInterceptor", outer, inner, "ExpiredBodyInterceptor"));
	}

	private static List<String> adviceOf(Object proxy) {
		return Arrays.stream(((Advised) proxy).getAdvisors())
			.map((advisor) -> advisor.getAdvice().getClass().getSimpleName())
			.toList();
	}

	@Test
	void futuresTimeOutOnThreadsOfTheirOwn() {
		this.runner.withUserConfiguration(DelayedConfiguration.class)
			.withBean("applicationTaskExecutor", Executor.class, () -> Runnable::run)
			.withBean(Service.class)
			.run((context) -> {
				CompletableFuture<String> thread = context.getBean(Service.class)
					.future()
					.handle((value, failure) -> Thread.currentThread().getName());
				TIME.advance(Duration.ofMillis(800));
				assertThat(thread.join()).startsWith("timing-wheel-completion-");
			});
	}

	@Test
	@SuppressWarnings("unchecked")
	void aCallerOfAGenericInterfaceGetsTheTypeThatItExpects() {
		this.runner.withPropertyValues("spring.aop.proxy-target-class=false")
			.withUserConfiguration(DelayedConfiguration.class, GenericBeans.class)
			.run((context) -> {
				Supplier<FutureTask<String>> task = context.getBean("task", Supplier.class);
				FutureTask<String> future = task.get();
				Loader<FutureTask<String>> lambda = context.getBean("lambda", Loader.class);
				FutureTask<String> unknown = lambda.load();
				Loader<Own> own = context.getBean("own", Loader.class);
				Own special = own.load();
				Loader<CompletableFuture<String>> inherited = context.getBean("inherited", Loader.class);
				CompletableFuture<String> completable = inherited.load();
				TIME.advance(Duration.ofMillis(800));
				await().untilAsserted(() -> {
					assertThat(future).isCancelled();
					assertThat(unknown).isCancelled();
					assertThat(special).isCompletedExceptionally();
					assertThat(completable).isCompletedExceptionally();
				});
			});
	}

	@Test
	void futuresDoNotTimeOutOnTheThreadOfTheWheel() {
		this.runner.withUserConfiguration(DelayedConfiguration.class)
			.withBean("applicationTaskExecutor", Executor.class, () -> Runnable::run)
			.withBean(Service.class)
			.run((context) -> {
				CompletableFuture<Thread> thread = context.getBean(Service.class)
					.future()
					.handle((value, failure) -> Thread.currentThread());
				TIME.advance(Duration.ofMillis(800));
				assertThat(thread.join()).isNotSameAs(Thread.currentThread());
			});
	}

	@Test
	void notifiesListenersOfTheMethod() {
		this.runner.withBean(DefaultQuotes.class).withUserConfiguration(Timeouts.class).run((context) -> {
			assertTimesOut(() -> context.getBean(Quotes.class).quote("x", Duration.ofSeconds(1)));
			assertThat(context.getBean(Timeouts.class).methods)
				.containsExactly(DefaultQuotes.class.getMethod("quote", String.class, Duration.class));
		});
	}

	@Test
	void createsNoBeanTooEarly(CapturedOutput output) {
		this.runner.withUserConfiguration(EarlyConfiguration.class).withBean(Service.class).run((context) -> {
			assertThat(context).hasNotFailed();
			// The wheel may also log that it lags.
			assertThat(output.toString().lines().filter((line) -> line.contains("not eligible")))
				.anyMatch((line) -> line.contains("Bean 'early'"))
				.noneMatch((line) -> line.contains("imingWheel"));
		});
	}

	@Test
	void theAnnotationOfAClassLimitsItsMethods(CapturedOutput output) {
		this.runner.withBean(LimitedClass.class).run((context) -> {
			LimitedClass service = context.getBean(LimitedClass.class);
			assertThat(service.plain(Duration.ofMillis(799))).isEqualTo("in time");
			assertTimesOut(() -> service.plain(Duration.ofMillis(800)));
			assertThat(service.own(Duration.ofMillis(800))).isEqualTo("in time");
			assertTimesOut(() -> service.own(Duration.ofSeconds(5)));
			assertTimesOut(() -> service.packagePrivate(Duration.ofMillis(800)));
			assertThat(output).containsOnlyOnce("The @Timeout of " + LimitedClass.class.getName()
					+ " does not limit isFinal(). A proxy cannot intercept a final method");
		});
	}

	@Test
	void theFallbackOfAClassIsNotItsOwnFallback() {
		this.runner.withBean(ClassWithFallback.class).run((context) -> {
			ClassWithFallback service = context.getBean(ClassWithFallback.class);
			assertThat(service.plain(Duration.ofSeconds(1))).isEqualTo("fallback");
			assertTimesOut(() -> service.instead(Duration.ofSeconds(1)));
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "true", "false" })
	void theFallbackMayBeInTheClassBehindAnInterface(String proxyTargetClass) {
		this.runner.withPropertyValues("spring.aop.proxy-target-class=" + proxyTargetClass)
			.withBean(WithFallback.class, HiddenFallback::new)
			.run((context) -> assertThat(context.getBean(WithFallback.class).limited(Duration.ofSeconds(1)))
				.isEqualTo("of the class"));
	}

	@Test
	void theTransactionIsRolledBackBeforeTheFallbackRuns() {
		this.runner.withUserConfiguration(TransactionConfiguration.class)
			.withBean(OrdersWithFallback.class)
			.run((context) -> {
				assertThat(context.getBean(OrdersWithFallback.class).insert(2)).isEqualTo("0 orders");
				assertThat(context.getBean(OrdersWithFallback.class).insert(2)).isEqualTo("0 orders");
			});
	}

	@Test
	void aPropertyReplacesTheLimitOfOneBean() {
		this.runner
			.withPropertyValues("timingwheel.timeout.limits.first.limited=50ms",
					"timingwheel.timeout.limits.first.by-argument=1m10s")
			.withBean("first", Named.class)
			.withBean("second", Named.class)
			.run((context) -> {
				Named first = context.getBean("first", Named.class);
				Named second = context.getBean("second", Named.class);
				assertThat(first.limited(Duration.ofMillis(49))).isEqualTo("in time");
				assertThatExceptionOfType(MethodTimeoutException.class)
					.isThrownBy(() -> first.limited(Duration.ofMillis(50)))
					.satisfies((ex) -> assertThat(ex.getTimeout()).hasMillis(50));
				assertThat(second.limited(Duration.ofMillis(799))).isEqualTo("in time");
				assertThat(first.byArgument(Duration.ofSeconds(69))).isEqualTo("in time");
				assertTimesOut(() -> first.byArgument(Duration.ofSeconds(70)));
				assertTimesOut(() -> second.byArgument(Duration.ofSeconds(1)));
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "the.quote-service_1.byArgument", "[the.quoteService1].byArgument",
			"THE.QUOTESERVICE1.BYARGUMENT", "the.quote-service1.by-argument" })
	void theNamesInPropertiesAreRelaxed(String name) {
		this.runner.withPropertyValues("timingwheel.timeout.limits." + name + "=50ms")
			.withBean("the.quoteService1", Named.class)
			.run((context) -> assertTimesOut(() -> context.getBean(Named.class).byArgument(Duration.ofMillis(50))));
	}

	@ParameterizedTest
	@ValueSource(strings = { "other=any", "timingwheel.timeout.limits.first.byArgument=2h",
			"timingwheel.timeout.limits.first.by-argument=2h" })
	void anEnvironmentVariableReplacesALimitAlsoThatOfAnotherSource(String properties) {
		this.runner
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.addFirst(new SystemEnvironmentPropertySource("systemEnvironment",
						Map.of("TIMINGWHEEL_TIMEOUT_LIMITS_FIRST_BYARGUMENT", "50ms"))))
			.withPropertyValues(properties)
			.withBean("first", Named.class)
			.run((context) -> assertTimesOut(() -> context.getBean(Named.class).byArgument(Duration.ofMillis(50))));
	}

	@Test
	void aPropertyReplacesTheLimitOfScopedAndHiddenBeans() {
		this.runner
			.withPropertyValues("timingwheel.timeout.limits.service.limited=50ms",
					"timingwheel.timeout.limits.hidden.hidden=50ms")
			.withUserConfiguration(ScopedConfiguration.class, HiddenTypeConfiguration.class)
			.run((context) -> {
				assertTimesOut(() -> context.getBean("service", Service.class).limited(Duration.ofMillis(50)));
				assertTimesOut(() -> context.getBean(Hidden.class).hidden(Duration.ofMillis(50)));
			});
	}

	@Test
	void aPropertyForAnUnknownMethodIsAWarningWithTheNearestName(CapturedOutput output) {
		this.runner
			.withPropertyValues("timingwheel.timeout.limits.qoutes.limitd=50ms",
					"timingwheel.timeout.limits.quotes.limited=50ms")
			.withBean("quotes", Named.class)
			.withBean("other", Service.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).containsOnlyOnce("has no effect")
					.contains("timingwheel.timeout.limits.qoutes.limitd has no effect, because no bean has a method "
							+ "with @Timeout of this name. The nearest name is quotes.limited");
			});
	}

	private static void assertTimesOut(Runnable call) {
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(call::run);
	}

	private static String work(Duration duration) {
		TIME.advance(duration);
		return "in time";
	}

	@Configuration(proxyBeanMethods = false)
	static class WheelConfiguration {

		@Bean
		TimingWheel timingWheel() {
			return TimingWheel.builder(Runnable::run).timeSource(TIME).build();
		}

		@Bean
		HandOverExecutors handOverExecutors() {
			return new HandOverExecutors();
		}

	}

	static class Timeouts implements TimeoutListener {

		final List<Method> methods = new ArrayList<>();

		@Override
		public void timedOut(Method method) {
			this.methods.add(method);
		}

	}

	interface Limited {

		String run(Duration work);

	}

	interface Loader<T> {

		@Timeout("800ms")
		T load();

	}

	static class Own extends CompletableFuture<String> {

	}

	static class TaskSupplier implements Supplier<FutureTask<String>> {

		@Override
		@Timeout("800ms")
		public FutureTask<String> get() {
			return new FutureTask<>(() -> "never runs");
		}

	}

	static class OwnLoader implements Loader<Own> {

		@Override
		public Own load() {
			return new Own();
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

	@Configuration(proxyBeanMethods = false)
	static class GenericBeans {

		@Bean
		Supplier<FutureTask<String>> task() {
			return new TaskSupplier();
		}

		@Bean
		Loader<FutureTask<String>> lambda() {
			return () -> new FutureTask<>(() -> "never runs");
		}

		@Bean
		OwnLoader own() {
			return new OwnLoader();
		}

		@Bean
		InheritedLoader inherited() {
			return new InheritedLoader();
		}

	}

	static class Service {

		static final AtomicInteger instances = new AtomicInteger();

		Service() {
			if (getClass() == Service.class) {
				instances.incrementAndGet();
			}
		}

		@Timeout("800ms")
		public String limited(Duration work) {
			return work(work);
		}

		@Timeout("800ms")
		public CompletableFuture<String> future() {
			return new CompletableFuture<>();
		}

	}

	@Timeout("800ms")
	static class LimitedClass {

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
	static class ClassWithFallback {

		public String plain(Duration work) {
			return work(work);
		}

		public String instead(Duration work) {
			if (Thread.currentThread().isInterrupted()) {
				throw new AssertionError("interrupted");
			}
			TIME.advance(Duration.ofSeconds(1));
			return "fallback";
		}

	}

	interface WithFallback {

		@Timeout(timeout = "800ms", fallback = "ofClass")
		String limited(Duration work);

	}

	static class HiddenFallback implements WithFallback {

		private final String text = "of the class";

		@Override
		public String limited(Duration work) {
			return work(work);
		}

		private String ofClass(Duration work) {
			return this.text;
		}

	}

	static class OrdersWithFallback {

		private final JdbcTemplate jdbc;

		OrdersWithFallback(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Timeout(timeout = "800ms", fallback = "count")
		@Transactional
		public String insert(int id) {
			this.jdbc.update("insert into orders values (?)", id);
			return work(Duration.ofSeconds(1));
		}

		private String count(int id) {
			return this.jdbc.queryForObject("select count(*) from orders", Integer.class) + " orders";
		}

	}

	static class Named {

		@Timeout("800ms")
		public String limited(Duration work) {
			return work(work);
		}

		@Timeout(timeoutExpression = "#work.dividedBy(2)")
		public String byArgument(Duration work) {
			return work(work);
		}

	}

	interface Quotes {

		@Timeout("800ms")
		String quote(String item, Duration work);

	}

	static class DefaultQuotes implements Quotes {

		@Override
		public String quote(String item, Duration work) {
			work(work);
			return item;
		}

	}

	static class PatientQuotes implements Quotes {

		@Override
		@Timeout("5s")
		public String quote(String item, Duration work) {
			work(work);
			return item;
		}

	}

	interface Hidden {

		String hidden(Duration work);

	}

	@Configuration(proxyBeanMethods = false)
	static class HiddenTypeConfiguration {

		@Bean
		Hidden hidden() {
			return new Hidden() {
				@Override
				@Timeout("800ms")
				public String hidden(Duration work) {
					return work(work);
				}
			};
		}

	}

	static class Policy {

		public Duration getDuration() {
			return Duration.ofMillis(50);
		}

		public int getNumber() {
			return 50;
		}

		public String getText() {
			return "50ms";
		}

	}

	static class WithBeans {

		@Timeout("#{policy.duration}")
		public String duration(Duration work) {
			return work(work);
		}

		@Timeout("#{policy.number}")
		public String number(Duration work) {
			return work(work);
		}

		@Timeout("#{policy.text}")
		public String text(Duration work) {
			return work(work);
		}

		@Timeout(timeoutExpression = "@policy.number")
		public String argument(Duration work) {
			return work(work);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ScopedConfiguration {

		@Bean
		static CustomScopeConfigurer scopes() {
			CustomScopeConfigurer configurer = new CustomScopeConfigurer();
			configurer.addScope("thread", new SimpleThreadScope());
			return configurer;
		}

		@Bean
		@Scope(scopeName = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
		Service service() {
			return new Service();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods
	static class RetryConfiguration {

		@Bean
		Retried retried() {
			return new Retried();
		}

	}

	static class Retried {

		private int attempts;

		@Retryable(includes = MethodTimeoutException.class, maxRetries = 5, delay = 0)
		@Timeout("800ms")
		public int thirdTimeLucky() {
			if (++this.attempts < 3) {
				work(Duration.ofMillis(800));
			}
			else {
				work(Duration.ofMillis(700));
			}
			return this.attempts;
		}

	}

	static class Everything {

		@Retryable
		@Timeout("800ms")
		@Transactional
		public void everything() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class TransactionConfiguration {

		@Bean
		DataSource dataSource() {
			return new EmbeddedDatabaseBuilder().setType(EmbeddedDatabaseType.H2).generateUniqueName(true).build();
		}

		@Bean
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		JdbcTemplate jdbcTemplate(DataSource dataSource) {
			JdbcTemplate jdbc = new JdbcTemplate(dataSource);
			jdbc.execute("create table orders (id int)");
			return jdbc;
		}

		@Bean
		Orders orders(JdbcTemplate jdbc) {
			return new JdbcOrders(jdbc);
		}

	}

	interface Orders {

		void insert(int id, Duration work);

	}

	static class JdbcOrders implements Orders {

		private final JdbcTemplate jdbc;

		JdbcOrders(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Override
		@Timeout("800ms")
		@Transactional
		public void insert(int id, Duration work) {
			this.jdbc.update("insert into orders values (?)", id);
			work(work);
			Thread.interrupted();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyConfiguration {

		@Bean
		Object early() {
			return new Object();
		}

		@Bean
		static BeanPostProcessor postProcessor(@Qualifier("early") Object early) {
			return new BeanPostProcessor() {
			};
		}

	}

}
