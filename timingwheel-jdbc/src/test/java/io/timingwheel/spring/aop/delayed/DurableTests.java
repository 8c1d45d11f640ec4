package io.timingwheel.spring.aop.delayed;

import java.io.IOException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.durable.DurableTaskAdmin;
import io.timingwheel.spring.durable.call.MemoryStore;
import io.timingwheel.spring.durable.node.DurableNode;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionSynchronizationUtils;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Calls of durable methods are stored, and stored calls run the bodies, or are cancelled.
 */
class DurableTests {

	private static final BlockingQueue<String> events = new LinkedBlockingQueue<>();

	private final MemoryStore store = new MemoryStore();

	private final ApplicationContextRunner runner = DurableContexts
		.withTransactions(DurableContexts.runner(this.store, Application.class));

	@BeforeEach
	void reset() {
		events.clear();
	}

	@Test
	void aCallIsStoredAndItsBodyRunsOnTheExecutor() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			service.later(Duration.ofHours(1), new Order(7, List.of("a")));
			assertThat(this.store.payloads("later")).containsExactly("[\"PT1H\",{\"id\":7,\"lines\":[\"a\"]}]");
			assertThat(events).isEmpty();
			service.later(Duration.ofMillis(1), new Order(8, List.of()));
			assertThat(take()).isEqualTo("later 8 on task-");
			await().untilAsserted(() -> assertThat(this.store.payloads("later")).hasSize(1));
			awaitCompleted(context, "later", 1);
		});
	}

	@Test
	void aMethodReturnsTheStoredTaskAndTheResultOfItsBodyIsIgnored() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			DelayedTask<Void> task = service.returning(Duration.ofHours(1), 5);
			assertThat(task.taskId()).isEqualTo(TaskId.of("returning", 5));
			assertThat(task.status()).isEqualTo(DelayedTask.Status.SCHEDULED);
			assertThat(task.cancel(false)).isTrue();
			assertThat(this.store.payloads("returning")).isEmpty();
			Instant due = Instant.parse("2100-01-01T00:00:00Z");
			assertThat(service.at(due).dueAt()).isEqualTo(due);
			service.returning(Duration.ZERO, 0);
			service.returning(Duration.ZERO, 1);
			awaitCompleted(context, "returning", 2);
		});
	}

	@Test
	void aNodeThatClaimsNoTasksOnlyStoresThem() {
		this.runner.withPropertyValues("timingwheel.store.claim-tasks=false").run((context) -> {
			Service service = context.getBean(Service.class);
			service.later(Duration.ofMillis(1), new Order(7, List.of()));
			this.runner.run((other) -> assertThat(take()).startsWith("later 7"));
			assertThat(context.getBean(DelayedTaskRegistry.class).counts("later").completed()).isZero();
			service.later(Duration.ofMillis(1), new Order(8, List.of()));
			DurableTaskAdmin admin = context.getBean(DurableTaskAdmin.class);
			assertThat(admin.isClaiming()).isFalse();
			admin.resume();
			assertThat(take()).startsWith("later 8");
			assertThat(admin.isClaiming()).isTrue();
		});
	}

	/** The executor has no lifecycle, and so does not pause by itself. */
	@Test
	void aPausedContextStartsNoStoredTask() {
		TaskExecutor executor = new SimpleAsyncTaskExecutor("task-");
		this.runner.withBean("applicationTaskExecutor", TaskExecutor.class, () -> executor).run((context) -> {
			Service service = context.getBean(Service.class);
			context.getSourceApplicationContext(ConfigurableApplicationContext.class).stop();
			service.later(Duration.ofMillis(1), new Order(7, List.of()));
			// As if a claim had been under way when the pause began.
			DurableNode node = context.getBean(DurableNode.class);
			node.resume();
			await().until(() -> node.figures().claimed() > 0);
			long claims = node.figures().claims();
			await().until(() -> node.figures().claims() > claims + 1);
			assertThat(events).isEmpty();
			context.getSourceApplicationContext(ConfigurableApplicationContext.class).start();
			assertThat(take()).isEqualTo("later 7 on task-");
		});
	}

	@Test
	void aStoredCallRunsUnderItsNameAndAliasAndReachesNoMethodWithoutTheAnnotation() {
		this.runner.run((context) -> {
			for (String name : List.of("service.plain", "in-memory", "later", "sooner")) {
				this.store.insert(name, null, "[\"PT1H\",{\"id\":%d}]".formatted(name.length()));
			}
			assertThat(List.of(take(), take())).containsExactlyInAnyOrder("later 5 on task-", "later 6 on task-");
			assertThat(this.store.payloads("service.plain")).hasSize(1);
			assertThat(this.store.payloads("in-memory")).hasSize(1);
			assertThat(events).isEmpty();
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void otherAdviceActsOnTheBody(boolean classProxies) {
		this.runner.withPropertyValues("spring.aop.proxy-target-class=" + classProxies).run((context) -> {
			Advised advised = context.getBean(Advised.class);
			assertThat(AopUtils.isCglibProxy(advised)).isEqualTo(classProxies);
			advised.transactional();
			assertThat(take()).isEqualTo("transaction=true");
			advised.retried();
			assertThat(List.of(take(), take(), take())).containsExactly("attempt 1 of delivery 1",
					"attempt 2 of delivery 1", "attempt 3 of delivery 1");
			awaitCompleted(context, "retried", 1);
		});
	}

	@Test
	void aCallOfTheMethodFromItsBodyIsStoredAgain() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			service.chain(3);
			assertThat(List.of(take(), take(), take())).containsExactly("chain 3", "chain 2", "chain 1");
			await().until(() -> this.store.payloads("chain").isEmpty());
			awaitCompleted(context, "chain", 3);
		});
	}

	@Test
	void aTaskThatFailsIsTriedAgainAndTheApplicationRequeuesAndDeletesTheDead() {
		this.runner.run((context) -> {
			context.getBean(Service.class).failing(9);
			for (int attempt = 1; attempt <= 3; attempt++) {
				assertThat(take()).isEqualTo("failing attempt " + attempt + " delivery " + attempt);
			}
			Uncaught uncaught = context.getBean(Uncaught.class);
			await().untilAsserted(() -> assertThat(uncaught.errors).hasSize(1));
			assertThat(uncaught.errors.peek()).isInstanceOf(IOException.class).hasMessage("attempt 3");
			assertThat(uncaught.call).isEqualTo("failing[9]");
			DurableTaskAdmin admin = context.getBean(DurableTaskAdmin.class);
			await().untilAsserted(() -> assertThat(admin.findDead("failing", 10)).hasSize(1));
			StoredTask dead = admin.findDead("failing", 10).get(0);
			assertThat(dead.error()).isEqualTo("java.io.IOException: attempt 3");
			admin.setPaused("failing", true);
			assertThat(admin.isPaused("failing")).isTrue();
			assertThat(admin.requeueDead(dead.id())).isEqualTo(Requeue.REQUEUED);
			assertThat(admin.requeueDead(dead.id())).isEqualTo(Requeue.NOT_DEAD);
			assertThat(admin.findDead("failing", 10)).isEmpty();
			assertThat(admin.deleteDead(dead.id())).isFalse();
			admin.setPaused("failing", false);
			await().until(() -> admin.deleteDead(dead.id()));
			assertThat(this.store.find(Target.of(dead.id()))).isEmpty();
		});
	}

	@Test
	void prototypesAndScopedBeansAreLookedUpAtEachRun() {
		this.runner.run((context) -> {
			int before = Prototype.INSTANCES.get();
			Prototype prototype = context.getBean(Prototype.class);
			prototype.run();
			prototype.run();
			assertThat(List.of(take(), take())).containsExactlyInAnyOrder("prototype " + (before + 2),
					"prototype " + (before + 3));
			context.getBean("scoped", Scoped.class).run();
			assertThat(take()).isEqualTo("scoped");
		});
	}

	@Test
	@SuppressWarnings("unchecked")
	void aMethodOfAnInterfaceRunsOnItsImplementation() {
		this.runner.withPropertyValues("spring.aop.proxy-target-class=false").run((context) -> {
			Reminders<Order> reminders = context.getBean(Reminders.class);
			reminders.remind(List.of(new Order(4, List.of())));
			assertThat(take()).isEqualTo("remind 4");
		});
	}

	@Test
	void manyCallsAreStoredAtOnceByTheTemplate() {
		this.runner.run((context) -> {
			DelayedTaskTemplate template = context.getBean(DelayedTaskTemplate.class);
			TaskId taskId = TaskId.of("replace", 1);
			List<DelayedTask<Void>> tasks = template
				.enqueueAll(List.of(DurableCall.of(taskId, Duration.ofHours(1), 1, "first"),
						DurableCall.of("elsewhere", Instant.parse("2100-01-01T00:00:00Z"), "a", null),
						DurableCall.of(taskId, Duration.ofHours(1), 1, "second")));
			assertThat(tasks).extracting(DelayedTask::taskId).containsExactly(taskId, null, taskId);
			assertThat(tasks.get(1).dueAt()).isEqualTo("2100-01-01T00:00:00Z");
			assertThat(this.store.payloads("replace")).singleElement().asString().contains("second");
			assertThat(this.store.payloads("elsewhere")).containsExactly("[\"a\",null]");
			assertThat(template.enqueueAll(List.of())).isEmpty();
		});
	}

	@Test
	void noCallIsStoredIfOneOfManyCannotBeStored() {
		this.runner.run((context) -> {
			DelayedTaskTemplate template = context.getBean(DelayedTaskTemplate.class);
			DurableCall good = DurableCall.of("replace", Duration.ZERO, 1, "good");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> template
					.enqueueAll(List.of(good, DurableCall.of("replace", Duration.ZERO, 1, "x".repeat(65 * 1024)))))
				.withMessageContaining("timingwheel.store.max-payload-size");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> template.enqueueAll(List.of(good, DurableCall.of("replace", Duration.ZERO, 1))))
				.withMessageContaining("takes 2 arguments");
			assertThatIllegalArgumentException().isThrownBy(() -> template.enqueueAll(Arrays.asList(good, null)));
			assertThat(this.store.payloads("replace")).isEmpty();
		});
	}

	@Test
	void onlyCallsThatAreNotStoredAfterTheCommitFail() {
		this.store.refuse("1", "3");
		this.runner.run((context) -> {
			Uncaught uncaught = context.getBean(Uncaught.class);
			uncaught.throwing = true;
			DelayedTaskTemplate template = context.getBean(DelayedTaskTemplate.class);
			List<DelayedTask<Void>> tasks = context.getBean(TransactionTemplate.class)
				.execute((status) -> template.enqueueAll(IntStream.rangeClosed(1, 3)
					.mapToObj((i) -> DurableCall.of(TaskId.of("replace", i), Duration.ofHours(1), i, "a"))
					.toList()));
			assertThat(tasks).extracting(DelayedTask::status)
				.containsExactly(DelayedTask.Status.CANCELLED, DelayedTask.Status.SCHEDULED,
						DelayedTask.Status.CANCELLED);
			assertThat(this.store.payloads("replace")).hasSize(1);
			assertThat(uncaught.errors).hasSize(2);
			uncaught.throwing = false;
		});
	}

	@Test
	void aCallStoredAfterTheCommitDoesNotFailIfAnEarlierNameCannotBeReplaced() {
		this.store.refuse("former");
		this.runner.run((context) -> {
			DelayedTaskTemplate template = context.getBean(DelayedTaskTemplate.class);
			List<DelayedTask<Void>> tasks = context.getBean(TransactionTemplate.class)
				.execute((status) -> template
					.enqueueAll(List.of(DurableCall.of(TaskId.of("renamed", 1), Duration.ofHours(1), 1),
							DurableCall.of(TaskId.of("renamed", 2), Duration.ofHours(1), 2))));
			assertThat(tasks).extracting(DelayedTask::status).containsOnly(DelayedTask.Status.SCHEDULED);
			assertThat(context.getBean(Uncaught.class).errors).isEmpty();
		});
	}

	@Test
	void aMethodThatReturnsADurableTaskCancelsWhenItReturns() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			DelayedTaskTemplate template = context.getBean(DelayedTaskTemplate.class);
			TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
			orders.remind(1);
			assertThat(orders.payAndShip(1, template).status()).isEqualTo(DelayedTask.Status.SCHEDULED);
			assertThat(template.find(TaskId.of("reminder", 1))).isEmpty();
			DelayedTask<?> later = transaction.execute((status) -> {
				orders.remind(2);
				orders.payAndShip(2, template);
				return orders.remind(2);
			});
			assertThat(later.status()).isEqualTo(DelayedTask.Status.SCHEDULED);
			transaction.execute((status) -> orders.payAndShip(2, template));
			assertThat(later.status()).isEqualTo(DelayedTask.Status.CANCELLED);
		});
	}

	@Test
	void aTaskThatOnlyOtherNodesCanRunIsCancelledToo() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			DelayedTaskTemplate template = context.getBean(DelayedTaskTemplate.class);
			TaskId taskId = TaskId.of("elsewhere", 1);
			for (int repetition = 0; repetition < 2; repetition++) {
				template.enqueue(taskId, Duration.ofHours(1), 1);
				assertThat(this.store.payloads("elsewhere")).hasSize(1);
				orders.cancelElsewhere(1);
				assertThat(this.store.payloads("elsewhere")).isEmpty();
				template.enqueue(taskId, Duration.ofHours(1), 1);
				assertThat(template.cancel(taskId)).isTrue();
			}
			template.schedule(taskId, Duration.ofHours(1), () -> {
			});
			orders.cancelElsewhere(1);
			assertThat(template.pendingCount()).isZero();
		});
	}

	@Test
	void cancellingInMemoryAsksNoStore() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			this.store.insert("reminder", "1", "[]");
			orders.remind(1);
			orders.cancelReminder(1);
			orders.cancelReminder(1);
			assertThat(DelayedContexts.pending(context)).isZero();
			assertThat(this.store.payloads("reminder")).hasSize(1);
		});
	}

	@Test
	void aStoreDoesNotBlockAThreadThatMustNotBlock() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			Mono<String> thread = orders.pay(1)
				.publishOn(Schedulers.immediate())
				.map((value) -> Thread.currentThread().getName());
			assertThat(thread.block(Duration.ofMinutes(1))).startsWith("boundedElastic");
			assertThat(this.store.payloads("close-order")).isEmpty();
			CompletableFuture<String> paid = new CompletableFuture<>();
			orders.payLater(1, paid);
			orders.close(1);
			synchronized (this.store) {
				paid.complete("paid");
				assertThat(this.store.payloads("close-order")).hasSize(1);
			}
			await().until(() -> this.store.payloads("close-order").isEmpty());
			CompletableFuture<String> paidInTransaction = new CompletableFuture<>();
			orders.payLater(1, paidInTransaction);
			orders.close(1);
			TransactionSynchronizationManager.initSynchronization();
			TransactionSynchronizationManager.setActualTransactionActive(true);
			try {
				paidInTransaction.complete("paid");
				assertThat(TransactionSynchronizationManager.getSynchronizations()).as("waits for the commit")
					.hasSize(1);
			}
			finally {
				TransactionSynchronizationUtils.triggerAfterCompletion(TransactionSynchronization.STATUS_ROLLED_BACK);
				TransactionSynchronizationManager.clear();
			}
		});
	}

	@Test
	void anErrorOfTheStoreReachesTheSubscriber() {
		this.store.refuse("close-order");
		this.runner.run((context) -> assertThatIllegalStateException()
			.isThrownBy(() -> context.getBean(Orders.class).pay(1).block(Duration.ofMinutes(1)))
			.withMessage("refused"));
	}

	private static void awaitCompleted(ApplicationContext context, String name, int tasks) {
		await().until(() -> context.getBean(DelayedTaskRegistry.class).counts(name).completed() == tasks);
	}

	private static String take() throws InterruptedException {
		return Optional.ofNullable(events.poll(60, TimeUnit.SECONDS)).orElse("nothing within 60 s");
	}

	record Order(long id, List<String> lines) {
	}

	static class Service {

		@Autowired
		private BeanFactory beanFactory;

		@Delayed(delayExpression = "#delay", name = "later", aliases = "sooner", durable = true)
		public void later(Duration delay, Order order) {
			events.add("later %d on %s".formatted(order.id(), Thread.currentThread().getName().substring(0, 5)));
		}

		@Delayed(delay = "1h", name = "renamed", aliases = "former", key = "#id", durable = true)
		public void renamed(long id) {
		}

		@Delayed(delayExpression = "#delay", name = "returning", key = "#id", durable = true)
		public DelayedTask<Void> returning(Duration delay, long id) {
			return (id > 0) ? DelayedTask.completed(null) : null;
		}

		@Delayed(delay = "1h", name = "replace", key = "#id", durable = true)
		public void replace(long id, String text) {
		}

		@Delayed(delayExpression = "#due", name = "at", durable = true)
		public DelayedTask<Void> at(Instant due) {
			return null;
		}

		@Delayed(delay = "0", name = "chain", durable = true)
		public void chain(int rest) {
			events.add("chain " + rest);
			if (rest > 1) {
				this.beanFactory.getBean(Service.class).chain(rest - 1);
			}
		}

		@Delayed(delay = "0", name = "failing", durable = true)
		public void failing(int attempts) throws IOException {
			DelayedTaskContext context = DelayedTaskContext.current().orElseThrow();
			events.add("failing attempt %d delivery %d".formatted(context.attempt(), context.deliveries()));
			if (context.attempt() < attempts) {
				throw new IOException("attempt " + context.attempt());
			}
		}

		@Delayed(delay = "1h", name = "in-memory")
		public void inMemory(Duration delay, Order order) {
			events.add("in memory");
		}

		public void plain(Duration delay, Order order) {
			events.add("plain");
		}

	}

	interface Advised {

		void transactional();

		@Retryable(maxRetries = 3, delay = 1)
		void retried();

	}

	static class AdvisedService implements Advised {

		private int attempts;

		@Override
		@Delayed(delay = "0", name = "transactional", durable = true)
		@Transactional
		public void transactional() {
			events.add("transaction=" + TransactionSynchronizationManager.isActualTransactionActive());
		}

		@Override
		@Delayed(delay = "0", name = "retried", durable = true)
		@Retryable(maxRetries = 3, delay = 1)
		public void retried() {
			events.add("attempt %d of delivery %d".formatted(++this.attempts,
					DelayedTaskContext.current().orElseThrow().deliveries()));
			if (this.attempts < 3) {
				throw new IllegalStateException();
			}
		}

	}

	@Scope("prototype")
	static class Prototype {

		static final AtomicInteger INSTANCES = new AtomicInteger();

		private final int number = INSTANCES.incrementAndGet();

		@Delayed(delay = "0", name = "prototype", durable = true)
		public void run() {
			events.add("prototype " + this.number);
		}

	}

	@org.springframework.stereotype.Component("scoped")
	@Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
	static class Scoped {

		@Delayed(delay = "0", durable = true)
		public void run() {
			events.add("scoped");
		}

	}

	interface Reminders<T> {

		@Delayed(delay = "0", name = "remind", durable = true)
		void remind(List<T> whom);

	}

	static class OrderReminders implements Reminders<Order> {

		@Override
		public void remind(List<Order> orders) {
			orders.forEach((order) -> events.add("remind " + order.id()));
		}

	}

	static class Orders {

		@Delayed(delay = "30m", name = "close-order", key = "#orderId", durable = true)
		public void close(long orderId) {
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public Mono<String> pay(long orderId) {
			return Mono.just("paid").publishOn(Schedulers.parallel());
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public CompletableFuture<String> payLater(long orderId, CompletableFuture<String> paid) {
			return paid;
		}

		@Delayed(delay = "30m", name = "reminder", key = "#orderId")
		public DelayedTask<Void> remind(long orderId) {
			return DelayedTask.completed(null);
		}

		@CancelDelayed(name = "reminder", key = "#orderId")
		public void cancelReminder(long orderId) {
		}

		@CancelDelayed(name = "reminder", key = "#orderId")
		public DelayedTask<Void> payAndShip(long orderId, DelayedTaskTemplate tasks) {
			return tasks.enqueue(TaskId.of("ship", orderId), Duration.ofHours(1));
		}

		@CancelDelayed(name = "elsewhere", key = "#orderId")
		public void cancelElsewhere(long orderId) {
		}

	}

	static class Uncaught implements AsyncUncaughtExceptionHandler {

		final BlockingQueue<Throwable> errors = new LinkedBlockingQueue<>();

		volatile String call;

		volatile boolean throwing;

		@Override
		public void handleUncaughtException(Throwable error, Method method, Object... arguments) {
			this.call = method.getName() + Arrays.toString(arguments);
			this.errors.add(error);
			if (this.throwing) {
				throw new IllegalStateException("handler");
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods
	@Import({ Service.class, AdvisedService.class, Prototype.class, Scoped.class, OrderReminders.class, Orders.class,
			Uncaught.class })
	static class Application {

	}

}
