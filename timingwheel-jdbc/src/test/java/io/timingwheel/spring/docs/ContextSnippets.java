package io.timingwheel.spring.docs;

import java.util.Map;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.docs.Snippets.Log;
import org.slf4j.MDC;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.task.ThreadPoolTaskExecutorBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.task.DelegatingSecurityContextAsyncTaskExecutor;

/**
 * The code that the page about the context shows.
 */
final class ContextSnippets {

	private ContextSnippets() {
	}

	static class Security {

		// tag::security[]
		@Bean
		ThreadPoolTaskExecutor pool(ThreadPoolTaskExecutorBuilder builder) {
			return builder.build();
		}

		@Bean
		AsyncTaskExecutor applicationTaskExecutor(ThreadPoolTaskExecutor pool) {
			return new DelegatingSecurityContextAsyncTaskExecutor(pool);
		}
		// end::security[]

	}

	static class Mdc {

		// tag::mdc[]
		@Bean
		TaskDecorator mdcDecorator() {
			return (task) -> {
				Map<String, String> mdc = MDC.getCopyOfContextMap();
				return () -> {
					MDC.setContextMap((mdc != null) ? mdc : Map.of());
					try {
						task.run();
					}
					finally {
						MDC.clear();
					}
				};
			};
		}
		// end::mdc[]

	}

	static class Greeting {

		@Autowired
		private Log log;

		@Delayed("0s")
		public void greet() {
			Authentication user = SecurityContextHolder.getContext().getAuthentication();
			this.log.add(((user != null) ? user.getName() : "nobody") + " in " + MDC.get("tenant"));
		}

	}

}
