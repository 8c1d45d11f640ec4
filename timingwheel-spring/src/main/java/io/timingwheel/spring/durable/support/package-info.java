/**
 * What other modules of timingwheel need of durable tasks. Applications do not use this
 * package: its types may change in any release.
 */
@NullMarked
package io.timingwheel.spring.durable.support;

import org.jspecify.annotations.NullMarked;
