package io.timingwheel.spring.docs;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.durable.DurableTaskAdmin;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.MDC;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.context.SecurityContextHolder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The code that the pages of the documentation show works in an application with a store
 * in H2.
 */
class DocumentationTests extends Snippets {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withUserConfiguration(Application.class)
		.withBean(Log.class)
		.withPropertyValues("timingwheel.store.type=jdbc", "timingwheel.store.poll-interval=20ms",
				"spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID()
						+ ";DB_CLOSE_DELAY=-1;INIT=create table if not exists orders (id bigint, status varchar(40))");

	@Test
	void methodsRunLater() {
		this.runner.withBean(Later.class).run((context) -> {
			Later later = context.getBean(Later.class);
			later.close(1);
			later.close(2);
			later.pay(2);
			later.build("books");
			later.remind(new Meeting(3, Instant.now().plusSeconds(3600)));
			later.welcome("ann");
			for (TaskId id : List.of(TaskId.of("close-order", 1), TaskId.of("build-index", "books"),
					TaskId.of("remind", 3), TaskId.of("welcome", "ann"))) {
				runNow(context, id);
			}
			for (String line : List.of("closed 1", "paid 2", "built books", "reminded of 3", "welcome ann")) {
				awaitLine(context, line);
			}
			assertThat(context.getBean(DelayedTaskTemplate.class).find(TaskId.of("close-order", 2))).isEmpty();
			DelayedTask<String> check = later.check(5);
			check.reschedule(Duration.ZERO);
			assertThat(check.completion().join()).isEqualTo("order 5 is fine");
		});
	}

	@Test
	void methodsAreLimited() {
		this.runner.withBean(Market.class, () -> DocumentationTests::wait)
			.withBean("quotes", Quotes.class)
			.withBean(OrderController.class)
			.withPropertyValues("timingwheel.timeout.limits.quotes.quote=20ms",
					"timingwheel.timeout.limits.quotes.latest=20ms")
			.run((context) -> {
				Quotes quotes = context.getBean(Quotes.class);
				assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> quotes.quote("tea"));
				assertThat(quotes.latest("tea")).isEqualTo(new Quote("tea", 0));
				assertThatExceptionOfType(MethodTimeoutException.class)
					.isThrownBy(() -> quotes.quoteFor(new Request("tea", Duration.ofMillis(20))));
				assertThat(context.getBean(OrderController.class).report()).isEqualTo("all orders");
			});
	}

	@Test
	void theContextOfTheCallReachesTheBody() {
		this.runner.withUserConfiguration(Security.class, Mdc.class).withBean(Greeting.class).run((context) -> {
			SecurityContextHolder.getContext()
				.setAuthentication(UsernamePasswordAuthenticationToken.authenticated("ann", "", List.of()));
			MDC.put("tenant", "shop");
			try {
				context.getBean(Greeting.class).greet();
			}
			finally {
				SecurityContextHolder.clearContext();
				MDC.clear();
			}
			awaitLine(context, "ann in shop");
		});
	}

	private static Quote wait(String symbol) {
		while (!Thread.currentThread().isInterrupted()) {
			LockSupport.park();
		}
		return new Quote(symbol, 1);
	}

	@Test
	void aTransactionalBodyChangesTheDatabase() {
		this.runner.withBean(Transactional.class).run((context) -> {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			jdbc.update("insert into orders values (5, 'open')");
			context.getBean(Transactional.class).closeIfUnpaid(5);
			runNow(context, TaskId.of("close-order", 5));
			await().untilAsserted(() -> assertThat(jdbc.queryForList("select status from orders", String.class))
				.containsExactly("closed"));
		});
	}

	@Test
	void anOperatorRequeuesAndPauses() {
		this.runner.withBean(Callbacks.class).run((context) -> {
			DurableTaskAdmin admin = context.getBean(DurableTaskAdmin.class);
			context.getBean(Callbacks.class).callBack();
			await().until(() -> !admin.findDead("callback", 1).isEmpty());
			new Operators().operate(admin);
			assertThat(admin.isPaused("callback")).isTrue();
			assertThat(admin.isClaiming()).isFalse();
		});
	}

	@Test
	void methodsAreStoredRepeatedLimitedAndDebounced() {
		this.runner.withBean(Stored.class)
			.withBean(Reminders.class)
			.withBean(Reports.class)
			.withBean(InCode.class)
			.withBean(Limited.class)
			.withBean(Debounced.class)
			.run((context) -> {
				context.getBean(Stored.class).closeIfUnpaid(5);
				Reminders reminders = context.getBean(Reminders.class);
				reminders.many(List.of(new User(1), new User(2)));
				reminders.recur(3, ZoneId.of("Europe/Paris"));
				for (long id : List.of(2L, 3L)) {
					assertThat(context.getBean(DelayedTaskTemplate.class).find(TaskId.of("remind", id))).isPresent();
				}
				context.getBean(InCode.class).schedule("a");
				context.getBean(Limited.class).send("a", Duration.ZERO);
				Debounced debounced = context.getBean(Debounced.class);
				debounced.build("books");
				debounced.digest("ann", List.of("old"));
				debounced.digest("ann", List.of("new"));
				for (TaskId id : List.of(TaskId.of("close-order", 5), TaskId.of("remind", 1),
						TaskId.of("nightly-report", "recurring"), TaskId.of("clean", "a"),
						TaskId.of("build-index", "books"), TaskId.of("digest", "ann"))) {
					runNow(context, id);
				}
				for (String line : List.of("closed 5", "1: Stand up", "refresh", "import", "report", "clean", "a",
						"build books", "digest [new]")) {
					awaitLine(context, line);
				}
			});
	}

	@ParameterizedTest
	@ValueSource(classes = { Migrated.class, NewName.class })
	void aTaskOfAnEarlierSignatureIsMigratedOrRunsBesideTheNewName(Class<?> release) {
		this.runner.run((context) -> context.getBean(DelayedTaskTemplate.class)
			.enqueue(TaskId.of("close-order", 5), Duration.ZERO, 5L));
		this.runner.withBean(release)
			.withBean(CloseOrderMigration.class)
			.run((context) -> awaitLine(context, "closed order-5, 0"));
	}

	private static void runNow(BeanFactory context, TaskId id) {
		context.getBean(DelayedTaskTemplate.class).find(id).orElseThrow().reschedule(Duration.ZERO);
	}

	private static void awaitLine(BeanFactory context, String line) {
		await().untilAsserted(() -> assertThat(context.getBean(Log.class).lines).contains(line));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

}
