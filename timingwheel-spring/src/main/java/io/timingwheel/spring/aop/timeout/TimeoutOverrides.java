package io.timingwheel.spring.aop.timeout;

import java.time.Duration;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;

/**
 * What the configuration of an application says about limits. Implementations are
 * thread-safe.
 *
 * @since 0.1
 */
public interface TimeoutOverrides {

	/** The default order of the outer advice, which is outside {@code @Transactional}. */
	int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 1;

	/**
	 * Returns the order of the limits among the advice of a bean.
	 * @return the order, by {@link Ordered}
	 */
	default int adviceOrder() {
		return DEFAULT_ORDER;
	}

	/**
	 * Returns the limit of the methods of a bean that have a name.
	 * @param beanName the name of the bean
	 * @param methodName the name of the methods
	 * @return the positive limit, {@code null} if that of the annotation stays
	 */
	@Nullable Duration find(String beanName, String methodName);

	/**
	 * Called once, when all singletons exist.
	 * @param names the names of all methods with a limit, as {@code bean.method}
	 */
	void checkNames(Set<String> names);

}
