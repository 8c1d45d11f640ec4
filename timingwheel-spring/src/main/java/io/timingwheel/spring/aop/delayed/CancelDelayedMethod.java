package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;

/**
 * A checked {@code @CancelDelayed} method.
 *
 * @param method the most specific method
 * @param name the name of the tasks that it cancels
 * @param key where the key comes from
 * @param beforeInvocation whether to cancel first
 */
record CancelDelayedMethod(Method method, String name, KeySource key, boolean beforeInvocation) {

}
