/**
 * The advice behind the annotations, and what finds and checks the methods that bear
 * them.
 */
@NullMarked
package io.timingwheel.spring.aop;

import org.jspecify.annotations.NullMarked;
