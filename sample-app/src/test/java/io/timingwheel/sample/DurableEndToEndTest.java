package io.timingwheel.sample;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.timingwheel.test.AutoConfigureVirtualTime;

import org.springframework.boot.resttestclient.autoconfigure.AutoConfigureRestTestClient;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.ActiveProfiles;

/**
 * A test of the whole application over HTTP with the profile {@code durable}, on a random
 * port and in virtual time. All such tests share one application.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "spring.datasource.url=jdbc:h2:mem:durable", "management.prometheus.metrics.export.enabled=true",
				"orders.payment-window=30m" })
@AutoConfigureRestTestClient
@AutoConfigureVirtualTime
@ActiveProfiles("durable")
public @interface DurableEndToEndTest {

}
