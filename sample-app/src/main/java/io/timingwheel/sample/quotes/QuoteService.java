package io.timingwheel.sample.quotes;

import java.time.Duration;

import io.timingwheel.spring.annotation.Timeout;

import org.springframework.stereotype.Service;

@Service
class QuoteService {

	/**
	 * Asks for the price of an item. The method runs on its caller's thread, which is
	 * interrupted at the limit.
	 * @param item the item
	 * @param work how long finding the price takes
	 * @return the price
	 * @throws InterruptedException at the limit; the caller gets a
	 * {@link io.timingwheel.spring.annotation.MethodTimeoutException} instead
	 */
	@Timeout("${quotes.limit:800ms}")
	public Quote quote(String item, Duration work) throws InterruptedException {
		Thread.sleep(work.toMillis()); // stands for a slow supplier
		return new Quote(item, 100 + Math.floorMod(item.hashCode(), 9_900));
	}

}
