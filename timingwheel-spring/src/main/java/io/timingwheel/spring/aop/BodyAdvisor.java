package io.timingwheel.spring.aop;

import org.springframework.aop.Advisor;

/**
 * Marks an advisor whose advice can turn the result of a method's body into an exception.
 * Advice that depends on the outcome of the body must be outside this advice.
 *
 * @since 0.1
 */
public interface BodyAdvisor extends Advisor {

}
