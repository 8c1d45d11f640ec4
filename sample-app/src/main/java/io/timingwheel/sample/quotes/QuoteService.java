package io.timingwheel.sample.quotes;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;

import org.springframework.stereotype.Service;

@Service
class QuoteService {

	private final Map<String, Quote> lastKnown = new ConcurrentHashMap<>();

	/**
	 * Asks for the price of an item. The method runs on its caller's thread, which is
	 * interrupted at the limit.
	 * @param item the item
	 * @param work how long finding the price takes
	 * @return the price
	 * @throws InterruptedException at the limit; the caller gets a
	 * {@link MethodTimeoutException} instead
	 */
	@Timeout("${quotes.limit:800ms}")
	public Quote quote(String item, Duration work) throws InterruptedException {
		return ask(item, work);
	}

	/**
	 * Asks for the price of an item, and takes the last known price if that takes too
	 * long.
	 * @param item the item
	 * @param work how long finding the price takes
	 * @return the price
	 * @throws InterruptedException at the limit; the fallback gives the result instead
	 */
	@Timeout(timeout = "${quotes.limit:800ms}", fallback = "lastKnown")
	public Quote latest(String item, Duration work) throws InterruptedException {
		return ask(item, work);
	}

	private Quote lastKnown(String item, Duration work, MethodTimeoutException timeout) {
		Quote quote = this.lastKnown.get(item);
		if (quote == null) {
			throw timeout;
		}
		return quote;
	}

	private Quote ask(String item, Duration work) throws InterruptedException {
		Thread.sleep(work.toMillis()); // stands for a slow supplier
		Quote quote = new Quote(item, 100 + Math.floorMod(item.hashCode(), 9_900));
		this.lastKnown.put(item, quote);
		return quote;
	}

}
