/** The console: a page for operators, served as an actuator endpoint. */
@NullMarked
package io.timingwheel.spring.console;

import org.jspecify.annotations.NullMarked;
