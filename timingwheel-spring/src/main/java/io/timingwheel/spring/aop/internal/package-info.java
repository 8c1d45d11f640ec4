/**
 * The code that all annotations of timingwheel share. A method becomes advice in two
 * phases:
 *
 * <pre>
 * before the beans   AnnotatedMethodScanner passes the type of each bean to the readers,
 *                    which check what the code says, and values without ${..} and #{..}
 * as beans are made  CreatedBeans refuses a bean that is made before the advice, and sees
 *                    the classes that the types do not show
 *                    AdvicePostProcessor: its implementations add the advice, in the order
 *                    that it gives
 * with the beans     the scanner asks the readers for the rest: values, names, executors,
 *                    schedules
 * </pre>
 */
@NullMarked
package io.timingwheel.spring.aop.internal;

import org.jspecify.annotations.NullMarked;
