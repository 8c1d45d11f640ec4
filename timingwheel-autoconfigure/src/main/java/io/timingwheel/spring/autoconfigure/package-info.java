/**
 * Auto-configuration for Spring Boot. Applications use
 * {@link io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer} and the
 * properties.
 */
@NullMarked
package io.timingwheel.spring.autoconfigure;

import org.jspecify.annotations.NullMarked;
