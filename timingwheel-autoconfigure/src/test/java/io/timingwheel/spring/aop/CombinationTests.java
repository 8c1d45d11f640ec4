package io.timingwheel.spring.aop;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.task.internal.TaskCounts;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.junit.jupiter.api.Test;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Several annotations on one method or in one class. Time is virtual: a body advances the
 * time by its own duration.
 */
class CombinationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class, AopAutoConfiguration.class,
				TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class))
		.withUserConfiguration(Application.class);

	@Test
	void theLimitAppliesToTheBodyAndNotToTheDelay() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			CompletableFuture<String> inTime = service.delayed(Duration.ofMillis(99));
			advance(context, Duration.ofSeconds(10));
			assertThat(inTime.get(60, TimeUnit.SECONDS)).isEqualTo("in time");
			CompletableFuture<String> tooLong = service.delayed(Duration.ofMillis(100));
			assertThat(tooLong).isNotDone();
			advance(context, Duration.ofSeconds(10));
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> tooLong.get(60, TimeUnit.SECONDS))
				.withCauseInstanceOf(MethodTimeoutException.class);
			TaskCounts counts = awaitEnd(context, "service.delayed");
			assertThat(counts.completed()).isOne();
			assertThat(counts.failed()).isOne();
		});
	}

	@Test
	void theLimitInterruptsTheBodysThread() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			Work work = context.getBean(Work.class);
			service.delayedWait();
			advance(context, Duration.ofSeconds(10));
			assertThat(work.began.await(60, TimeUnit.SECONDS)).isTrue();
			advance(context, Duration.ofMillis(100));
			assertThat(awaitEnd(context, "service.delayedWait").failed()).isOne();
			assertThat(work.events).containsExactly("interrupted");
		});
	}

	@Test
	void theUncaughtExceptionHandlerGetsTheTimeoutOfAVoidMethod() {
		this.runner.run((context) -> {
			context.getBean(Service.class).delayedVoid(7, Duration.ofMillis(100));
			advance(context, Duration.ofSeconds(10));
			Uncaught uncaught = context.getBean(Uncaught.class);
			await().until(() -> uncaught.error.get() != null);
			assertThat(uncaught.error.get()).isInstanceOf(MethodTimeoutException.class);
			assertThat(uncaught.method.getName()).isEqualTo("delayedVoid");
			assertThat(uncaught.arguments).containsExactly(7L, Duration.ofMillis(100));
		});
	}

	@Test
	void theFutureOfADelayedBodyIsLimited() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			Work work = context.getBean(Work.class);
			CompletableFuture<String> result = service.delayedFuture();
			advance(context, Duration.ofSeconds(10));
			assertThat(work.began.await(60, TimeUnit.SECONDS)).isTrue();
			advance(context, Duration.ofMillis(99));
			assertThat(result).isNotDone();
			advance(context, Duration.ofMillis(1));
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> result.get(60, TimeUnit.SECONDS))
				.withCauseInstanceOf(MethodTimeoutException.class);
			await().until(work.source::isCancelled);
		});
	}

	@Test
	void eachAttemptOfADelayedBodyHasItsLimit() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			Work work = context.getBean(Work.class);
			CompletableFuture<String> result = service.retried();
			assertThat(work.events).isEmpty();
			advance(context, Duration.ofSeconds(10));
			assertThat(result.get(60, TimeUnit.SECONDS)).isEqualTo("third time");
			assertThat(work.events).containsExactly("attempt", "attempt", "attempt");
			assertThat(awaitEnd(context, "service.retried").completed()).isOne();
		});
	}

	@Test
	void aDelayedBodyThatTimesOutRollsItsTransactionBack() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			Work work = context.getBean(Work.class);
			service.insert(1, Duration.ofMillis(99));
			advance(context, Duration.ofSeconds(10));
			awaitEnd(context, "service.insert");
			service.insert(2, Duration.ofMillis(100));
			advance(context, Duration.ofSeconds(10));
			TaskCounts counts = awaitEnd(context, "service.insert");
			assertThat(counts.completed()).isOne();
			assertThat(counts.failed()).isOne();
			assertThat(work.events).hasSize(2)
				.allMatch((event) -> event.startsWith("task-") && event.endsWith(" active=true"));
			assertThat(context.getBean(JdbcTemplate.class).queryForList("select id from orders", Integer.class))
				.containsExactly(1);
		});
	}

	@Test
	void aDelayedMethodWithCancelDelayedCancelsOnceItsBodyHasRun() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			Work work = context.getBean(Work.class);
			service.other(1);
			service.delayedCancel(1);
			assertThat(counts(context, "other").pending()).isOne();
			advance(context, Duration.ofSeconds(10));
			awaitEnd(context, "service.delayedCancel");
			assertThat(work.events).containsExactly("body");
			assertThat(counts(context, "other").pending()).isZero();
			assertThat(counts(context, "other").cancelled()).isOne();
		});
	}

	@Test
	void aCallThatTimesOutCancelsNothing() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			service.other(1);
			assertThatExceptionOfType(MethodTimeoutException.class)
				.isThrownBy(() -> service.limitedCancel(1, Duration.ofMillis(100)));
			assertThat(counts(context, "other").pending()).isOne();
			service.limitedCancel(1, Duration.ofMillis(99));
			assertThat(counts(context, "other").pending()).isZero();
			assertThat(Thread.interrupted()).isFalse();
		});
	}

	@Test
	void aFutureThatTimesOutCancelsNothing() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			Work work = context.getBean(Work.class);
			service.other(1);
			CompletableFuture<String> result = service.limitedCancelOfFuture(1);
			advance(context, Duration.ofMillis(100));
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> result.get(60, TimeUnit.SECONDS))
				.withCauseInstanceOf(MethodTimeoutException.class);
			await().until(work.source::isCancelled);
			assertThat(counts(context, "other").pending()).isOne();
		});
	}

	@Test
	void anotherMethodOfTheClassMayBeAsync() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			assertThat(service.async().get(60, TimeUnit.SECONDS)).startsWith("task-");
			CompletableFuture<String> delayed = service.delayed(Duration.ZERO);
			assertThat(delayed).isNotDone();
			advance(context, Duration.ofSeconds(10));
			assertThat(delayed.get(60, TimeUnit.SECONDS)).isEqualTo("in time");
		});
	}

	private static void advance(BeanFactory context, Duration by) {
		Work work = context.getBean(Work.class);
		work.clock.acquireUninterruptibly();
		try {
			context.getBean(ManualTimeSource.class).advance(by);
		}
		finally {
			work.clock.release();
		}
	}

	private static TaskCounts counts(BeanFactory context, String name) {
		DelayedTaskRegistry tasks = context.getBean(DelayedTaskRegistry.class);
		assertThat(tasks.names()).contains(name);
		return tasks.counts(name);
	}

	private static TaskCounts awaitEnd(BeanFactory context, String name) {
		await().untilAsserted(() -> {
			assertThat(counts(context, name).pending()).isZero();
			assertThat(counts(context, name).running()).isZero();
		});
		return counts(context, name);
	}

	static class Service {

		private final Work work;

		private final JdbcTemplate jdbc;

		Service(Work work, JdbcTemplate jdbc) {
			this.work = work;
			this.jdbc = jdbc;
		}

		@Delayed("10s")
		@Timeout("100ms")
		public CompletableFuture<String> delayed(Duration duration) throws InterruptedException {
			this.work.take(duration);
			return CompletableFuture.completedFuture("in time");
		}

		@Delayed("10s")
		@Timeout("100ms")
		public void delayedVoid(long id, Duration duration) throws InterruptedException {
			this.work.take(duration);
		}

		@Delayed("10s")
		@Timeout("100ms")
		public void delayedWait() throws InterruptedException {
			this.work.began.countDown();
			try {
				new CountDownLatch(1).await();
			}
			catch (InterruptedException ex) {
				this.work.events.add("interrupted");
				throw ex;
			}
		}

		@Delayed("10s")
		@Timeout("100ms")
		public CompletableFuture<String> delayedFuture() {
			this.work.began.countDown();
			return this.work.source;
		}

		@Delayed("10s")
		@Retryable(maxRetries = 3, delay = 1)
		@Timeout("100ms")
		public CompletableFuture<String> retried() throws InterruptedException {
			this.work.events.add("attempt");
			if (this.work.events.size() < 3) {
				this.work.take(Duration.ofMillis(100));
			}
			return CompletableFuture.completedFuture("third time");
		}

		@Delayed("10s")
		@Transactional
		@Timeout("100ms")
		public void insert(int id, Duration duration) throws InterruptedException {
			this.work.events.add(Thread.currentThread().getName() + " active="
					+ TransactionSynchronizationManager.isActualTransactionActive());
			this.jdbc.update("insert into orders values (?)", id);
			this.work.take(duration);
		}

		@Delayed(delay = "1h", name = "other", key = "#id")
		public void other(long id) {
			this.work.events.add("other");
		}

		@Delayed("10s")
		@CancelDelayed(name = "other", key = "#id")
		public void delayedCancel(long id) {
			this.work.events.add("body");
		}

		@Timeout("100ms")
		@CancelDelayed(name = "other", key = "#id")
		public void limitedCancel(long id, Duration duration) throws InterruptedException {
			this.work.take(duration);
		}

		@Timeout("100ms")
		@CancelDelayed(name = "other", key = "#id")
		public CompletableFuture<String> limitedCancelOfFuture(long id) {
			return this.work.source;
		}

		@Async
		public CompletableFuture<String> async() {
			return CompletableFuture.completedFuture(Thread.currentThread().getName());
		}

	}

	/**
	 * The state that the bodies share with the tests.
	 */
	static class Work {

		final List<String> events = new CopyOnWriteArrayList<>();

		final CountDownLatch began = new CountDownLatch(1);

		final CompletableFuture<String> source = new CompletableFuture<>();

		/**
		 * Held while a thread advances the time, which only one thread at a time may do.
		 */
		final Semaphore clock = new Semaphore(1);

		private final ManualTimeSource time;

		Work(ManualTimeSource time) {
			this.time = time;
		}

		void take(Duration duration) throws InterruptedException {
			this.clock.acquire();
			try {
				this.time.advance(duration);
			}
			finally {
				this.clock.release();
			}
		}

	}

	static class Uncaught implements AsyncUncaughtExceptionHandler {

		final AtomicReference<Throwable> error = new AtomicReference<>();

		volatile Method method;

		volatile Object[] arguments;

		@Override
		public void handleUncaughtException(Throwable error, Method method, Object... arguments) {
			this.method = method;
			this.arguments = arguments;
			this.error.set(error);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	@EnableResilientMethods
	@EnableTransactionManagement
	@Import({ Work.class, Uncaught.class })
	static class Application {

		@Bean
		ManualTimeSource time() {
			return new ManualTimeSource();
		}

		@Bean
		TimingWheelBuilderCustomizer timeCustomizer(ManualTimeSource time) {
			return (builder) -> builder.timeSource(time);
		}

		@Bean
		Service service(Work work, JdbcTemplate jdbc) {
			return new Service(work, jdbc);
		}

		@Bean
		DataSource dataSource() {
			return new EmbeddedDatabaseBuilder().setType(EmbeddedDatabaseType.H2).generateUniqueName(true).build();
		}

		@Bean
		PlatformTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		JdbcTemplate jdbc(DataSource dataSource) {
			JdbcTemplate jdbc = new JdbcTemplate(dataSource);
			jdbc.execute("create table orders (id int)");
			return jdbc;
		}

	}

}
