/**
 * What other modules of timingwheel need of delayed tasks. Applications do not use this
 * package: its types may change in any release.
 */
@NullMarked
package io.timingwheel.spring.task.support;

import org.jspecify.annotations.NullMarked;
