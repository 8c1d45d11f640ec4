package io.timingwheel.spring.console;

import reactor.core.publisher.Mono;

import org.springframework.http.HttpHeaders;
import org.springframework.security.web.server.csrf.CsrfToken;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;

/**
 * Adds what {@link ServletCsrfTokenHeader} adds to the responses of WebFlux, where an
 * operation cannot see its request. Comes after the filters of Spring Security.
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
			HttpHeaders headers = exchange.getResponse().getHeaders();
			return token.cast(CsrfToken.class)
				.doOnNext((value) -> headers.set(TimingWheelConsoleEndpoint.CSRF_HEADER,
						value.getHeaderName() + " " + value.getToken()))
				.then(chain.filter(exchange));
		}
		return chain.filter(exchange);
	}

}
