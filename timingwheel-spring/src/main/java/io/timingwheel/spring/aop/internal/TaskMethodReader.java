package io.timingwheel.spring.aop.internal;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Schedule;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.StringUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Reads one {@link Delayed} or {@link Recurring} annotation in two phases: what the code
 * says, without any bean, and the values when the beans exist. Refuses what cannot take
 * effect.
 */
final class TaskMethodReader {

	private static final Set<Class<?>> RESULTS = Set.of(void.class, Future.class, CompletionStage.class,
			CompletableFuture.class, DelayedTask.class);

	/** The propagations with which a body is not part of the caller's transaction. */
	private static final Set<Integer> OUTSIDE = Set.of(TransactionDefinition.PROPAGATION_REQUIRES_NEW,
			TransactionDefinition.PROPAGATION_NOT_SUPPORTED, TransactionDefinition.PROPAGATION_NEVER);

	private final Method method;

	private final Annotation annotation;

	private final MethodAttributes attributes;

	TaskMethodReader(Method method, Annotation annotation, ConfigurableBeanFactory beanFactory) {
		this.method = method;
		this.annotation = annotation;
		this.attributes = new MethodAttributes(method, annotation, beanFactory);
	}

	TaskMethod read(Class<?> beanClass, String beanName, TaskRuntime runtime) {
		String publicName = AnnotatedBeans.publicName(beanName);
		TaskMethod task = new TaskMethod(publicName, this.method, this.annotation,
				AnnotatedMethods.argumentTypes(this.method, beanClass), this.attributes.expression("key"),
				this.attributes.expression("delayExpression"),
				SingletonSupplier.of(() -> values(publicName + "." + this.method.getName())));
		Refusal.whenNoProxyIntercepts(this.attributes.type(), this.method);
		refuse(AnnotatedElementUtils.hasAnnotation(this.method, Async.class)
				|| AnnotatedElementUtils.hasAnnotation(beanClass, Async.class), "and @Async are on one method",
				"remove @Async: the method runs on an executor anyway");
		refuse(task.durable() && !runtime.hasStore(), "is durable, but there is no store to keep its tasks in",
				"add the dependency io.timingwheel:timingwheel-jdbc or io.timingwheel:timingwheel-redis and set"
						+ " timingwheel.store.type to jdbc or redis, or remove durable = true");
		checkReturnType(ResolvableType.forMethodReturnType(this.method, beanClass), task);
		if (this.annotation instanceof Delayed delayed) {
			checkDelayed(delayed);
			checkTransactional(delayed, beanClass);
		}
		else {
			checkRecurring();
		}
		return task;
	}

	private void refuse(boolean wrong, String problem, String remedy) {
		Refusal.when(wrong, this.method, this.attributes.type() + " " + problem, remedy);
	}

	/**
	 * A method must be able to return before its body has run, and nobody waits for the
	 * result of a stored call.
	 */
	private void checkReturnType(ResolvableType returnType, TaskMethod task) {
		Class<?> resolved = returnType.resolve(this.method.getReturnType());
		refuse(!RESULTS.contains(resolved),
				"is on a method that returns %s, which %s".formatted(resolved.getName(),
						task.recurring() ? "nobody gets" : "cannot be given before the body has run"),
				"return void, Future, CompletionStage, CompletableFuture or DelayedTask");
		boolean noResult = resolved == void.class
				|| (resolved == DelayedTask.class && returnType.getGeneric(0).resolve() == Void.class);
		refuse(task.durable() && !task.recurring() && !noResult,
				"is durable and on a method that returns %s, while any node may run the body".formatted(returnType),
				"return void or DelayedTask<Void>");
	}

