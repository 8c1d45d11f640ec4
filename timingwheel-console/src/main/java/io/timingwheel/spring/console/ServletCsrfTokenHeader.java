package io.timingwheel.spring.console;

import jakarta.servlet.http.HttpServletResponse;

import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * Adds the token against forged requests to the response of the current request, if the
 * application asks for such a token. Only a page of the same origin can read the header.
 * For Spring MVC and Jersey, which run an operation on the thread of its request.
 */
final class ServletCsrfTokenHeader {

	void add() {
		if (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes current) {
			HttpServletResponse response = current.getResponse();
			if (response != null
					&& current.getRequest().getAttribute(CsrfToken.class.getName()) instanceof CsrfToken token) {
				response.setHeader(TimingWheelConsoleEndpoint.CSRF_HEADER,
						token.getHeaderName() + " " + token.getToken());
			}
		}
	}

}
