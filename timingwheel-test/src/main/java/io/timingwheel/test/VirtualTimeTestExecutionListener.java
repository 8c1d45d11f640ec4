package io.timingwheel.test;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
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

	private static final String TURN = VirtualTimeTestExecutionListener.class.getName() + ".turn";

	@Override
	public void beforeTestMethod(TestContext testContext) {
		if (!testContext.hasApplicationContext()) {
			return;
		}
		ApplicationContext context = testContext.getApplicationContext();
		VirtualTime time = context.getBeanProvider(VirtualTime.class).getIfAvailable();
		if (time != null) {
			Turn turn = new Turn(testContext, context, time);
			turn.begin();
			testContext.setAttribute(TURN, turn);
			time.reset();
		}
	}

	@Override
	public void afterTestMethod(TestContext testContext) {
		if (testContext.removeAttribute(TURN) instanceof Turn turn) {
			try {
				if (turn.isContextActive()) {
					turn.time().reset();
				}
			}
			finally {
				turn.end();
			}
		}
	}

	@Override
	public int getOrder() {
		return ORDER;
	}

	/**
	 * The turn of a test method.
	 */
	private record Turn(TestContext method, ApplicationContext context, VirtualTime time) {

		void begin() {
			if (this.time instanceof DefaultVirtualTime shared) {
				shared.beginMethod(this.method);
			}
		}

		void end() {
			if (this.time instanceof DefaultVirtualTime shared) {
				shared.endMethod(this.method);
			}
		}

		/**
		 * Whether nobody has closed the context, as the test or {@code @DirtiesContext}
		 * may.
		 */
		boolean isContextActive() {
			return !(this.context instanceof ConfigurableApplicationContext closeable) || closeable.isActive();
		}

	}

}
