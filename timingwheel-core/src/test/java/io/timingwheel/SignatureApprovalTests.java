package io.timingwheel;

import io.timingwheel.support.Approved;
import io.timingwheel.support.PublicSignatures;
import org.junit.jupiter.api.Test;

/**
 * Tests that nobody changes the API of users without saying so.
 */
class SignatureApprovalTests {

	@Test
	void theApiOfTheEngineIsTheApprovedOne() {
		Approved.verify(getClass(), "signatures", PublicSignatures.of("io.timingwheel", TimingWheel.class));
	}

}
