package io.timingwheel.spring.durable.redis;

import io.timingwheel.support.Approved;
import io.timingwheel.support.PublicSignatures;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that nobody changes the API of users without saying so.
 */
class SignatureApprovalTests {

	@ParameterizedTest
	@ValueSource(strings = { "redis", "redis.autoconfigure" })
	void theApiOfAPackageIsTheApprovedOne(String name) {
		Approved.verify(getClass(), "signatures-" + name,
				PublicSignatures.of("io.timingwheel.spring.durable." + name, RedisDelayedTaskStore.class));
	}

}
