package io.timingwheel.benchmarks.spring;

import java.util.concurrent.atomic.LongAdder;

import io.timingwheel.spring.annotation.Delayed;

import org.springframework.scheduling.annotation.Async;

/** Methods that are called now and run later, all on the application's executor. */
class Calls {

	private final LongAdder begun = new LongAdder();

	@Async
	void async(long id) {
		this.begun.increment();
	}

	@Delayed("300ms")
	void delayed(long id) {
		this.begun.increment();
	}

	@Delayed(delay = "300ms", key = "#id")
	void delayedByKey(long id) {
		this.begun.increment();
	}

	@Delayed(delay = "1h", key = "#id")
	void farByKey(long id) {
		this.begun.increment();
	}

	/** How many calls have begun to run. */
	long begun() {
		return this.begun.sum();
	}

}
