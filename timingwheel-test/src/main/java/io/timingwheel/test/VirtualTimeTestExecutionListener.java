package io.timingwheel.test;

import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;
import org.springframework.core.Ordered;

/**
 * Resets virtual time before and after each test method: before the transaction of the
 * test begins, and after it has ended. Does nothing in a context without virtual time.
 */
class VirtualTimeTestExecutionListener implements TestExecutionListener, Ordered {

	/** After the injection of dependencies (2000), before transactions (4000). */
	private static final int ORDER = 2900;

	@Override
	public void beforeTestMethod(TestContext testContext) {
		reset(testContext);
	}

	@Override
	public void afterTestMethod(TestContext testContext) {
		reset(testContext);
	}

	private static void reset(TestContext testContext) {
		if (testContext.hasApplicationContext()) {
			testContext.getApplicationContext().getBeanProvider(VirtualTime.class).ifAvailable(VirtualTime::reset);
		}
	}

	@Override
	public int getOrder() {
		return ORDER;
	}

}
