package io.timingwheel.sample.orders;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.util.UriComponentsBuilder;

@RestController
@RequestMapping("/orders")
class OrderController {

	private static final int LISTED = 50;

	private static final int LONGEST_ITEM = 100;

	private final OrderService orders;

	private final OrderProperties properties;

	OrderController(OrderService orders, OrderProperties properties) {
		this.orders = orders;
		this.properties = properties;
	}

	@PostMapping
	ResponseEntity<Order> create(@RequestBody(required = false) @Nullable NewOrder newOrder, UriComponentsBuilder uri) {
		String item = (newOrder != null && newOrder.item() != null) ? newOrder.item().strip() : "something nice";
		if (item.isEmpty() || item.length() > LONGEST_ITEM) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST,
					"item must have 1 to %d characters, not %d".formatted(LONGEST_ITEM, item.length()));
		}
		Order order = this.orders.create(item);
		return ResponseEntity.created(uri.path("/orders/{id}").build(order.id())).body(order);
	}

	@PostMapping("/{id}/pay")
	Order pay(@PathVariable long id) {
		return this.orders.pay(id);
	}

	@GetMapping("/{id}")
	Order get(@PathVariable long id) {
		return this.orders.get(id);
	}

	@GetMapping
	OrderList list() {
		return new OrderList(Instant.now(), this.properties.paymentWindow(), this.orders.count(),
				this.orders.newest(LISTED));
	}

	@ExceptionHandler
	ProblemDetail notFound(OrderNotFoundException ex) {
		return ProblemDetail.forStatusAndDetail(HttpStatus.NOT_FOUND, ex.getMessage());
	}

	@ExceptionHandler
	ProblemDetail closed(OrderClosedException ex) {
		return ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, ex.getMessage());
	}

	/**
	 * What to order.
	 *
	 * @param item the item
	 */
	record NewOrder(@Nullable String item) {
	}

	/**
	 * The newest orders.
	 *
	 * @param now the server's time, to count down by
	 * @param paymentWindow how long an order waits for its payment
	 * @param total the number of all orders
	 * @param orders the newest of them, the newest first
	 */
	record OrderList(Instant now, Duration paymentWindow, int total, List<Order> orders) {
	}

}
