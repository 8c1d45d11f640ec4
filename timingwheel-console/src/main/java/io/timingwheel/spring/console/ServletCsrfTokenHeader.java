package io.timingwheel.spring.console;

import jakarta.servlet.http.HttpServletResponse;

import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * {@link CsrfTokenHeader} for Spring MVC and Jersey, which run an operation on the thread
 * of its request.
 */
final class ServletCsrfTokenHeader implements CsrfTokenHeader {

	@Override
	public void add() {
		if (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes current) {
			HttpServletResponse response = current.getResponse();
			if (response != null
					&& current.getRequest().getAttribute(CsrfToken.class.getName()) instanceof CsrfToken token) {
				response.setHeader(NAME, CsrfTokenHeader.value(token.getHeaderName(), token.getToken()));
			}
		}
	}

}
