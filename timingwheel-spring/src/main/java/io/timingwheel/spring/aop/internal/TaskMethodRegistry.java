package io.timingwheel.spring.aop.internal;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.task.internal.PolicySettings;
import org.aopalliance.intercept.MethodInterceptor;

import org.springframework.util.ClassUtils;

/**
 * The {@link Delayed} and {@link Recurring} methods of all beans, and their names. The
 * tasks of a method begin when it is called first, at the end of the start at the latest.
 * Adds the advice for {@link Delayed}, for each bean with its name, which is a part of
 * the names of its tasks. Thread-safe.
 */
public final class TaskMethodRegistry extends AdvicePostProcessor {

	/** The key of the task of each recurring method, in memory as in a store. */
	public static final String RECURRING_KEY = "recurring";

	private final transient Map<String, TaskMethod> byPlace = new ConcurrentHashMap<>();

	private final transient Map<String, TaskMethod> byName = new ConcurrentHashMap<>();

	/** The tasks of the methods that have begun, by place. */
	private final transient Map<String, MethodInterceptor> begun = new ConcurrentHashMap<>();

	final transient TaskRuntime runtime;

	private volatile boolean started;

	private volatile boolean beansExist;

	TaskMethodRegistry(AnnotatedBeans beans) {
		super(beans, Delayed.class, EARLY);
		this.runtime = new TaskRuntime(beans.beanFactory());
	}

	@Override
	protected void read(Class<?> beanClass, String beanName) {
		Class<?> type = ClassUtils.getUserClass(beanClass);
		AnnotatedMethods annotated = this.beans.annotated;
		annotated.of(type, Delayed.class).forEach((method, annotation) -> read(method, annotation, type, beanName));
		if (this.beans.beanFactory().containsBeanDefinition(beanName)) {
			annotated.of(type, Recurring.class)
				.forEach((method, annotation) -> read(method, annotation, type, beanName));
		}
	}

	private void read(Method method, Annotation annotation, Class<?> beanClass, String beanName) {
		String place = TaskMethod.place(beanName, method);
		TaskMethod known = this.byPlace.get(place);
		if (known != null && known.method().equals(method) && known.annotation().equals(annotation)) {
			return;
		}
		TaskMethod task = new TaskMethodReader(method, annotation, this.beans.beanFactory()).read(beanClass, beanName,
				this.runtime);
		if (!task.recurring()) {
			this.begun.remove(place);
		}
		if (this.beansExist) {
			begin(task);
		}
		this.byPlace.put(place, task);
	}

	@Override
	protected void resolveWithBeans() {
		this.byPlace.values().removeIf((method) -> method.recurring() && this.beans.isReplaced(method.beanName()));
		this.beansExist = true;
		// A recurring method must not take the name of a method that is called.
		this.byPlace.values()
			.stream()
			.sorted(Comparator.comparing(TaskMethod::recurring).thenComparing((method) -> method.place()))
			.toList()
			.forEach(this::begin);
	}

	@Override
	protected MethodInterceptor adviceOf(Method method, Class<?> targetClass, String beanName) {
		String place = TaskMethod.place(beanName, method);
		begin(Objects.requireNonNull(this.byPlace.get(place), () -> "No @Delayed or @Recurring on " + method));
		return Objects.requireNonNull(this.begun.get(place));
	}

	private void begin(TaskMethod method) {
		if (this.begun.containsKey(method.place())) {
			return;
		}
		claimName(method.name(), method);
		method.values().aliases().forEach((alias) -> claimName(alias, method));
		if (method.recurring() && method.values().schedule() == null) {
			// The configuration may still name it.
			this.runtime.tasks().policies().declare(method.name(), PolicySettings.NONE);
			return;
		}
		this.runtime.checkCanRun(method);
		MethodInterceptor tasks = method.durable() ? new DurableTaskInterceptor(method, this.runtime)
				: new MemoryTaskInterceptor(method, this.runtime);
		this.begun.put(method.place(), tasks);
		if (this.started) {
			recur(tasks);
		}
	}

	private void claimName(String name, TaskMethod method) {
		TaskMethod holder = this.byName.putIfAbsent(name, method);
		if (holder == null || holder == method) {
			return;
		}
		Refusal.when(!isSame(holder, method), method.method(),
				"the name \"%s\" of %s belongs to %s of the bean \"%s\" already".formatted(name, method.type(),
						InvalidAnnotatedMethodException.describe(holder.method()), holder.beanName()),
				"give each method a name of its own");
		Refusal.when(method.durable() && !holder.beanName().equals(method.beanName()), method.method(),
				"the durable @Delayed method is in the beans \"%s\" and \"%s\", and a stored call does not say which is to run it"
					.formatted(holder.beanName(), method.beanName()),
				"remove the name, so that each bean has its own, or keep only one of the beans");
		this.byName.put(name, method);
	}

	/**
	 * A method may be read twice, and a {@code @Delayed} one be in two beans of a class.
	 */
	private static boolean isSame(TaskMethod first, TaskMethod second) {
		return first.place().equals(second.place())
				|| (!first.recurring() && !second.recurring() && first.method().equals(second.method()));
	}

	boolean hasName(String name) {
		TaskMethod method = this.byName.get(name);
		return method != null && !method.recurring();
	}

	/** The names and aliases of all {@code @Delayed} methods. */
	List<String> names() {
		return this.byName.keySet().stream().filter(this::hasName).sorted().toList();
	}

	/** The names of the tasks that have the key {@link #RECURRING_KEY}. */
	public List<String> recurringNames() {
		return this.byPlace.values()
			.stream()
			.filter((method) -> method.recurring() && this.begun.containsKey(method.place()))
			.map(TaskMethod::name)
			.sorted()
			.toList();
	}

	/** Starts the runs in memory, also of the methods that follow. */
	public void start() {
		if (!this.started) {
			this.started = true;
			this.begun.values().forEach(TaskMethodRegistry::recur);
		}
	}

	private static void recur(MethodInterceptor tasks) {
		if (tasks instanceof MemoryTaskInterceptor inMemory) {
			inMemory.recur();
		}
	}

}
