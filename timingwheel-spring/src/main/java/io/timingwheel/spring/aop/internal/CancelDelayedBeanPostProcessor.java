package io.timingwheel.spring.aop.internal;

import java.lang.reflect.Method;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.function.Supplier;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.Transactions;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.core.Ordered;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Reads the {@link CancelDelayed} methods of all beans, and adds their advice. It is
 * inside the advice of the auto-proxy creator, so that a surrounding transaction is still
 * open when the method has returned. The advice for methods that return publishers is
 * directly outside of the transaction's. Thread-safe.
 */
final class CancelDelayedBeanPostProcessor extends AdvicePostProcessor {

	private static final Log logger = LogFactory.getLog(CancelDelayedBeanPostProcessor.class);

	private final transient Map<Class<?>, Map<Method, Cancellation>> byClass = new ConcurrentHashMap<>();

	private final transient TaskMethodRegistry delayed;

	CancelDelayedBeanPostProcessor(AnnotatedBeans beans, TaskMethodRegistry delayed) {
		super(beans, CancelDelayed.class, EARLY);
		this.delayed = delayed;
	}

	@Override
	protected void read(Class<?> beanClass, String beanName) {
		of(beanClass);
	}

	private Map<Method, Cancellation> of(Class<?> beanClass) {
		return this.byClass.computeIfAbsent(ClassUtils.getUserClass(beanClass), (type) -> {
			Map<Method, Cancellation> methods = new HashMap<>();
			this.beans.annotated.of(type, CancelDelayed.class)
				.forEach((method, annotation) -> methods.put(method, read(method, annotation, type)));
			return methods;
		});
	}

	private Cancellation read(Method method, CancelDelayed annotation, Class<?> beanClass) {
		MethodAttributes attributes = new MethodAttributes(method, annotation, this.beans.beanFactory());
		Refusal.whenNoProxyIntercepts("@CancelDelayed", method);
		Refusal.when(!attributes.has("key"), method, "@CancelDelayed has no key",
				"set the key to an expression on the arguments, such as #orderId");
		Class<?> type = ResolvableType.forMethodReturnType(method, beanClass).resolve(method.getReturnType());
		boolean isPublisher = !annotation.beforeInvocation() && !CompletionStage.class.isAssignableFrom(type);
		return new Cancellation(method, SingletonSupplier.of(() -> attributes.name("")),
				Objects.requireNonNull(attributes.expression("key")), annotation.beforeInvocation(),
				isPublisher ? ReactiveTypes.adapters("@CancelDelayed", method, type, ", or set beforeInvocation = true")
						: null);
	}

	@Override
	protected void resolveWithBeans() {
		List.copyOf(this.byClass.values()).forEach((methods) -> methods.values().forEach(this::checkName));
	}

	/** An unknown name is only a warning if something else may have it. */
	private void checkName(Cancellation cancellation) {
		String name = cancellation.name().get();
		if (this.delayed.hasName(name)) {
			return;
		}
		InvalidAnnotatedMethodException problem = new InvalidAnnotatedMethodException(cancellation.method(),
				"@CancelDelayed names the task \"%s\", which no @Delayed method has".formatted(name),
				"use one of these names, or give a method this name, by @Delayed(name = ..): " + this.delayed.names());
		if (!this.delayed.runtime.hasStore() && this.beans.replaced().isEmpty()) {
			throw problem;
		}
		logger.warn("%s. Another application at the same store, or a bean that was replaced, may have the name"
			.formatted(problem.getMessage()));
	}

	@Override
	protected MethodInterceptor adviceOf(Method method, Class<?> targetClass, String beanName) {
		return adviceOf(method, targetClass, false);
	}

	private MethodInterceptor adviceOf(Method method, Class<?> targetClass, boolean ofPublishers) {
		Cancellation cancellation = Objects.requireNonNull(of(targetClass).get(method));
		return ((cancellation.adapters() != null) == ofPublishers) ? (invocation) -> cancel(cancellation, invocation)
				: MethodInvocation::proceed;
	}

	/**
	 * Publishers have an advice directly outside of that of transactions, so that they
	 * complete after the commit of a reactive transaction of their method.
	 */
	@Override
	protected void added(Advisor general, Advised proxy, DefaultPointcutAdvisor ofBean) {
		super.added(general, proxy, ofBean);
		Collection<Cancellation> methods = of(AopUtils.getTargetClass(proxy)).values();
		if (!methods.isEmpty() && methods.stream().allMatch((method) -> method.adapters() == null)) {
			return;
		}
		Advisor[] advisors = proxy.getAdvisors();
		int position = 0;
		while (advisors[position] != ofBean && !Transactions.areOpenedBy(advisors[position].getAdvice())) {
			position++;
		}
		DefaultPointcutAdvisor outer = advisor(
				new OfBean((method, targetClass) -> adviceOf(method, targetClass, true)));
		// Keeps the places of advisors that are added later.
		outer.setOrder((advisors[position] instanceof Ordered inner) ? inner.getOrder() : LOWEST_PRECEDENCE);
		proxy.addAdvisor(position, outer);
	}

	private @Nullable Object cancel(Cancellation method, MethodInvocation invocation) throws Throwable {
		PendingCancellation cancellation = new PendingCancellation(
				new TaskId(method.name().get(), method.key().key(invocation.getArguments()).toString()),
				this.delayed.runtime);
		if (method.beforeInvocation()) {
			cancellation.run();
			return invocation.proceed();
		}
		Object result = invocation.proceed();
		if (result instanceof Future<?> || result instanceof CompletionStage<?>) {
			cancellation.runOnSuccessOf(result);
			return result;
		}
		if (result != null && method.adapters() != null) {
			return PendingCancellation.OfPublisher.apply(result, method.adapters().apply(result), cancellation);
		}
		cancellation.runWithTransaction();
		return result;
	}

	/**
	 * A checked method.
	 *
	 * @param name gives the name of the tasks, and may need beans
	 * @param adapters {@code null} if the method returns no publisher
	 */
	private record Cancellation(Method method, Supplier<String> name, ArgumentExpression key, boolean beforeInvocation,
			@Nullable Function<Object, ReactiveAdapter> adapters) {
	}

}
