/**
 * What the auto-configurations of the modules of timingwheel share. Public for these
 * modules only.
 */
@NullMarked
package io.timingwheel.spring.autoconfigure.internal;

import org.jspecify.annotations.NullMarked;
