/**
 * The advice for {@link io.timingwheel.spring.annotation.Timeout}. The public types are
 * for other modules of timingwheel.
 */
@NullMarked
package io.timingwheel.spring.aop.internal.timeout;

import org.jspecify.annotations.NullMarked;
