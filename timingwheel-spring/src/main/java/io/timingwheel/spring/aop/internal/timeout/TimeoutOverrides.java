package io.timingwheel.spring.aop.internal.timeout;

import java.time.Duration;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;

/**
 * What the configuration of an application says about limits. Implementations are
 * thread-safe.
 */
public interface TimeoutOverrides {

	/** The default order of the outer advice, which is outside {@code @Transactional}. */
	int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 1;

	/** The order of the limits among the advice of a bean. */
	default int adviceOrder() {
		return DEFAULT_ORDER;
	}

	/** A positive limit, or {@code null} if that of the annotation stays. */
	@Nullable Duration find(String beanName, String methodName);

	/**
	 * Gets, once all singletons exist, the names of all methods with a limit, as
	 * {@code bean.method}.
	 */
	void checkNames(Set<String> names);

}
