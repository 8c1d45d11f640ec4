package io.timingwheel.sample.orders;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of orders.
 *
 * @param paymentWindow how long an order waits for its payment before it closes
 */
@ConfigurationProperties("orders")
record OrderProperties(@DefaultValue("30m") Duration paymentWindow) {
}
