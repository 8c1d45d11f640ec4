package io.timingwheel.spring.autoconfigure;

import java.io.IOException;
import java.util.List;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.MessageSource;
import org.springframework.context.i18n.LocaleContextHolder;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.web.ErrorResponse;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.servlet.handler.AbstractHandlerExceptionResolver;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;

/**
 * Answers an uncaught {@link MethodTimeoutException} in Spring MVC. This resolver is the
 * last one, so the exception handlers of the application come first. A
 * {@code @ControllerAdvice} in its place would not apply to functional endpoints.
 */
final class TimeoutExceptionResolver extends AbstractHandlerExceptionResolver {

	private final ObjectProvider<RequestMappingHandlerAdapter> adapter;

	private final MessageSource messages;

	TimeoutExceptionResolver(ObjectProvider<RequestMappingHandlerAdapter> adapter, MessageSource messages) {
		this.adapter = adapter;
		this.messages = messages;
		setOrder(LOWEST_PRECEDENCE);
		setWarnLogCategory(getClass().getName());
	}

	@Override
	protected @Nullable ModelAndView doResolveException(HttpServletRequest request, HttpServletResponse response,
			@Nullable Object handler, Exception ex) {
		MethodTimeoutException timeout = TimeoutProblem.timeout(ex);
		if (timeout == null || response.isCommitted()) {
			return null;
		}
		try {
			write(TimeoutProblem.response(timeout, request.getRequestURI(), this.messages,
					LocaleContextHolder.getLocale()), request, response);
			return new ModelAndView();
		}
		catch (IOException | ServletException failure) {
			this.logger.warn("Failed to answer [" + timeout + "]", failure);
			return null;
		}
	}

	private void write(ErrorResponse error, HttpServletRequest request, HttpServletResponse response)
			throws IOException, ServletException {
		List<HttpMessageConverter<?>> converters = this.adapter.stream()
			.flatMap((adapter) -> adapter.getMessageConverters().stream())
			.filter((converter) -> converter.canWrite(ProblemDetail.class, MediaType.APPLICATION_PROBLEM_JSON))
			.toList();
		if (converters.isEmpty()) {
			response.sendError(error.getStatusCode().value(), error.getBody().getDetail());
		}
		else {
			ServerResponse.from(error).writeTo(request, response, () -> converters);
		}
	}

	@Override
	protected void logException(Exception ex, HttpServletRequest request) {
		super.logException(ex, request);
		this.logger.debug("The stack of the timeout", ex);
	}

}
