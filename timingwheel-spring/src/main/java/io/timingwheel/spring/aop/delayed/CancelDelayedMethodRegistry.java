package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.aop.AnnotatedMethodScanner;
import io.timingwheel.spring.aop.AnnotatedMethods;
import io.timingwheel.spring.aop.CreatedBeans;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.MethodAttributes;
import io.timingwheel.spring.aop.ProxyRules;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.BeansException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * The {@link CancelDelayed} methods of all beans, by class. Thread-safe.
 *
 * @since 0.1
 */
public final class CancelDelayedMethodRegistry implements AnnotatedMethodScanner.Reader {

	private static final Log logger = LogFactory.getLog(CancelDelayedMethodRegistry.class);

	private final AnnotatedMethods<CancelDelayed> annotated = new AnnotatedMethods<>(CancelDelayed.class);

	private final Map<Class<?>, Map<Method, Cancellation>> byClass = new ConcurrentHashMap<>();

	private final CreatedBeans beans;

	private final ConfigurableListableBeanFactory beanFactory;

	private final DelayedMethodRegistry delayed;

	private final ProxyRules proxyRules;

	private final DelayedMethodRules rules;

	/**
	 * Creates an empty registry.
	 * @param beans the beans, whose factory resolves the references in annotations
	 * @param delayed knows the names that can be cancelled
	 */
	public CancelDelayedMethodRegistry(CreatedBeans beans, DelayedMethodRegistry delayed) {
		ConfigurableListableBeanFactory beanFactory = beans.beanFactory();
		this.beans = beans;
		this.delayed = delayed;
		this.beanFactory = beanFactory;
		this.proxyRules = new ProxyRules(beanFactory);
		this.rules = new DelayedMethodRules(beanFactory, CancelDelayed.class);
	}

	AnnotatedMethods<CancelDelayed> annotated() {
		return this.annotated;
	}

	/**
	 * Reads the annotated methods of a class, and checks that the bean's proxy can
	 * intercept them.
	 */
	@Override
	public void read(Class<?> beanClass, String beanName) {
		of(beanClass).values().forEach((method) -> {
			this.proxyRules.check("@CancelDelayed", method.method(), beanClass, beanName);
			if (!method.beforeInvocation()) {
				this.rules.checkCompletion(method.method());
			}
		});
	}

	/**
	 * The annotated methods of a class.
	 */
	Map<Method, Cancellation> of(Class<?> beanClass) {
		Class<?> userClass = ClassUtils.getUserClass(beanClass);
		Map<Method, Cancellation> methods = this.byClass.get(userClass);
		if (methods == null) {
			methods = read(userClass);
			this.byClass.put(userClass, methods);
		}
		return methods;
	}

	private Map<Method, Cancellation> read(Class<?> type) {
		Map<Method, Cancellation> methods = new HashMap<>();
		this.annotated.of(type).forEach((method, annotation) -> methods.put(method, read(method, annotation)));
		return methods.isEmpty() ? Map.of() : methods;
	}

	private Cancellation read(Method method, CancelDelayed annotation) {
		if (!StringUtils.hasText(annotation.key())) {
			throw new InvalidAnnotatedMethodException(method, "@CancelDelayed has no key",
					"set the key to an expression on the arguments, such as #orderId");
		}
		MethodAttributes attributes = new MethodAttributes(method, annotation, this.beanFactory);
		return new Cancellation(method, attributes.once(() -> attributes.name("")),
				new KeySource("@CancelDelayed(key)", annotation.key(), method, this.beanFactory),
				annotation.beforeInvocation());
	}

	/**
	 * Checks that the names to cancel exist. In doubt creates the lazy beans of which
	 * only an interface is known, since one of them may have the name. An unknown name
	 * causes only a warning in three cases. In the first, a mock or the like hides the
	 * annotations of a bean. In the second, there is a store, and another application may
	 * have the name. In the third, one of the lazy beans cannot be created now.
	 */
	@Override
	public void resolveWithBeans() {
		List.copyOf(this.byClass.values()).forEach((methods) -> methods.values().forEach(this::checkName));
	}

	private void checkName(Cancellation method) {
		if (this.delayed.hasName(method.name())) {
			return;
		}
		boolean stored = this.rules.isStoreConfigured();
		String failed = null;
		for (String hidden : stored ? this.beans.hiddenWithAnnotations() : this.beans.hidden()) {
			if (!create(hidden)) {
				failed = hidden;
			}
			if (this.delayed.hasName(method.name())) {
				return;
			}
		}
		InvalidAnnotatedMethodException problem = unknownName(method);
		if (this.beans.hidesAnnotations()) {
			logger.warn("%s. A bean that a test has replaced may have the name".formatted(problem.getMessage()));
		}
		else if (stored) {
			logger.warn("%s. Another application at the same store may have the name".formatted(problem.getMessage()));
		}
		else if (failed != null) {
			logger.warn("%s. The lazy bean \"%s\", which cannot be created now, may have the name"
				.formatted(problem.getMessage(), failed));
		}
		else {
			throw problem;
		}
	}

	/**
	 * Creates a lazy bean that nobody has asked for. So it stops the start only if its
	 * annotations are invalid.
	 */
	private boolean create(String beanName) {
		try {
			this.beanFactory.getBean(beanName);
			return true;
		}
		catch (BeansException ex) {
			if (ex.contains(InvalidAnnotatedMethodException.class)) {
				throw ex;
			}
			logger.debug("Cannot create the lazy bean \"%s\"".formatted(beanName), ex);
			return false;
		}
	}

	private InvalidAnnotatedMethodException unknownName(Cancellation method) {
		return new InvalidAnnotatedMethodException(method.method(),
				"@CancelDelayed names the task \"%s\", which no @Delayed method has".formatted(method.name()),
				this.delayed.names().isEmpty() ? "correct the name, or give it to a method, by @Delayed(name = ..)"
						: "use one of these names: " + this.delayed.names());
	}

	/**
	 * A checked {@code @CancelDelayed} method.
	 *
	 * @param method the most specific method
	 * @param taskName the name of the tasks that the method cancels
	 * @param key where the key comes from
	 * @param beforeInvocation whether to cancel before the method runs
	 */
	record Cancellation(Method method, Supplier<String> taskName, KeySource key, boolean beforeInvocation) {

		String name() {
			return this.taskName.get();
		}

	}

}
