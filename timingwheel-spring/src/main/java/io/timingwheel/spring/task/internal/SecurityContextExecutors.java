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

	private static final ClassLoader classLoader = SecurityContextExecutors.class.getClassLoader();

	private static final @Nullable Class<?> baseType = ClassUtils.isPresent(BASE_TYPE, classLoader)
			? ClassUtils.resolveClassName(BASE_TYPE, classLoader) : null;

	private static final @Nullable Method wrap = (baseType != null)
			? ReflectionUtils.findMethod(baseType, "wrap", Runnable.class) : null;

	private static final @Nullable Field fixedContext = (baseType != null)
			? ReflectionUtils.findField(baseType, "securityContext") : null;

	private SecurityContextExecutors() {
	}

	public static boolean needsCaller(Supplier<? extends Executor> executor) {
		Object support = find(executor);
		return support != null && (fixedContext == null || valueOf(fixedContext, support) == null);
	}

	private static @Nullable Object valueOf(Field field, Object support) {
		ReflectionUtils.makeAccessible(field);
		return ReflectionUtils.getField(field, support);
	}

	/**
	 * The part of an executor that knows the security context of its tasks, for
	 * {@link #wrap}; {@code null} for an executor of another kind.
	 */
	public static @Nullable Object find(Supplier<? extends Executor> executor) {
		if (baseType == null) {
			return null;
		}
		Object given = executor.get();
		Object candidate = Objects.requireNonNullElse(AopProxyUtils.getSingletonTarget(given), given);
		if (candidate instanceof ConcurrentTaskExecutor adapter) {
			candidate = adapter.getConcurrentExecutor();
		}
		return baseType.isInstance(candidate) ? candidate : null;
	}

	public static Runnable wrap(Object support, Runnable task) {
		Assert.state(wrap != null, () -> "This version of Spring Security is not supported: " + BASE_TYPE
				+ " has no method wrap(Runnable). Use a TaskDecorator in place of " + support.getClass().getName());
		ReflectionUtils.makeAccessible(wrap);
		return (Runnable) Objects.requireNonNull(ReflectionUtils.invokeMethod(wrap, support, task));
	}

}
