package io.timingwheel.spring.durable.reference;

import org.junit.jupiter.api.Tag;

/**
 * A million due times, which takes a minute.
 */
@Tag("faults")
class MillionRunsSimulatedClusterTests extends ReferenceSimulatedClusterTests {

	@Override
	protected long runs() {
		return 1_000_000;
	}

}
