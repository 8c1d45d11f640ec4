/**
 * What the actuator endpoints, the meters and the console see of durable tasks. Public
 * for the other modules of timingwheel only.
 */
@NullMarked
package io.timingwheel.spring.actuate.internal;

import org.jspecify.annotations.NullMarked;
