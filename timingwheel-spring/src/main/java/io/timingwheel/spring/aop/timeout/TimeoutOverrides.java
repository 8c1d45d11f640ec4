package io.timingwheel.spring.aop.timeout;

import java.time.Duration;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The limits that the configuration of an application sets for single beans, in place of
 * the limits of the annotations. Implementations are thread-safe.
 *
 * @since 0.1
 */
public interface TimeoutOverrides {

	/**
	 * Returns the limit of a method with
	 * {@link io.timingwheel.spring.annotation.Timeout}.
	 * @param beanName the name of the bean
	 * @param methodName the name of the method; its overloads have the same limit
	 * @return the positive limit, {@code null} if the limit of the annotation stays
	 * @throws RuntimeException if the configuration is invalid
	 */
	@Nullable Duration find(String beanName, String methodName);

	/**
	 * Called once, when all singletons exist.
	 * @param names the names of all methods with a limit, as {@code bean.method}
	 */
	void checkNames(Set<String> names);

}
