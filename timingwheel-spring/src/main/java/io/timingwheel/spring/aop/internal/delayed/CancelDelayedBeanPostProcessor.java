package io.timingwheel.spring.aop.internal.delayed;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.function.Supplier;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.internal.AdvicePostProcessor;
import io.timingwheel.spring.aop.internal.AnnotatedBeans;
import io.timingwheel.spring.aop.internal.AnnotatedMethods;
import io.timingwheel.spring.aop.internal.ArgumentExpression;
import io.timingwheel.spring.aop.internal.MethodAttributes;
import io.timingwheel.spring.aop.internal.ReactiveTypes;
import io.timingwheel.spring.aop.internal.Refusal;
import io.timingwheel.spring.task.TaskId;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Reads the {@link CancelDelayed} methods of all beans, and adds their advice. It is
 * inside the advice of the auto-proxy creator, so that a surrounding transaction is still
 * open when the method has returned. Thread-safe.
 */
final class CancelDelayedBeanPostProcessor extends AdvicePostProcessor implements AnnotatedBeans.Reader {

	private static final Log logger = LogFactory.getLog(CancelDelayedBeanPostProcessor.class);

	private final transient AnnotatedMethods<CancelDelayed> annotated;

	private final transient Map<Class<?>, Map<Method, Cancellation>> byClass = new ConcurrentHashMap<>();

	private final transient AnnotatedBeans beans;

	private final transient TaskMethodRegistry delayed;

	CancelDelayedBeanPostProcessor(AnnotatedBeans beans, TaskMethodRegistry delayed) {
		super(beans, CancelDelayed.class, EARLY);
		this.annotated = beans.methods(CancelDelayed.class);
		this.beans = beans;
		this.delayed = delayed;
		this.advisor = advisor(this::invoke);
	}

	@Override
	public void read(Class<?> beanClass, String beanName) {
		of(beanClass);
	}

	private Map<Method, Cancellation> of(Class<?> beanClass) {
		return this.byClass.computeIfAbsent(ClassUtils.getUserClass(beanClass), (type) -> {
			Map<Method, Cancellation> methods = new HashMap<>();
			this.annotated.of(type).forEach((method, annotation) -> methods.put(method, read(method, annotation)));
			return methods;
		});
	}

	private Cancellation read(Method method, CancelDelayed annotation) {
		MethodAttributes attributes = new MethodAttributes(method, annotation, this.beans.beanFactory());
		Refusal.whenNoProxyIntercepts("@CancelDelayed", method);
		Refusal.when(!attributes.has("key"), method, "@CancelDelayed has no key",
				"set the key to an expression on the arguments, such as #orderId");
		if (!annotation.beforeInvocation() && !CompletionStage.class.isAssignableFrom(method.getReturnType())) {
			ReactiveTypes.check("@CancelDelayed", method, method.getReturnType(), ", or set beforeInvocation = true");
		}
		return new Cancellation(method, SingletonSupplier.of(() -> attributes.name("")),
				new ArgumentExpression("@CancelDelayed(key)", annotation.key(), method, this.beans.beanFactory()),
				annotation.beforeInvocation());
	}

	@Override
	public void resolveWithBeans() {
		List.copyOf(this.byClass.values()).forEach((methods) -> methods.values().forEach(this::checkName));
	}

	/**
	 * Checks that a name to cancel exists. An unknown name is only a warning if something
	 * else may have it.
	 */
	private void checkName(Cancellation cancellation) {
		String name = cancellation.name().get();
		if (this.delayed.hasName(name)) {
			return;
		}
		InvalidAnnotatedMethodException problem = new InvalidAnnotatedMethodException(cancellation.method(),
				"@CancelDelayed names the task \"%s\", which no @Delayed method has".formatted(name),
				"use one of these names, or give a method this name, by @Delayed(name = ..): " + this.delayed.names());
		boolean mayBeStored = this.delayed.runtime().hasStore();
		if (!mayBeStored && this.beans.replaced().isEmpty()) {
			throw problem;
		}
		logger.warn("%s. %s may have the name".formatted(problem.getMessage(),
				mayBeStored ? "Another application at the same store"
						: "One of these beans, which were replaced, " + this.beans.replaced()));
	}

	private @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Class<?> targetClass = AnnotatedMethods.targetClass(invocation);
		Cancellation method = Objects
			.requireNonNull(of(targetClass).get(AnnotatedMethods.mostSpecific(invocation.getMethod(), targetClass)));
		PendingCancellation cancellation = new PendingCancellation(
				new TaskId(method.name().get(), method.key().key(invocation.getArguments()).toString()),
				this.delayed.runtime());
		if (method.beforeInvocation()) {
			cancellation.run();
			return invocation.proceed();
		}
		Object result = invocation.proceed();
		if (result instanceof Future<?> || result instanceof CompletionStage<?>) {
			cancellation.runOnSuccessOf(result);
			return result;
		}
		Object publisher = (result != null && ReactiveTypes.REACTOR_PRESENT)
				? ReactorCancellation.apply(result, invocation.getMethod().getReturnType(), cancellation) : null;
		if (publisher != null) {
			return publisher;
		}
		cancellation.runWithTransaction();
		return result;
	}

	/**
	 * A checked method.
	 *
	 * @param name gives the name of the tasks, and may need beans
	 */
	private record Cancellation(Method method, Supplier<String> name, ArgumentExpression key,
			boolean beforeInvocation) {
	}

}
