package io.timingwheel.sample.callbacks;

import java.net.http.HttpClient;
import java.time.Duration;

import io.timingwheel.spring.annotation.Backoff;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/**
 * Sends callbacks when they are due, on any node, at least once. A callback is sent again
 * after a 5xx status or a missing answer, up to five times. Any other answer is final.
 * All nodes together send no more callbacks than the rate allows.
 */
@Component
@Profile("stored")
class CallbackSender {

	private static final Logger logger = LoggerFactory.getLogger(CallbackSender.class);

	private final CallbackProperties properties;

	private final RestClient http;

	CallbackSender(CallbackProperties properties) {
		this.properties = properties;
		// A redirect could lead to a host that is not allowed.
		HttpClient client = HttpClient.newBuilder()
			.followRedirects(HttpClient.Redirect.NEVER)
			.connectTimeout(properties.timeout())
			.build();
		JdkClientHttpRequestFactory requests = new JdkClientHttpRequestFactory(client);
		requests.setReadTimeout(properties.timeout());
		this.http = RestClient.builder().requestFactory(requests).build();
	}

	@SuppressWarnings("NullAway") // There is nothing but null to return.
	@Delayed(delayExpression = "#delay", name = "callback", durable = true, policy = @TaskPolicy(maxAttempts = 5,
			backoff = @Backoff(initial = "${callbacks.backoff:1s}"), rate = "${callbacks.rate:20/s}"))
	DelayedTask<Void> send(Callback callback, Duration delay) {
		if (!this.properties.allows(callback.url())) {
			logger.warn("Not sent, as {} is not among callbacks.allowed-hosts any more", callback.url().getHost());
			return DelayedTask.completed(null);
		}
		String id = DelayedTaskContext.current().orElseThrow().id();
		RestClient.RequestBodySpec request = this.http.method(HttpMethod.valueOf(callback.method()))
			.uri(callback.url())
			.headers((headers) -> callback.headers().forEach(headers::set))
			// The receiver can recognize a repetition by this header.
			.header("Idempotency-Key", id);
		if (callback.body() != null) {
			request.body(callback.body());
		}
		HttpStatusCode status = request.retrieve().onStatus((code) -> !code.is5xxServerError(), (sent, response) -> {
		}).toBodilessEntity().getStatusCode();
		logger.info("Callback {} to {}: {}", id, callback.url(), status);
		return DelayedTask.completed(null);
	}

}
