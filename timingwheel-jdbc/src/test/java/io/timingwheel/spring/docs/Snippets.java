package io.timingwheel.spring.docs;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

import io.timingwheel.spring.annotation.Backoff;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.durable.DurableTaskAdmin;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import org.slf4j.MDC;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.task.ThreadPoolTaskExecutorBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.task.DelegatingSecurityContextAsyncTaskExecutor;

/**
 * The code that the pages of the documentation show. {@link DocumentationTests} calls it.
 */
abstract class Snippets {

	/** What the bodies have done. */
	static class Log {

		final List<String> lines = new CopyOnWriteArrayList<>();

		void add(String line) {
			this.lines.add(line);
		}

	}

	record User(long id) {
	}

	static class Stored {

		@Autowired
		private Log orders;

		// tag::durable[]
		@Delayed(delay = "30m", name = "close-order", key = "#orderId", durable = true)
		public void closeIfUnpaid(long orderId) {
			this.orders.add("closed " + orderId);
		}
		// end::durable[]

	}

	static class Transactional {

		@Autowired
		private JdbcTemplate jdbc;

		// tag::transactional[]
		@Delayed(delay = "30m", name = "close-order", key = "#orderId", durable = true, transactional = true)
		public void closeIfUnpaid(long orderId) {
			// Commits together with the end of the task, or not at all.
			this.jdbc.update("update orders set status = 'closed' where id = ? and status = 'open'", orderId);
		}
		// end::transactional[]

	}

	static class Operators {

		// tag::admin[]
		void operate(DurableTaskAdmin admin) {
			admin.findDead("callback", 100).forEach((task) -> admin.requeueDead(task.id()));
			admin.setPaused("callback", true); // on all nodes; false ends the pause
			admin.pause(); // this node claims no tasks until admin.resume()
		}
		// end::admin[]

	}

	static class Callbacks {

		@Delayed(delay = "0s", name = "callback", durable = true, policy = @TaskPolicy(maxAttempts = 1))
		public void callBack() {
			throw new IllegalStateException("down");
		}

	}

	static class Reminders {

		@Autowired
		private Log mails;

		@Autowired
		private DelayedTaskTemplate tasks;

		// tag::remind[]
		@Delayed(delay = "0s", name = "remind", key = "#userId", durable = true)
		public void remind(long userId, String text) {
			this.mails.add(userId + ": " + text);
		}
		// end::remind[]

		void many(List<User> users) {
			// tag::many[]
			this.tasks.enqueueAll(users.stream()
				.map((user) -> DurableCall.of(TaskId.of("remind", user.id()), Duration.ofDays(1), user.id(),
						"Stand up"))
				.toList());
			// end::many[]
		}

		void recur(long userId, ZoneId zoneOfUser) {
			// tag::recur[]
			Schedule morning = Schedule.cron("0 30 8 * * MON-FRI", zoneOfUser);
			this.tasks.recur(TaskId.of("remind", userId), morning, userId, "Stand up");
			this.tasks.find(TaskId.of("remind", userId)).map(DelayedTask::dueAt);
			// end::recur[]
		}

	}

	static class Reports {

		@Autowired
		private Log log;

		// tag::recurring[]
		// Once each night in all nodes together.
		@Recurring(cron = "0 0 3 * * *", zone = "Europe/Berlin", name = "nightly-report", durable = true)
		public void report() {
			this.log.add("report");
		}

		// In each JVM; keeps its rhythm, however long the runs take.
		@Recurring(every = "30s")
		public void refresh() {
			this.log.add("refresh");
		}

		// In each JVM; counts from the end of each run.
		@Recurring(fixedDelay = "${import.pause:10s}")
		public CompletableFuture<Void> importFiles() {
			return CompletableFuture.runAsync(() -> this.log.add("import"));
		}
		// end::recurring[]

	}

	static class InCode {

		@Autowired
		private Log log;

		@Autowired
		private DelayedTaskTemplate tasks;

		void schedule(String tenant) {
			// tag::inCode[]
			Schedule nightly = Schedule.cron("0 0 3 * * *", ZoneId.of("Europe/Berlin"));
			this.tasks.task(this::clean).id(TaskId.of("clean", tenant)).on(nightly);
			this.tasks.task(this::poll).name("poll").on(Schedule.every(Duration.ofSeconds(10)));
			// end::inCode[]
		}

		private void clean() {
			this.log.add("clean");
		}

		private void poll() {
			this.log.add("poll");
		}

	}

	static class Limited {

		@Autowired
		private Log calls;

		// tag::policy[]
		@Delayed(delayExpression = "#delay", name = "callback", key = "#id",
				policy = @TaskPolicy(maxAttempts = 8, backoff = @Backoff(initial = "2s", max = "5m"),
						maxConcurrent = 20, maxConcurrentPerKey = 1, rate = "${callbacks.rate:100/s}"))
		public CompletableFuture<Void> send(String id, Duration delay) {
			return CompletableFuture.runAsync(() -> this.calls.add(id));
		}
		// end::policy[]

	}

