package io.timingwheel.spring.aop.internal;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.Ordered;

/**
 * A post-processor that adds the advice for an annotation. Spring registers all of them
 * together, with its auto-proxy creator, since they are ordered. Those that come early
 * run right after the auto-proxy creator, so that the post-processors of listeners get
 * the proxy.
 */
public interface AdvicePostProcessor extends BeanPostProcessor {

	/** Makes the proxies of {@code @Delayed}, and adds {@code @CancelDelayed}. */
	int EARLY = Ordered.HIGHEST_PRECEDENCE + 100;

	/**
	 * Adds {@code @Timeout}. Its inner advice is inside that of {@code @CancelDelayed},
	 * so that a call that timed out cancels nothing, and its outer advice is inside that
	 * of {@code @Retryable}.
	 */
	int TIMEOUT = EARLY + 1;

}
