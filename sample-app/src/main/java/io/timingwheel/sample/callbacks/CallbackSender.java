package io.timingwheel.sample.callbacks;

import java.time.Duration;

import io.timingwheel.spring.task.DelayedTask;

/**
 * Sends callbacks when they are due. The policy of the name {@code callback} in
 * {@code application.yml} says how often a callback is tried, and how many start in a
 * second.
 */
interface CallbackSender {

	DelayedTask<Void> send(Callback callback, Duration delay);

}
