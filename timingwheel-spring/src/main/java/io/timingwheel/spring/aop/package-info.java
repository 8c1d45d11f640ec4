/**
 * What the advice of all annotations of timingwheel shares: it finds the annotated
 * methods of the beans, reads and checks the attributes, and registers hints for native
 * images. {@link io.timingwheel.spring.aop.AnnotatedMethodScanner} is the start of it.
 *
 * <p>
 * Applications do not use the types of this package and of its subpackages. These types
 * are public for other modules of timingwheel only, and may change in any release.
 */
@NullMarked
package io.timingwheel.spring.aop;

import org.jspecify.annotations.NullMarked;
