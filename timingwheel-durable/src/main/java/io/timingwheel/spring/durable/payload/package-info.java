/**
 * The arguments of durable calls as JSON. Applications do not use this package: its types
 * may change in any release.
 */
@NullMarked
package io.timingwheel.spring.durable.payload;

import org.jspecify.annotations.NullMarked;
