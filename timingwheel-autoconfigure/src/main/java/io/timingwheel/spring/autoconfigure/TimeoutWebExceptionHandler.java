package io.timingwheel.spring.autoconfigure;

import java.util.List;
import java.util.Locale;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.MessageSource;
import org.springframework.core.Ordered;
import org.springframework.core.ResolvableType;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.codec.HttpMessageWriter;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.web.ErrorResponse;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.reactive.result.view.ViewResolver;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;

/**
 * Answers an uncaught {@link MethodTimeoutException} in WebFlux. The exception handlers
 * of controllers come first, as do those of the application with an order of at most
 * {@code -1}.
 */
final class TimeoutWebExceptionHandler implements WebExceptionHandler, Ordered {

	/** The order of Boot's handler, which answers everything. */
	private static final int ORDER = -1;

	private static final Log logger = LogFactory.getLog(TimeoutWebExceptionHandler.class);

	private final ObjectProvider<ServerCodecConfigurer> codecs;

	private final MessageSource messages;

	TimeoutWebExceptionHandler(ObjectProvider<ServerCodecConfigurer> codecs, MessageSource messages) {
		this.codecs = codecs;
		this.messages = messages;
	}

	@Override
	public int getOrder() {
		return ORDER;
	}

	@Override
	public Mono<Void> handle(ServerWebExchange exchange, Throwable ex) {
		MethodTimeoutException timeout = TimeoutProblem.timeout(ex);
		if (timeout == null || exchange.getResponse().isCommitted()) {
			return Mono.error(ex);
		}
		logger.warn(exchange.getLogPrefix() + "Resolved [" + timeout + "]");
		logger.debug(exchange.getLogPrefix() + "The stack of the timeout", timeout);
		Locale locale = exchange.getLocaleContext().getLocale();
		return write(TimeoutProblem.response(timeout, exchange.getRequest().getPath().value(), this.messages,
				(locale != null) ? locale : Locale.getDefault()), exchange);
	}

	private Mono<Void> write(ErrorResponse error, ServerWebExchange exchange) {
		List<HttpMessageWriter<?>> writers = this.codecs.stream()
			.flatMap((codecs) -> codecs.getWriters().stream())
			.filter((writer) -> writer.canWrite(ResolvableType.forClass(ProblemDetail.class),
					MediaType.APPLICATION_PROBLEM_JSON))
			.toList();
		exchange.getResponse().setStatusCode(error.getStatusCode());
		if (writers.isEmpty()) {
			return exchange.getResponse().setComplete();
		}
		return ServerResponse.from(error).flatMap((response) -> response.writeTo(exchange, new WriterContext(writers)));
	}

	private record WriterContext(List<HttpMessageWriter<?>> messageWriters) implements ServerResponse.Context {

		@Override
		public List<ViewResolver> viewResolvers() {
			return List.of();
		}

	}

}
