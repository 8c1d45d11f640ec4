package io.timingwheel.test;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.annotation.Order;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/**
 * Resets virtual time before and after each test method: before the transaction of the
 * test begins, and after it has ended. Between these two calls no other test method has
 * the same time. Does nothing in a context without virtual time.
 */
@Order(2900) // after the injection of dependencies (2000), before transactions (4000)
class VirtualTimeTestExecutionListener implements TestExecutionListener {

	private static final String TURN = VirtualTimeTestExecutionListener.class.getName() + ".turn";

	@Override
	public void beforeTestMethod(TestContext testContext) {
		if (testContext.hasApplicationContext()
				&& testContext.getApplicationContext() instanceof ConfigurableApplicationContext context
				&& context.getBeanProvider(VirtualTime.class).getIfAvailable() instanceof DefaultVirtualTime time) {
			time.turn().lock();
			testContext.setAttribute(TURN, new Turn(time, context));
			time.reset();
		}
	}

	@Override
	public void afterTestMethod(TestContext testContext) {
		if (testContext.removeAttribute(TURN) instanceof Turn turn) {
			try {
				// The test or @DirtiesContext may have closed the context.
				if (turn.context().isActive()) {
					turn.time().reset();
				}
			}
			finally {
				turn.time().turn().unlock();
			}
		}
	}

	private record Turn(DefaultVirtualTime time, ConfigurableApplicationContext context) {

	}

}
