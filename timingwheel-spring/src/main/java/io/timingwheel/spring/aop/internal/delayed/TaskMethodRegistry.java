package io.timingwheel.spring.aop.internal.delayed;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.internal.AnnotatedMethodScanner;
import io.timingwheel.spring.aop.internal.AnnotatedMethods;
import io.timingwheel.spring.aop.internal.CreatedBeans;
import io.timingwheel.spring.aop.internal.MethodAttributes;
import io.timingwheel.spring.aop.internal.Refusal;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Pointcut;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * The {@link Delayed} and {@link Recurring} methods of all beans, and their names. They
 * are read at the start from the types of the beans, and from the classes of the beans
 * once these exist. Thread-safe.
 */
public final class TaskMethodRegistry implements AnnotatedMethodScanner.Reader {

	/** The key of the task of each recurring method, in memory as in a store. */
	public static final String RECURRING_KEY = "recurring";

	private static final Log logger = LogFactory.getLog(TaskMethodRegistry.class);

	private final AnnotatedMethods<Delayed> delayed = new AnnotatedMethods<>(Delayed.class);

	private final AnnotatedMethods<Recurring> recurring = new AnnotatedMethods<>(Recurring.class);

	private final Map<String, TaskMethod> byPlace = new ConcurrentHashMap<>();

	private final Map<String, TaskMethod> byName = new ConcurrentHashMap<>();

	private final List<MemoryTasks> waiting = new ArrayList<>();

	private final CreatedBeans beans;

	private final TaskRuntime runtime;

	private final TaskMethodReader reader;

	private boolean started;

	private volatile boolean beansExist;

	TaskMethodRegistry(CreatedBeans beans, TaskRuntime runtime) {
		this.beans = beans;
		this.runtime = runtime;
		this.reader = new TaskMethodReader(beans.beanFactory());
	}

	Pointcut delayedCalls() {
		return this.delayed.pointcut();
	}

	@Override
	public void read(Class<?> beanClass, String beanName) {
		Class<?> type = ClassUtils.getUserClass(beanClass);
		this.delayed.of(type).forEach((method, annotation) -> read(method, annotation, type, beanName));
		if (this.beans.beanFactory().containsBeanDefinition(beanName)) {
			this.recurring.of(type).forEach((method, annotation) -> read(method, annotation, type, beanName));
		}
	}

	private void read(Method method, Annotation annotation, Class<?> beanClass, String beanName) {
		TaskMethod known = find(beanName, method);
		if (known != null && known.method().equals(method) && known.annotation().equals(annotation)) {
			return;
		}
		TaskMethod task = this.reader.read(method, annotation, beanClass, beanName);
		if (!task.recurring() && MethodAttributes.isLiteral(annotation)) {
			claimNames(task);
		}
		TaskMethod former = this.byPlace.put(task.place(), task);
		if (this.beansExist && (former == null || !task.recurring())) {
			try {
				begin(task);
			}
			catch (RuntimeException ex) {
				forget(task);
				throw ex;
			}
		}
	}

	@Nullable TaskMethod find(String beanName, Method method) {
		return this.byPlace.get(TaskMethod.place(beanName, method));
	}

	@Override
	public void resolveWithBeans() {
		readProducts();
		this.byPlace.values().removeIf((method) -> method.recurring() && this.beans.isReplaced(method.beanName()));
		List<TaskMethod> all = this.byPlace.values().stream().sorted(Comparator.comparing(TaskMethod::place)).toList();
		this.beansExist = true;
		// A recurring method must not take the name of a method that is called.
		all.stream().filter(Predicate.not(TaskMethod::recurring)).forEach(this::begin);
		all.stream().filter(TaskMethod::recurring).forEach(this::begin);
	}

