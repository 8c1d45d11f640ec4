package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.aop.AnnotatedMethodScanner;
import io.timingwheel.spring.aop.AnnotatedMethods;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.durable.DelayedTaskStore;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * The {@link Recurring} methods of all beans. Reads and checks them at startup from the
 * types of the beans. The type of a bean may show less than its class, so the methods are
 * read once more from the singletons themselves. Starts their runs with the application.
 * Thread-safe.
 *
 * @since 0.1
 */
public final class RecurringMethodRegistry implements AnnotatedMethodScanner.Reader {

	/** The key of the task of each method. */
	public static final String KEY = DelayedTaskStore.DECLARED_KEY;

	private final AnnotatedMethods<Recurring> annotated = new AnnotatedMethods<>(Recurring.class);

	private final Map<String, RecurringMethod> byPlace = new ConcurrentHashMap<>();

	private final List<MemoryRecurringTask> inMemory = new ArrayList<>();

	private final ConfigurableListableBeanFactory beanFactory;

	private final DelayedMethodRegistry delayed;

	private final DelayedRuntime runtime;

	private final RecurringMethodReader reader;

	private boolean started;

	/**
	 * Creates an empty registry.
	 * @param beanFactory contains the beans
	 * @param delayed knows the names that belong to {@code @Delayed} methods
	 * @param runtime runs the methods
	 */
	public RecurringMethodRegistry(ConfigurableListableBeanFactory beanFactory, DelayedMethodRegistry delayed,
			DelayedRuntime runtime) {
		this.beanFactory = beanFactory;
		this.delayed = delayed;
		this.runtime = runtime;
		this.reader = new RecurringMethodReader(beanFactory);
	}

	@Override
	public void read(Class<?> beanClass, String beanName) {
		this.annotated.of(beanClass).forEach((method, annotation) -> {
			RecurringMethod recurring = this.reader.read(method, annotation, beanClass, beanName);
			this.byPlace.put(recurring.beanName() + "#" + method.getName(), recurring);
		});
	}

	/**
	 * The names of the methods that have a schedule. Each of them has a task with the key
	 * {@link #KEY}.
	 * @return the names, sorted; call this after the start
	 */
	public List<String> names() {
		return this.byPlace.values()
			.stream()
			.filter((method) -> method.times().schedule() != null)
			.map(RecurringMethod::name)
			.distinct()
			.sorted()
			.toList();
	}

	@Override
	public void resolveWithBeans() {
		readSingletons();
		Map<String, RecurringMethod> byName = new ConcurrentHashMap<>();
		for (RecurringMethod method : this.byPlace.values()) {
			method.resolve();
			checkName(method, byName.putIfAbsent(method.name(), method));
			if (method.times().schedule() != null) {
				DelayedRuntime.checkNeedsNoCaller(method.method(), this.runtime.executor(method.executor()),
						"nobody calls it, and its executor runs it with the security context of a caller");
				register(method);
			}
			else {
				this.runtime.tasks().policies().addSwitchedOff(method.name());
			}
		}
	}

	private void register(RecurringMethod method) {
		if (method.durable()) {
			DurableRecurringTask.register(method, this.runtime);
		}
		else {
			this.inMemory.add(new MemoryRecurringTask(method, this.runtime));
		}
	}

	/**
	 * Reads the classes of the singletons, which the scan may have seen as interfaces,
	 * and checks that the proxies of the singletons have the methods.
	 */
	private void readSingletons() {
		for (String name : this.beanFactory.getBeanDefinitionNames()) {
			Object bean = this.beanFactory.containsSingleton(name) ? this.beanFactory.getSingleton(name) : null;
			if (bean != null && !(bean instanceof FactoryBean)) {
				Class<?> beanClass = AopUtils.getTargetClass(bean);
				read(beanClass, name);
				this.annotated.of(beanClass).keySet().forEach((method) -> checkProxy(method, bean));
			}
		}
	}

	private static void checkProxy(Method method, Object bean) {
		try {
			AopUtils.selectInvocableMethod(method, bean.getClass());
		}
		catch (IllegalStateException ex) {
			throw new InvalidAnnotatedMethodException(method,
					"@Recurring is on a method that is in no interface of the proxy, which is interface-based",
					"declare the method in one of the interfaces, or give the bean a class-based proxy,"
							+ " by @Proxyable(TARGET_CLASS) or spring.aop.proxy-target-class=true",
					ex);
		}
	}

	private void checkName(RecurringMethod method, @Nullable RecurringMethod holder) {
		if (holder != null || this.delayed.names().contains(method.name())) {
			throw new InvalidAnnotatedMethodException(method.method(), (holder != null)
					? "the name \"%s\" of @Recurring belongs to %s of the bean \"%s\" already".formatted(method.name(),
							InvalidAnnotatedMethodException.describe(holder.method()), holder.beanName())
					: "the name \"%s\" of @Recurring belongs to a @Delayed method already".formatted(method.name()),
					"give each method a name of its own");
		}
	}

	/**
	 * Starts the runs in memory. A second call does nothing.
	 */
	public synchronized void start() {
		if (!this.started) {
			this.started = true;
			this.inMemory.forEach(MemoryRecurringTask::start);
		}
	}

}
