package io.timingwheel.spring.aop.delayed;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.context.SecurityContextImpl;
import org.springframework.security.task.DelegatingSecurityContextAsyncTaskExecutor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The executors of Spring Security that carry the security context of their caller.
 */
class DurableSecurityContextTests {

	private static final List<@Nullable String> seen = new CopyOnWriteArrayList<>();

	@BeforeEach
	void reset() {
		seen.clear();
	}

	@AfterEach
	void logout() {
		SecurityContextHolder.clearContext();
	}

	@Test
	void aDurableMethodWhoseExecutorNeedsACallerStopsTheStart() {
		DurableContexts.runner()
			.withBean("applicationTaskExecutor", Executor.class,
					() -> new DelegatingSecurityContextAsyncTaskExecutor(new SimpleAsyncTaskExecutor()))
			.withBean("service", DurableService.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("DurableService#remind")
				.hasMessageContaining("which is not stored")
				.hasMessageContaining("name another executor, or give the DelegatingSecurityContextAsyncTaskExecutor"));
	}

	@Test
	void aDurableMethodMayUseAnExecutorWithAContextOfItsOwn() {
		DurableContexts.runner()
			.withBean("applicationTaskExecutor", Executor.class,
					() -> new DelegatingSecurityContextAsyncTaskExecutor(new SimpleAsyncTaskExecutor(),
							contextOf("system")))
			.withBean("service", DurableService.class)
			.run((context) -> {
				context.getBean(DurableService.class).remind();
				await().untilAsserted(() -> assertThat(seen).containsExactly("system"));
			});
	}

	private static SecurityContext contextOf(String name) {
		return new SecurityContextImpl(new TestingAuthenticationToken(name, "secret"));
	}

	private static @Nullable String user() {
		Authentication authentication = SecurityContextHolder.getContext().getAuthentication();
		return (authentication != null) ? authentication.getName() : null;
	}

	static class DurableService {

		@Delayed(delay = "1ms", durable = true)
		public void remind() {
			seen.add(user());
		}

	}

}
