package io.timingwheel.test;

import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/**
 * Resets virtual time before and after each test method: before the transaction of the
 * test begins, and after it has ended. Between these two calls no other test method has
 * the same time. Does nothing in a context without virtual time.
 */
class VirtualTimeTestExecutionListener implements TestExecutionListener, Ordered {

	/** After the injection of dependencies (2000), before transactions (4000). */
	private static final int ORDER = 2900;

	private static final String TIME = VirtualTimeTestExecutionListener.class.getName() + ".time";

	@Override
	public void beforeTestMethod(TestContext testContext) {
		VirtualTime time = find(testContext);
		if (time instanceof DefaultVirtualTime turns) {
			turns.beginMethod(testContext);
			testContext.setAttribute(TIME, turns);
		}
		if (time != null) {
			time.reset();
		}
	}

	@Override
	public void afterTestMethod(TestContext testContext) {
		Object began = testContext.removeAttribute(TIME);
		try {
			// With @DirtiesContext the context may be closed by now.
			VirtualTime time = find(testContext);
			if (time != null && (time == began || !(time instanceof DefaultVirtualTime))) {
				time.reset();
			}
		}
		finally {
			if (began instanceof DefaultVirtualTime turns) {
				turns.endMethod(testContext);
			}
		}
	}

	private static @Nullable VirtualTime find(TestContext testContext) {
		return testContext.hasApplicationContext()
				? testContext.getApplicationContext().getBeanProvider(VirtualTime.class).getIfAvailable() : null;
	}

	@Override
	public int getOrder() {
		return ORDER;
	}

}
