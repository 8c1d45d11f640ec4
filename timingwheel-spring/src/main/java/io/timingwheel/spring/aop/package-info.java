/**
 * What the annotations of timingwheel have in common for users: the exception that stops
 * the start.
 */
@NullMarked
package io.timingwheel.spring.aop;

import org.jspecify.annotations.NullMarked;
