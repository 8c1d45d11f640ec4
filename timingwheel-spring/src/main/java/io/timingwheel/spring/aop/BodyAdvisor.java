package io.timingwheel.spring.aop;

import org.springframework.aop.Advisor;

/**
 * Marks an advisor whose advice can turn the result of a method's body into an exception.
 * Advice that depends on how the body ended goes outside this advice.
 *
 * @since 0.1
 */
public interface BodyAdvisor extends Advisor {

}
