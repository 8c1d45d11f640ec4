package io.timingwheel.spring.docs;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.docs.Snippets.Log;
import io.timingwheel.spring.task.DelayedTask;

import org.springframework.beans.factory.annotation.Autowired;

/**
 * The code that the pages about delayed and limited methods show.
 */
final class AnnotationSnippets {

	private AnnotationSnippets() {
	}

	record Meeting(long id, Instant start) {
	}

	static class Later {

		@Autowired
		private Log log;

		// tag::cancel[]
		@Delayed(delay = "30m", name = "close-order", key = "#orderId")
		public void close(long orderId) {
			this.log.add("closed " + orderId);
		}

		@CancelDelayed(name = "close-order", key = "#orderId")
		public void pay(long orderId) {
			this.log.add("paid " + orderId);
		}
		// end::cancel[]

		// tag::silence[]
		@Delayed(delay = "2s", maxWait = "10s", name = "build-index", key = "#index")
		public void build(String index) {
			this.log.add("built " + index);
		}
		// end::silence[]

		// tag::time[]
		@Delayed(delayExpression = "#meeting.start.minusSeconds(600)", name = "remind", key = "#meeting.id")
		public void remind(Meeting meeting) {
			this.log.add("reminded of " + meeting.id());
		}
		// end::time[]

		// tag::commit[]
		@Delayed(delay = "5s", name = "welcome", key = "#address", afterCommit = true)
		public void welcome(String address) {
			this.log.add("welcome " + address);
		}
		// end::commit[]

		// tag::result[]
		@Delayed("10s")
		public DelayedTask<String> check(long orderId) {
			return DelayedTask.completed("order " + orderId + " is fine");
		}
		// end::result[]

	}

	record Quote(String symbol, int cents) {
	}

	record Request(String symbol, Duration budget) {
	}

	interface Market {

		Quote ask(String symbol);

	}

	static class Quotes {

		private final Map<String, Quote> last = new ConcurrentHashMap<>();

		@Autowired
		private Market market;

		// tag::limit[]
		@Timeout("800ms")
		public Quote quote(String symbol) {
			return this.market.ask(symbol);
		}
		// end::limit[]

		// tag::fallback[]
		@Timeout(timeout = "800ms", fallback = "lastQuote")
		public Quote latest(String symbol) {
			return this.market.ask(symbol);
		}

		private Quote lastQuote(String symbol, MethodTimeoutException timeout) {
			return this.last.getOrDefault(symbol, new Quote(symbol, 0));
		}
		// end::fallback[]

		// tag::budget[]
		@Timeout(timeoutExpression = "#request.budget")
		public Quote quoteFor(Request request) {
			return this.market.ask(request.symbol());
		}
		// end::budget[]

	}

}
