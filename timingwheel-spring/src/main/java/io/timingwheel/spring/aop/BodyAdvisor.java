package io.timingwheel.spring.aop;

import org.springframework.aop.Advisor;

/**
 * An advisor whose advice decides how the body of a method has ended. Advice that acts on
 * that end stands outside of it.
 */
public interface BodyAdvisor extends Advisor {

}
