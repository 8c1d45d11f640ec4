package io.timingwheel.spring;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.support.Approved;
import io.timingwheel.support.PublicSignatures;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that nobody changes the API of users without saying so.
 */
class SignatureApprovalTests {

	@ParameterizedTest
	@ValueSource(strings = { "durable", "durable.store", "durable.autoconfigure" })
	void theApiOfAPackageIsTheApprovedOne(String name) {
		Approved.verify(getClass(), "signatures-" + name,
				PublicSignatures.of(getClass().getPackageName() + "." + name, DelayedTaskStore.class));
	}

}
