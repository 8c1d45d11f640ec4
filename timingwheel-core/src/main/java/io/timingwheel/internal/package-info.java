/** What the other modules of the project need of the engine. Not for users. */
@NullMarked
package io.timingwheel.internal;

import org.jspecify.annotations.NullMarked;
