/**
 * The advice of all annotations of timingwheel. {@code TaskMethodRegistry} has the
 * methods with {@code @Delayed} and {@code @Recurring},
 * {@code CancelDelayedBeanPostProcessor} those with {@code @CancelDelayed}, and
 * {@code TimeoutMethodRegistry} those with {@code @Timeout}. The public types are for
 * other modules of timingwheel. A method becomes advice in two phases:
 *
 * <pre>
 * before the beans   AnnotatedBeans passes the type of each bean to the AdvicePostProcessors,
 *                    which read the methods, and check what the code says
 * as beans are made  AnnotatedBeans refuses a bean that is made before the advice, and
 *                    passes on the classes that the types do not show
 *                    AdvicePostProcessor: its subclasses add the advice, in the order that
 *                    it gives
 * with the beans     AnnotatedBeans asks them for the rest: values, names, executors,
 *                    schedules
 * </pre>
 */
@NullMarked
package io.timingwheel.spring.aop.internal;

import org.jspecify.annotations.NullMarked;
