package io.timingwheel.sample.callbacks;

import java.time.Duration;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTask;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/**
 * Stores the callbacks. Any node sends them, at least once, and all nodes together keep
 * the rate. A callback whose attempts have failed is dead, and an operator can requeue
 * it.
 */
@Component
@Profile("stored")
class DurableCallbackSender implements CallbackSender {

	private final CallbackClient client;

	DurableCallbackSender(CallbackClient client) {
		this.client = client;
	}

	@Override
	@SuppressWarnings("NullAway") // There is nothing but null to return.
	@Delayed(delayExpression = "#delay", name = "callback", durable = true)
	public DelayedTask<Void> send(Callback callback, Duration delay) {
		this.client.send(callback);
		return DelayedTask.completed(null);
	}

}
