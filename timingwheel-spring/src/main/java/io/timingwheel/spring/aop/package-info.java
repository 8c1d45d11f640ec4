/**
 * The code that all annotations of timingwheel share. This package finds the annotated
 * methods of the beans, reads and checks the attributes, and registers hints for native
 * images. Start with {@link io.timingwheel.spring.aop.AnnotatedMethodScanner}.
 *
 * <p>
 * Applications do not use the types of this package and of its subpackages. These types
 * are public for other modules of timingwheel only, and may change in any release.
 */
@NullMarked
package io.timingwheel.spring.aop;

import org.jspecify.annotations.NullMarked;
