package io.timingwheel.spring.autoconfigure;

import io.timingwheel.spring.autoconfigure.internal.BoundPropertyCondition;
import io.timingwheel.spring.autoconfigure.internal.OnTimingWheelEnabled;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.context.MessageSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;

/**
 * Auto-configuration of the responses to requests that end with an uncaught
 * {@link io.timingwheel.spring.annotation.MethodTimeoutException}, in Spring MVC and
 * WebFlux.
 *
 * <p>
 * The beans have the order of Boot's own error handling in WebFlux. They must come before
 * that bean, and after the beans of the application.
 *
 * @since 0.1
 */
@AutoConfiguration(beforeName = "org.springframework.boot.webflux.autoconfigure.error.ErrorWebFluxAutoConfiguration")
@Conditional({ OnTimingWheelEnabled.class, TimingWheelProblemDetailsAutoConfiguration.OnProblemDetails.class })
public final class TimingWheelProblemDetailsAutoConfiguration {

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = Type.SERVLET)
	@ConditionalOnClass(DispatcherServlet.class)
	static class WebMvcConfiguration {

		@Bean
		TimeoutExceptionResolver timingWheelTimeoutExceptionResolver(
				@Qualifier("requestMappingHandlerAdapter") ObjectProvider<RequestMappingHandlerAdapter> adapter,
				MessageSource messages) {
			return new TimeoutExceptionResolver(adapter, messages);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = Type.REACTIVE)
	@ConditionalOnClass(DispatcherHandler.class)
	static class WebFluxConfiguration {

		@Bean
		TimeoutWebExceptionHandler timingWheelTimeoutWebExceptionHandler(ObjectProvider<ServerCodecConfigurer> codecs,
				MessageSource messages) {
			return new TimeoutWebExceptionHandler(codecs, messages);
		}

	}

	static class OnProblemDetails extends BoundPropertyCondition<Boolean> {

		OnProblemDetails() {
			super("timingwheel.timeout.problem-details", true, true);
		}

	}

}
