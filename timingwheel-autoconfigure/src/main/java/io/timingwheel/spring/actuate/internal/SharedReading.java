package io.timingwheel.spring.actuate.internal;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * A reading that many callers share. While one thread reads, the other threads get the
 * earlier reading, since a store that hangs must not block them. Thread-safe.
 *
 * @param <T> what is read
 */
public final class SharedReading<T> {

	private final Supplier<T> source;

	private final long keptNanos;

	private final ReentrantLock lock = new ReentrantLock();

	private volatile @Nullable Kept<T> latest;

	public SharedReading(Supplier<T> source, Duration kept) {
		this.source = source;
		this.keptNanos = kept.toNanos();
	}

	/**
	 * Reads, or gives the latest reading. Waits for another thread only for the first
	 * reading.
	 */
	public T get() {
		Kept<T> known = this.latest;
		if (known == null) {
			this.lock.lock();
		}
		else if (isFresh(known) || !this.lock.tryLock()) {
			return known.value;
		}
		try {
			Kept<T> latest = this.latest;
			if (latest != null && isFresh(latest)) {
				return latest.value;
			}
			T value = this.source.get();
			this.latest = new Kept<>(value, System.nanoTime() + this.keptNanos);
			return value;
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean isFresh(Kept<T> kept) {
		return kept.until - System.nanoTime() > 0;
	}

	/** Reads anew the next time. */
	public void forget() {
		Kept<T> known = this.latest;
		if (known != null) {
			this.latest = new Kept<>(known.value, System.nanoTime());
		}
	}

	private record Kept<T>(T value, long until) {

	}

}
