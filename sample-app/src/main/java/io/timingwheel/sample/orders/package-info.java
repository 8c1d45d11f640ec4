/** Orders that close when they are not paid in time. */
@NullMarked
package io.timingwheel.sample.orders;

import org.jspecify.annotations.NullMarked;
