/**
 * The code that all annotations of timingwheel share. A method becomes advice in two
 * phases:
 *
 * <pre>
 * before the beans   AnnotatedBeans passes the type of each bean to the readers, which check
 *                    what the code says
 * as beans are made  AnnotatedBeans refuses a bean that is made before the advice, and
 *                    passes on the classes that the types do not show
 *                    AdvicePostProcessor: its subclasses add the advice, in the order that
 *                    it gives
 * with the beans     AnnotatedBeans asks the readers for the rest: values, names, executors,
 *                    schedules
 * </pre>
 */
@NullMarked
package io.timingwheel.spring.aop.internal;

import org.jspecify.annotations.NullMarked;
