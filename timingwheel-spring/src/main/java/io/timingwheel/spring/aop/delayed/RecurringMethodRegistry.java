package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.aop.AnnotatedMethodScanner;
import io.timingwheel.spring.aop.AnnotatedMethods;
import io.timingwheel.spring.aop.CreatedBeans;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * The {@link Recurring} methods of all beans. Reads and checks them at startup from the
 * types of the beans. The type of a bean may show less than its class, so the methods are
 * read once more from the singletons themselves. Starts their runs with the application.
 * The runs of a bean that is created later begin then. They end when the bean is gone.
 * Thread-safe.
 *
 * @since 0.1
 */
public final class RecurringMethodRegistry implements AnnotatedMethodScanner.Reader {

	private static final Log logger = LogFactory.getLog(RecurringMethodRegistry.class);

	/** The key of the task of each method, in memory as in a store. */
	public static final String KEY = "recurring";

	private final AnnotatedMethods<Recurring> annotated = new AnnotatedMethods<>(Recurring.class);

	private final Map<String, RecurringMethod> byPlace = new ConcurrentHashMap<>();

	private final List<MemoryRecurringTask> waiting = new ArrayList<>();

	private final CreatedBeans beans;

	private final ConfigurableListableBeanFactory beanFactory;

	private final DelayedMethodRegistry delayed;

	private final DelayedRuntime runtime;

	private final TaskMethodReader reader;

	private boolean started;

	/**
	 * Creates an empty registry.
	 * @param beans the beans
	 * @param delayed knows the names that belong to {@code @Delayed} methods
	 * @param runtime runs the methods
	 */
	public RecurringMethodRegistry(CreatedBeans beans, DelayedMethodRegistry delayed, DelayedRuntime runtime) {
		this.beans = beans;
		this.beanFactory = beans.beanFactory();
		this.delayed = delayed;
		this.runtime = runtime;
		this.reader = new TaskMethodReader(this.beanFactory);
	}

	@Override
	public void read(Class<?> beanClass, String beanName) {
		this.annotated.of(beanClass).forEach((method, annotation) -> {
			RecurringMethod recurring = this.reader.read(method, annotation, beanClass, beanName);
			this.byPlace.put(recurring.place(), recurring);
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
			.filter((method) -> !method.isSwitchedOff())
			.map(RecurringMethod::name)
			.distinct()
			.sorted()
			.toList();
	}

	@Override
	public void resolveWithBeans() {
		readSingletons();
		this.byPlace.values().removeIf((method) -> this.beans.isReplaced(method.beanName()));
		List.copyOf(this.byPlace.values()).forEach(this::begin);
		this.beans.onCreated(this::beginLate);
	}

	/**
	 * Checks a method for which beans may be needed, and gives it its schedule.
	 */
	private void begin(RecurringMethod method) {
		this.delayed.claimNames(method);
		this.reader.checkScope(method);
		if (method.isSwitchedOff()) {
			this.runtime.tasks().policies().addSwitchedOff(method.name());
			return;
		}
		DelayedRuntime.checkNeedsNoCaller(method.method(), this.runtime.executor(method),
				"nobody calls it, and its executor runs it with the security context of a caller");
		if (method.durable()) {
			this.runtime.declare(method);
			new DurableRecurringTask(method, this.runtime, () -> end(method));
		}
		else {
			start(new MemoryRecurringTask(method, this.runtime, () -> end(method)));
		}
	}

	private synchronized void start(MemoryRecurringTask task) {
		if (this.started) {
			task.start();
		}
		else {
			this.waiting.add(task);
		}
	}

	/**
	 * Begins the runs of a bean that nobody could know at the start.
	 */
	private void beginLate(Class<?> beanClass, String beanName) {
		this.annotated.of(beanClass).forEach((method, annotation) -> {
			String place = RecurringMethod.place(beanName, method);
			if (!this.byPlace.containsKey(place)) {
				RecurringMethod recurring = this.reader.read(method, annotation, beanClass, beanName);
				try {
					begin(recurring);
				}
				catch (RuntimeException ex) {
					this.delayed.release(recurring);
					throw ex;
				}
				this.byPlace.put(place, recurring);
			}
		});
	}

	/**
	 * Ends the runs of a method whose bean is gone.
	 */
	private void end(RecurringMethod method) {
		if (this.byPlace.remove(method.place(), method)) {
			this.delayed.release(method);
			logger.warn("The bean \"%s\" is gone, so the @Recurring method %s does not run here any more"
				.formatted(method.beanName(), InvalidAnnotatedMethodException.describe(method.method())));
		}
	}

	/**
	 * Reads the classes of the singletons, which the scan may have seen as interfaces,
	 * and checks that the proxies of the singletons have the methods.
	 */
	private void readSingletons() {
		for (String name : this.beanFactory.getBeanDefinitionNames()) {
			Object bean = this.beanFactory.containsSingleton(name) ? this.beanFactory.getSingleton(name) : null;
			if (bean instanceof FactoryBean) {
				readProduct(name);
			}
			else if (bean != null) {
				Class<?> beanClass = AopUtils.getTargetClass(bean);
				read(beanClass, name);
				this.annotated.of(beanClass).keySet().forEach((method) -> checkProxy(method, bean));
			}
		}
	}

	/**
	 * Reads what a factory bean creates, which need not be created yet.
	 */
	private void readProduct(String beanName) {
		Class<?> created = this.beans.classOf(beanName);
		Class<?> type = (created != null) ? created : this.beanFactory.getType(beanName);
		if (type != null && !Proxy.isProxyClass(type)) {
			read(ClassUtils.getUserClass(type), beanName);
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

	/**
	 * Starts the runs in memory, also of the methods that follow. A second call does
	 * nothing.
	 */
	public synchronized void start() {
		if (!this.started) {
			this.started = true;
			this.waiting.forEach(MemoryRecurringTask::start);
			this.waiting.clear();
		}
	}

}
