package io.timingwheel.spring.console;

import io.timingwheel.support.Approved;
import io.timingwheel.support.PublicSignatures;
import org.junit.jupiter.api.Test;

/**
 * Tests that nobody changes the API of users without saying so.
 */
class SignatureApprovalTests {

	@Test
	void theApiOfTheConsoleIsTheApprovedOne() {
		Approved.verify(getClass(), "signatures",
				PublicSignatures.of(getClass().getPackageName(), TimingWheelConsoleEndpoint.class));
	}

}
