package com.example.shop;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;

import org.springframework.stereotype.Component;

@Component
public class Orders {

	private final List<String> closed = new CopyOnWriteArrayList<>();

	@Delayed(delay = "30m", name = "close-order", key = "#orderId")
	public void closeIfUnpaid(long orderId) {
		this.closed.add("order " + orderId);
	}

	@CancelDelayed(name = "close-order", key = "#orderId")
	public void pay(long orderId) {
	}

	@Delayed(delay = "1h", name = "close-account", key = "#user", durable = true)
	public void closeAccount(String user) {
		this.closed.add("account " + user);
	}

	public List<String> closed() {
		return this.closed;
	}

}
