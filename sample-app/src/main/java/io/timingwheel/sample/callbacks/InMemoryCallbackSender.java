package io.timingwheel.sample.callbacks;

import java.time.Duration;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTask;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/** Keeps the callbacks in memory. They are gone when the process ends. */
@Component
@Profile("!stored")
class InMemoryCallbackSender implements CallbackSender {

	private final CallbackClient client;

	InMemoryCallbackSender(CallbackClient client) {
		this.client = client;
	}

	@Override
	@SuppressWarnings("NullAway") // There is nothing but null to return.
	@Delayed(delayExpression = "#delay", name = "callback")
	public DelayedTask<Void> send(Callback callback, Duration delay) {
		this.client.send(callback);
		return DelayedTask.completed(null);
	}

}
