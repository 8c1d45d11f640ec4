package io.timingwheel.spring.console;

import reactor.core.publisher.Mono;

import org.springframework.security.web.server.csrf.CsrfToken;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;

/**
 * Adds what {@link CsrfTokenHeader} adds to the responses of WebFlux, where an operation
 * cannot see its request. Comes after the filters of Spring Security.
 */
final class CsrfTokenWebFilter implements WebFilter {

	private final String path;

	CsrfTokenWebFilter(String path) {
		this.path = "/" + path + "/" + TimingWheelConsoleEndpoint.LIVE;
	}

	@Override
	public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
		if (exchange.getRequest().getPath().value().endsWith(this.path)
				&& exchange.getAttribute(CsrfToken.class.getName()) instanceof Mono<?> token) {
			return token.cast(CsrfToken.class).doOnNext((value) -> add(value, exchange)).then(chain.filter(exchange));
		}
		return chain.filter(exchange);
	}

	private static void add(CsrfToken token, ServerWebExchange exchange) {
		exchange.getResponse()
			.getHeaders()
			.set(CsrfTokenHeader.NAME, CsrfTokenHeader.value(token.getHeaderName(), token.getToken()));
	}

}