	static class Debounced {

		@Autowired
		private Log log;

		// tag::debounced[]
		// After 2 s of silence, or 10 s after the first call.
		@Delayed(delay = "2s", maxWait = "10s", name = "build-index", key = "#index")
		public void build(String index) {
			this.log.add("build " + index);
		}

		// One minute after the first call, with the arguments of the last.
		@Delayed(delay = "1m", name = "digest", key = "#user", ifPending = IfPending.UPDATE, durable = true)
		public void digest(String user, List<String> latest) {
			this.log.add("digest " + latest);
		}
		// end::debounced[]

	}

	static class Migrated {

		@Autowired
		private Log orders;

		@Delayed(delay = "30m", name = "close-order", durable = true)
		public void close(String code, int fee) {
			this.orders.add("closed " + code + ", " + fee);
		}

	}

	static class NewName {

		@Autowired
		private Log orders;

		// tag::newName[]
		@Delayed(delay = "30m", name = "close-order-2", durable = true)
		public void close(String code, int fee) {
			this.orders.add("closed " + code + ", " + fee);
		}

		// For the tasks that are stored already.
		@Delayed(delay = "30m", name = "close-order", durable = true)
		public void closeById(long orderId) {
			close("order-" + orderId, 0);
		}
		// end::newName[]

	}

	record Meeting(long id, Instant start) {
	}

	static class Later {

		@Autowired
		private Log log;

		// tag::cancel[]
		@Delayed(delay = "30m", name = "close-order", key = "#orderId")
		public void close(long orderId) {
			this.log.add("closed " + orderId);
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public void pay(long orderId) {
			this.log.add("paid " + orderId);
		}
		// end::cancel[]

		// tag::silence[]
		@Delayed(delay = "2s", maxWait = "10s", name = "build-index", key = "#index")
		public void build(String index) {
			this.log.add("built " + index);
		}
		// end::silence[]

		// tag::time[]
		@Delayed(delayExpression = "#meeting.start.minusSeconds(600)", name = "remind", key = "#meeting.id")
		public void remind(Meeting meeting) {
			this.log.add("reminded of " + meeting.id());
		}
		// end::time[]

		// tag::commit[]
		@Delayed(delay = "5s", name = "welcome", key = "#address", afterCommit = true)
		public void welcome(String address) {
			this.log.add("welcome " + address);
		}
		// end::commit[]

		// tag::result[]
		@Delayed("10s")
		public DelayedTask<String> check(long orderId) {
			return DelayedTask.completed("order " + orderId + " is fine");
		}
		// end::result[]

	}

	record Quote(String symbol, int cents) {
	}

	record Request(String symbol, Duration budget) {
	}

	interface Market {

		Quote ask(String symbol);

	}

	static class Quotes {

		private final Map<String, Quote> last = new ConcurrentHashMap<>();

		@Autowired
		private Market market;

		// tag::limit[]
		@Timeout("800ms")
		public Quote quote(String symbol) {
			return this.market.ask(symbol);
		}
		// end::limit[]

		// tag::fallback[]
		@Timeout(timeout = "800ms", fallback = "lastQuote")
		public Quote latest(String symbol) {
			return this.market.ask(symbol);
		}

		private Quote lastQuote(String symbol, MethodTimeoutException timeout) {
			return this.last.getOrDefault(symbol, new Quote(symbol, 0));
		}
		// end::fallback[]

		// tag::budget[]
		@Timeout(timeoutExpression = "#request.budget")
		public Quote quoteFor(Request request) {
			return this.market.ask(request.symbol());
		}
		// end::budget[]

	}

	static class Security {

		// tag::security[]
		@Bean
		ThreadPoolTaskExecutor pool(ThreadPoolTaskExecutorBuilder builder) {
			return builder.build();
		}

		@Bean
		AsyncTaskExecutor applicationTaskExecutor(ThreadPoolTaskExecutor pool) {
			return new DelegatingSecurityContextAsyncTaskExecutor(pool);
		}
		// end::security[]

	}

	static class Mdc {

		// tag::mdc[]
		@Bean
		TaskDecorator mdcDecorator() {
			return (task) -> {
				Map<String, String> mdc = MDC.getCopyOfContextMap();
				return () -> {
					MDC.setContextMap((mdc != null) ? mdc : Map.of());
					try {
						task.run();
					}
					finally {
						MDC.clear();
					}
				};
			};
		}
		// end::mdc[]

	}

	static class Greeting {

		@Autowired
		private Log log;

		@Delayed("0s")
		public void greet() {
			Authentication user = SecurityContextHolder.getContext().getAuthentication();
			this.log.add(((user != null) ? user.getName() : "nobody") + " in " + MDC.get("tenant"));
		}

	}

}
