package io.timingwheel.sample;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.resttestclient.autoconfigure.AutoConfigureRestTestClient;
import org.springframework.boot.test.context.SpringBootTest;

/**
 * A test of the whole application over HTTP, on a random port and with short windows. All
 * such tests share one application.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "orders.payment-window=3s", "drivers.silence=3s", "quotes.limit=1s" })
@AutoConfigureRestTestClient
public @interface EndToEndTest {

}
