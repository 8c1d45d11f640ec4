package io.timingwheel.spring.console;

import io.timingwheel.spring.console.LiveFigures.LatenessFigures;
import org.jspecify.annotations.Nullable;

/**
 * How late the tasks of all names have begun.
 */
@FunctionalInterface
interface Lateness {

	/**
	 * Reads what is known.
	 */
	@Nullable LatenessFigures read();

}
