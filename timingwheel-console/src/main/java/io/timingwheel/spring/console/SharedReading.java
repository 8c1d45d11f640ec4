package io.timingwheel.spring.console;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

import org.jspecify.annotations.Nullable;

/**
 * A reading that all open pages share. While one thread reads, the other threads get the
 * earlier reading, since reading may take long if the store does not answer. Thread-safe.
 *
 * @param <T> what is read
 */
final class SharedReading<T> {

	private final Supplier<T> source;

	private final ToLongFunction<T> keptNanos;

	private final ReentrantLock lock = new ReentrantLock();

	private volatile @Nullable Kept<T> latest;

	/**
	 * Creates an empty reading.
	 * @param source reads
	 * @param keptNanos how long a reading is kept, in nanoseconds
	 */
	SharedReading(Supplier<T> source, ToLongFunction<T> keptNanos) {
		this.source = source;
		this.keptNanos = keptNanos;
	}

	T get() {
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
			this.latest = new Kept<>(value, System.nanoTime() + this.keptNanos.applyAsLong(value));
			return value;
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean isFresh(Kept<T> kept) {
		return kept.until - System.nanoTime() > 0;
	}

	/**
	 * Reads anew the next time.
	 */
	void forget() {
		Kept<T> known = this.latest;
		if (known != null) {
			this.latest = new Kept<>(known.value, System.nanoTime());
		}
	}

	/**
	 * A reading.
	 *
	 * @param value what was read
	 * @param until when it is read again, by {@link System#nanoTime()}
	 */
	private record Kept<T>(T value, long until) {

	}

}
