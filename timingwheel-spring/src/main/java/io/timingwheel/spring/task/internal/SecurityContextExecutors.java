package io.timingwheel.spring.task.internal;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.scheduling.concurrent.ConcurrentTaskExecutor;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The executors of Spring Security that give a task the security context of their caller.
 * The wheel has none, so such an executor wraps its task on the thread that submits it.
 * Spring Security is optional and its method not public, hence the reflection.
 * Thread-safe.
 */
public final class SecurityContextExecutors {

	/** The class that these executors extend. */
	public static final String BASE_TYPE = "org.springframework.security.concurrent.AbstractDelegatingSecurityContextSupport";

	private static final @Nullable Class<?> baseType;

	private static final @Nullable Method wrap;

	private static final @Nullable Field fixedContext;

	static {
		ClassLoader classLoader = SecurityContextExecutors.class.getClassLoader();
		baseType = ClassUtils.isPresent(BASE_TYPE, classLoader) ? ClassUtils.resolveClassName(BASE_TYPE, classLoader)
				: null;
		wrap = (baseType != null) ? ReflectionUtils.findMethod(baseType, "wrap", Runnable.class) : null;
		fixedContext = (baseType != null) ? ReflectionUtils.findField(baseType, "securityContext") : null;
		if (wrap != null) {
			ReflectionUtils.makeAccessible(wrap);
		}
		if (fixedContext != null) {
			ReflectionUtils.makeAccessible(fixedContext);
		}
	}

	private SecurityContextExecutors() {
	}

	public static boolean needsCaller(Supplier<? extends Executor> executor) {
		Object support = find(executor);
		return support != null && (fixedContext == null || ReflectionUtils.getField(fixedContext, support) == null);
	}

	/**
	 * The part of an executor that knows the security context of its tasks, for
	 * {@link #wrap}; {@code null} for an executor of another kind.
	 */
	public static @Nullable Object find(Supplier<? extends Executor> executor) {
		if (baseType == null) {
			return null;
		}
		Object candidate = executor.get();
		Object target = AopProxyUtils.getSingletonTarget(candidate);
		if (target != null) {
			candidate = target;
		}
		if (candidate instanceof ConcurrentTaskExecutor adapter) {
			candidate = adapter.getConcurrentExecutor();
		}
		return baseType.isInstance(candidate) ? candidate : null;
	}

	public static Runnable wrap(Object support, Runnable task) {
		Assert.state(wrap != null, () -> "This version of Spring Security is not supported: " + BASE_TYPE
				+ " has no method wrap(Runnable). Use a TaskDecorator in place of " + support.getClass().getName());
		return (Runnable) Objects.requireNonNull(ReflectionUtils.invokeMethod(wrap, support, task));
	}

}