	private void checkDelayed(Delayed delayed) {
		boolean hasDelay = this.attributes.has("delay");
		refuse(hasDelay == this.attributes.has("delayExpression"), hasDelay ? "has two delays" : "has no delay",
				"set a delay such as 30s, or a delayExpression");
		refuse(this.attributes.has("maxWait")
				&& (!this.attributes.has("key") || delayed.ifPending() != IfPending.REPLACE),
				"has a maxWait, which takes effect only with a key and ifPending = REPLACE",
				"set the key to an expression on the arguments, such as #id, and remove ifPending, or remove maxWait");
		refuse(!delayed.durable() && (delayed.transactional() || delayed.aliases().length > 0),
				"is not durable, but transactional or with aliases",
				"set durable = true, or use @Transactional in place of transactional = true, and remove the aliases");
	}

	/** The body must be a part of the transaction that deletes its task. */
	private void checkTransactional(Delayed delayed, Class<?> beanClass) {
		if (delayed.transactional()) {
			TransactionAttribute found = new AnnotationTransactionAttributeSource(false)
				.getTransactionAttribute(this.method, beanClass);
			refuse(found != null && OUTSIDE.contains(found.getPropagationBehavior()),
					"is transactional, but the propagation of @Transactional keeps the body out of its transaction",
					"remove the propagation");
		}
	}

	private void checkRecurring() {
		refuse(this.method.getParameterCount() > 0, "is on a method with arguments, and no caller gives them",
				"remove the parameters");
		refuse(AnnotatedElementUtils.hasAnnotation(this.method, Delayed.class), "and @Delayed are on one method",
				"remove one of them");
		List<String> times = times();
		refuse(times.size() != 1,
				"has %s of cron, every and fixedDelay".formatted(times.isEmpty() ? "none" : "several"),
				"set one of them");
		boolean isCron = times.contains("cron");
		refuse(this.attributes.has(isCron ? "initialDelay" : "zone"),
				isCron ? "has an initialDelay, but a cron expression sets the first time too"
						: "has a zone, but no cron expression",
				"remove it");
	}

	/** The attributes that say when a recurring method runs. */
	private List<String> times() {
		return Stream.of("cron", "every", "fixedDelay").filter(this.attributes::has).toList();
	}

	private TaskMethod.Values values(String defaultName) {
		String name = this.attributes.name(defaultName);
		String executor = this.attributes.text("executor");
		if (this.annotation instanceof Recurring recurring) {
			Schedule schedule = schedule();
			Duration first = this.attributes.duration("initialDelay");
			if (first == null && schedule != null && !schedule.isCron()) {
				first = Duration.ZERO;
			}
			return new TaskMethod.Values(name, List.of(), executor, this.attributes.policy(recurring.policy()), first,
					null, null, schedule);
		}
		Delayed delayed = (Delayed) this.annotation;
		List<String> aliases = Arrays.stream(delayed.aliases())
			.map(this.attributes::alias)
			.filter(StringUtils::hasText)
			.toList();
		return new TaskMethod.Values(name, aliases, executor, this.attributes.policy(delayed.policy()),
				this.attributes.has("delay") ? this.attributes.anyDuration("delay") : null,
				this.attributes.duration("maxWait"), this.attributes.duration("expireAfter"), null);
	}

	private @Nullable Schedule schedule() {
		String time = times().get(0);
		String text = this.attributes.text(time);
		String zone = this.attributes.text("zone");
		if (text.equals(Recurring.DISABLED)) {
			return null;
		}
		return this.attributes.value("schedule \"%s\"".formatted(text),
				"set a cron expression of six fields such as 0 0 3 * * * in a zone such as Europe/Berlin, or a period such as 30s or PT1H,"
						+ " or \"-\" to switch the method off",
				() -> switch (time) {
					case "cron" -> Schedule.cron(text, zone.isEmpty() ? ZoneId.systemDefault() : ZoneId.of(zone));
					case "every" -> Schedule.every(MethodAttributes.toDuration(text));
					default -> Schedule.fixedDelay(MethodAttributes.toDuration(text));
				});
	}

}
