/** Actuator endpoints, health and metrics. */
@NullMarked
package io.timingwheel.spring.actuate;

import org.jspecify.annotations.NullMarked;