	/**
	 * Reads the classes of what factory beans create, which need not be created yet.
	 */
	private void readProducts() {
		ConfigurableListableBeanFactory factory = this.beans.beanFactory();
		for (String name : factory.getBeanDefinitionNames()) {
			Class<?> type = (singleton(name) instanceof FactoryBean) ? factory.getType(name) : null;
			if (type != null) {
				read(type, name);
			}
		}
	}

	private @Nullable Object singleton(String beanName) {
		ConfigurableListableBeanFactory factory = this.beans.beanFactory();
		return factory.containsSingleton(beanName) ? factory.getSingleton(beanName) : null;
	}

	private void begin(TaskMethod method) {
		claimNames(method);
		if (method.recurring()) {
			beginRuns(method);
		}
		else if (method.durable()) {
			this.reader.checkScope(method);
			// The interceptor makes its own object, and finds the method known.
			new DurableTasks(method, this.runtime, () -> {
			});
		}
		else {
			this.runtime.declare(method);
		}
	}

	private void beginRuns(TaskMethod method) {
		Object bean = singleton(method.beanName());
		if (bean != null && !(bean instanceof FactoryBean)) {
			checkProxy(method.method(), bean);
		}
		this.reader.checkScope(method);
		if (method.values().schedule() == null) {
			this.runtime.tasks().policies().addSwitchedOff(method.name());
			return;
		}
		this.runtime.checkNeedsNoCaller(method,
				"nobody calls it, and its executor runs it with the security context of a caller");
		if (method.durable()) {
			new DurableTasks(method, this.runtime, () -> end(method));
		}
		else {
			start(new MemoryTasks(method, this.runtime, () -> end(method)));
		}
	}

	private synchronized void start(MemoryTasks task) {
		if (this.started) {
			task.recur();
		}
		else {
			this.waiting.add(task);
		}
	}

	private static void checkProxy(Method method, Object bean) {
		try {
			AopUtils.selectInvocableMethod(method, bean.getClass());
		}
		catch (IllegalStateException ex) {
			throw new InvalidAnnotatedMethodException(method,
					"@Recurring is on a method that is in no interface of the proxy",
					"declare the method in an interface, or set spring.aop.proxy-target-class=true", ex);
		}
	}

	private void end(TaskMethod method) {
		if (forget(method)) {
			logger.warn("The bean \"%s\" is gone, so the @Recurring method %s does not run here any more"
				.formatted(method.beanName(), InvalidAnnotatedMethodException.describe(method.method())));
		}
	}

	private boolean forget(TaskMethod method) {
		this.byName.values().removeIf((holder) -> holder == method);
		return this.byPlace.remove(method.place(), method);
	}

	private void claimNames(TaskMethod method) {
		claimName(method.name(), method);
		method.values().aliases().forEach((name) -> claimName(name, method));
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
	 * Whether these are the same {@code @Delayed} method, which two beans of one class
	 * have, or which was read from an interface and then from the class.
	 */
	private static boolean isSame(TaskMethod first, TaskMethod second) {
		return !first.recurring() && !second.recurring()
				&& (first.method().equals(second.method()) || first.place().equals(second.place()));
	}

	boolean hasName(String name) {
		TaskMethod method = this.byName.get(name);
		return method != null && !method.recurring();
	}

	/**
	 * The names and aliases of all {@code @Delayed} methods.
	 */
	List<String> names() {
		return this.byName.keySet().stream().filter(this::hasName).sorted().toList();
	}

	/**
	 * The names of the methods that have a schedule. Each of them has a task with the key
	 * {@link #RECURRING_KEY}.
	 */
	public List<String> recurringNames() {
		return this.byPlace.values()
			.stream()
			.filter((method) -> method.recurring() && method.values().schedule() != null)
			.map(TaskMethod::name)
			.distinct()
			.sorted()
			.toList();
	}

	/**
	 * Starts the runs in memory, also of the methods that follow.
	 */
	public synchronized void start() {
		if (!this.started) {
			this.started = true;
			this.waiting.forEach(MemoryTasks::recur);
			this.waiting.clear();
		}
	}

}
