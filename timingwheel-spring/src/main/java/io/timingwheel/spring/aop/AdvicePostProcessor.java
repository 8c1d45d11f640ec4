package io.timingwheel.spring.aop;

import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * A post-processor that adds the advice for an annotation. Spring registers all of them
 * together, with its auto-proxy creator, since they are ordered.
 *
 * @since 0.1
 */
public interface AdvicePostProcessor extends BeanPostProcessor {

}
