package io.timingwheel.spring.task;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

/** A task that has ended with a value. Thread-safe. */
final class CompletedTask<T extends @Nullable Object> extends CompletableFuture<T> implements DelayedTask<T> {

	private final Instant completedAt = Instant.now();

	CompletedTask(T value) {
		complete(value);
	}

	@Override
	public String id() {
		return "completed";
	}

	@Override
	public @Nullable TaskId taskId() {
		return null;
	}

	@Override
	public Instant dueAt() {
		return this.completedAt;
	}

	@Override
	public Status status() {
		return Status.SUCCEEDED;
	}

	@Override
	public boolean reschedule(Duration delay) {
		return false;
	}

	@Override
	public CompletableFuture<T> completion() {
		return this;
	}

}
