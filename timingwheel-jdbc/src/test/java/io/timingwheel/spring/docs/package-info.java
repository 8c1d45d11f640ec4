/** The code that the pages of the documentation show. */
@NullMarked
package io.timingwheel.spring.docs;

import org.jspecify.annotations.NullMarked;
