package io.timingwheel.spring.aop.internal.delayed;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
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
import io.timingwheel.spring.aop.internal.ReactiveTypes;
import io.timingwheel.spring.aop.internal.Refusal;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

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

	@Override
	public void read(Class<?> beanClass, String beanName) {
		of(beanClass).values().forEach((cancellation) -> {
			Method method = cancellation.method();
			this.proxyRules.check("@CancelDelayed", method, beanClass, beanName);
			if (!cancellation.beforeInvocation() && !CompletionStage.class.isAssignableFrom(method.getReturnType())) {
				ReactiveTypes.check("@CancelDelayed", method, method.getReturnType(),
						", or set beforeInvocation = true");
			}
		});
	}

	Map<Method, Cancellation> of(Class<?> beanClass) {
		return this.byClass.computeIfAbsent(ClassUtils.getUserClass(beanClass), (type) -> {
			Map<Method, Cancellation> methods = new HashMap<>();
			this.annotated.of(type).forEach((method, annotation) -> methods.put(method, read(method, annotation)));
			return methods;
		});
	}

	private Cancellation read(Method method, CancelDelayed annotation) {
		MethodAttributes attributes = new MethodAttributes(method, annotation, this.factory);
		Refusal.when(!attributes.has("key"), method, "@CancelDelayed has no key",
				"set the key to an expression on the arguments, such as #orderId");
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
	 * annotations. An unknown name is only a warning if something else may have it.
	 */
	private void checkName(Cancellation cancellation) {
		String name = cancellation.name();
		String failed = null;
		if (this.delayed.hasName(name)) {
			return;
		}
		for (String hidden : this.beans.hidden()) {
			failed = create(hidden) ? failed : hidden;
			if (this.delayed.hasName(name)) {
				return;
			}
		}
		InvalidAnnotatedMethodException problem = new InvalidAnnotatedMethodException(cancellation.method(),
				"@CancelDelayed names the task \"%s\", which no @Delayed method has".formatted(name),
				"use one of these names, or give a method this name, by @Delayed(name = ..): " + this.delayed.names());
		String holder = this.beans.hidesAnnotations() ? "A bean that a test has replaced"
				: this.rules.isStoreConfigured() ? "Another application at the same store"
						: (failed != null) ? "The lazy bean \"" + failed + "\", which cannot be created now," : null;
		if (holder == null) {
			throw problem;
		}
		logger.warn("%s. %s may have the name".formatted(problem.getMessage(), holder));
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
