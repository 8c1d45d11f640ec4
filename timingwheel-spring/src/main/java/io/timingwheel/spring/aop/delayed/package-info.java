/**
 * The advice for {@link io.timingwheel.spring.annotation.Delayed} and
 * {@link io.timingwheel.spring.annotation.CancelDelayed}. At startup the
 * {@code DelayedMethodScanner} finds and checks the annotated methods, and the
 * post-processors add the advice to beans. The interceptor submits each call to the tasks
 * of the method, in memory or in a store. Applications do not use this package: its types
 * may change in any release.
 */
@NullMarked
package io.timingwheel.spring.aop.delayed;

import org.jspecify.annotations.NullMarked;
