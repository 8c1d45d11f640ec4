package io.timingwheel.spring;

import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.durable.jdbc.JdbcDelayedTaskStore;
import io.timingwheel.spring.durable.redis.RedisDelayedTaskStore;
import io.timingwheel.support.Approved;
import io.timingwheel.support.PublicSignatures;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that nobody changes the API of users without saying so. The modules of the stores
 * have no such test of their own.
 */
class SignatureApprovalTests {

	@ParameterizedTest
	@ValueSource(strings = { "actuate", "autoconfigure" })
	void theApiOfAPackageIsTheApprovedOne(String name) {
		verify(name, TimingWheelAutoConfiguration.class.getPackageName().replace("autoconfigure", name),
				TimingWheelAutoConfiguration.class);
	}

	@ParameterizedTest
	@ValueSource(classes = { JdbcDelayedTaskStore.class, RedisDelayedTaskStore.class })
	void theApiOfAStoreIsTheApprovedOne(Class<?> store) {
		String name = store.getPackageName();
		verify(name.substring(name.lastIndexOf('.') + 1), name, store);
	}

	private void verify(String file, String packageName, Class<?> anyClass) {
		Approved.verify(getClass(), "signatures-" + file, PublicSignatures.of(packageName, anyClass));
	}

}
