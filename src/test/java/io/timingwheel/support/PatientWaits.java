package io.timingwheel.support;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Lets Awaitility wait for up to three minutes. Ten seconds, the default, are too short
 * on a machine that runs three modules at a time or stands still. A wait that succeeds
 * takes no longer.
 *
 * <p>
 * The build compiles this class with the tests of each module. JUnit finds the class as a
 * service. {@code -Dtimingwheel.patience=20} sets the seconds, for runs in which tests
 * are to fail.
 */
public final class PatientWaits implements BeforeAllCallback {

	@Override
	public void beforeAll(ExtensionContext context) {
		Awaitility.setDefaultTimeout(Duration.ofSeconds(Integer.getInteger("timingwheel.patience", 180)));
	}

}
