package io.timingwheel.sample.callbacks;

import java.net.http.HttpClient;

import io.timingwheel.spring.task.DelayedTaskContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/**
 * The HTTP request of a callback. A 5xx status or a missing answer is an exception. Any
 * other answer is final.
 */
@Component
class CallbackClient {

	private static final Logger logger = LoggerFactory.getLogger(CallbackClient.class);

	private final CallbackProperties properties;

	private final RestClient http;

	CallbackClient(CallbackProperties properties) {
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

	void send(Callback callback) {
		if (!this.properties.allows(callback.url())) {
			logger.warn("Not sent, as {} is not among callbacks.allowed-hosts any more", callback.url().getHost());
			return;
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
	}

}
