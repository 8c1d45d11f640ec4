package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.internal.AdvicePostProcessor;
import io.timingwheel.spring.aop.internal.AnnotatedMethodScanner;
import io.timingwheel.spring.aop.internal.AnnotatedMethods;
import io.timingwheel.spring.aop.internal.CreatedBeans;
import io.timingwheel.spring.aop.internal.MethodAttributes;
import io.timingwheel.spring.aop.internal.ProxyRules;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Reads the {@link CancelDelayed} methods of all beans, and adds their advice after that
 * of the auto-proxy creator, such as that of {@code @Transactional}. Thread-safe.
 */
final class CancelDelayedBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
		implements AdvicePostProcessor, AnnotatedMethodScanner.Reader {

	private static final Log logger = LogFactory.getLog(CancelDelayedBeanPostProcessor.class);

	private final transient AnnotatedMethods<CancelDelayed> annotated = new AnnotatedMethods<>(CancelDelayed.class);

	private final transient Map<Class<?>, Map<Method, Cancellation>> byClass = new ConcurrentHashMap<>();

	private final transient CreatedBeans beans;

	private final transient ConfigurableListableBeanFactory factory;

	private final transient TaskMethodRegistry delayed;

	private final transient ProxyRules proxyRules;

	private final transient TaskMethodRules rules;

	/**
	 * Creates a post-processor.
	 */
	CancelDelayedBeanPostProcessor(CreatedBeans beans, TaskMethodRegistry delayed, TaskRuntime runtime) {
		this.beans = beans;
		this.factory = beans.beanFactory();
		this.delayed = delayed;
		this.proxyRules = new ProxyRules(this.factory);
		this.rules = new TaskMethodRules(this.factory);
		this.advisor = new DefaultPointcutAdvisor(this.annotated.pointcut(),
				new CancelDelayedInterceptor(this, runtime));
		setOrder(EARLY);
		setProxyTargetClass(ProxyRules.isClassBased(this.factory));
	}

	/**
	 * Checks the methods that the type of the bean did not show at startup.
	 */
	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (!(bean instanceof AopInfrastructureBean)) {
			read(AopUtils.getTargetClass(bean), beanName);
		}
		return super.postProcessAfterInitialization(bean, beanName);
	}

	@Override
	public void read(Class<?> beanClass, String beanName) {
		of(beanClass).values().forEach((method) -> {
			this.proxyRules.check("@CancelDelayed", method.method(), beanClass, beanName);
			if (!method.beforeInvocation()) {
				this.rules.checkCompletion(method.method());
			}
		});
	}

	Map<Method, Cancellation> of(Class<?> beanClass) {
		Class<?> userClass = ClassUtils.getUserClass(beanClass);
		Map<Method, Cancellation> methods = this.byClass.get(userClass);
		if (methods == null) {
			Map<Method, Cancellation> read = new HashMap<>();
			this.annotated.of(userClass).forEach((method, annotation) -> read.put(method, read(method, annotation)));
			methods = read.isEmpty() ? Map.of() : read;
			this.byClass.put(userClass, methods);
		}
		return methods;
	}

	private Cancellation read(Method method, CancelDelayed annotation) {
		if (!StringUtils.hasText(annotation.key())) {
			throw new InvalidAnnotatedMethodException(method, "@CancelDelayed has no key",
					"set the key to an expression on the arguments, such as #orderId");
		}
		MethodAttributes attributes = new MethodAttributes(method, annotation, this.factory);
		return new Cancellation(method, attributes.once(() -> attributes.name("")),
				new KeySource("@CancelDelayed(key)", annotation.key(), method, this.factory),
				annotation.beforeInvocation());
	}

	@Override
	public void resolveWithBeans() {
		List.copyOf(this.byClass.values()).forEach((methods) -> methods.values().forEach(this::checkName));
	}

	/**
	 * Checks that a name to cancel exists. In doubt creates the lazy beans that may have
	 * annotations. An unknown name is only a warning if something else may have it: a
	 * bean behind a mock, another application at the same store, or a lazy bean that
	 * cannot be created now.
	 */
	private void checkName(Cancellation method) {
		if (this.delayed.hasName(method.name())) {
			return;
		}
		String failed = null;
		for (String hidden : this.beans.hidden()) {
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
		else if (this.rules.isStoreConfigured()) {
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
			this.factory.getBean(beanName);
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
