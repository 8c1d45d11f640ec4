/**
 * Auto-configuration of the wheel, the template and the annotations.
 */
@NullMarked
package io.timingwheel.spring.autoconfigure;

import org.jspecify.annotations.NullMarked;
