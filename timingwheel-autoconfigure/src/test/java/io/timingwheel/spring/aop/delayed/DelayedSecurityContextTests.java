package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.concurrent.ConcurrentTaskExecutor;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.concurrent.DelegatingSecurityContextExecutor;
import org.springframework.security.concurrent.DelegatingSecurityContextExecutorService;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.context.SecurityContextImpl;
import org.springframework.security.task.DelegatingSecurityContextAsyncTaskExecutor;

import static io.timingwheel.spring.aop.delayed.DelayedContexts.advanceAndAwait;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The executors of Spring Security that carry the security context of their caller.
 */
class DelayedSecurityContextTests {

	private static final List<@Nullable String> seen = new CopyOnWriteArrayList<>();

	@BeforeEach
	void reset() {
		seen.clear();
	}

	@AfterEach
	void logout() {
		SecurityContextHolder.clearContext();
	}

	static List<Executor> executors() {
		AsyncTaskExecutor delegate = new SimpleAsyncTaskExecutor();
		DelegatingSecurityContextAsyncTaskExecutor usual = new DelegatingSecurityContextAsyncTaskExecutor(delegate);
		ProxyFactory proxy = new ProxyFactory(usual);
		return List.of(usual, new DelegatingSecurityContextExecutor(delegate), (Executor) proxy.getProxy(),
				new ConcurrentTaskExecutor(
						new DelegatingSecurityContextExecutorService(Executors.newSingleThreadExecutor())));
	}

	@ParameterizedTest
	@MethodSource("executors")
	void theBodyRunsWithTheSecurityContextOfTheCaller(Executor executor) {
		runner(executor).run((context) -> {
			Service service = context.getBean(Service.class);
			login("ada");
			service.keyed(1);
			service.unkeyed();
			login("eve");
			service.keyed(1);
			SecurityContextHolder.clearContext();
			service.unkeyed();
			login("somebody else");
			advanceAndAwait(context, Duration.ofSeconds(2));
			assertThat(seen).containsExactlyInAnyOrder("ada", "eve", null);
			assertThat(user()).isEqualTo("somebody else");
		});
	}

	@Test
	void theTemplateCarriesTheSecurityContextToEachRun() {
		runner(new DelegatingSecurityContextAsyncTaskExecutor(new SimpleAsyncTaskExecutor())).run((context) -> {
			login("ada");
			context.getBean(DelayedTaskTemplate.class).task(() -> seen.add(user())).every(Duration.ofSeconds(1));
			SecurityContextHolder.clearContext();
			advanceAndAwait(context, Duration.ofSeconds(1));
			await().until(() -> seen.size() == 1);
			advanceAndAwait(context, Duration.ofSeconds(1));
			await().untilAsserted(() -> assertThat(seen).containsExactly("ada", "ada"));
		});
	}

	@Test
	void aContextThatWasGivenToTheExecutorHasPriority() {
		runner(new DelegatingSecurityContextAsyncTaskExecutor(new SimpleAsyncTaskExecutor(), contextOf("system")))
			.run((context) -> {
				login("ada");
				context.getBean(Service.class).unkeyed();
				advanceAndAwait(context, Duration.ofSeconds(2));
				assertThat(seen).containsExactly("system");
			});
	}

	@Test
	void anOrdinaryExecutorCarriesNone() {
		runner(new SimpleAsyncTaskExecutor()).run((context) -> {
			login("ada");
			context.getBean(Service.class).unkeyed();
			advanceAndAwait(context, Duration.ofSeconds(2));
			assertThat(seen).containsExactly((String) null);
		});
	}

	private static ApplicationContextRunner runner(Executor executor) {
		return DelayedContexts.runner()
			.withBean("applicationTaskExecutor", Executor.class, () -> executor)
			.withBean("service", Service.class);
	}

	private static void login(String name) {
		SecurityContextHolder.setContext(contextOf(name));
	}

	private static SecurityContext contextOf(String name) {
		return new SecurityContextImpl(new TestingAuthenticationToken(name, "secret"));
	}

	private static @Nullable String user() {
		Authentication authentication = SecurityContextHolder.getContext().getAuthentication();
		return (authentication != null) ? authentication.getName() : null;
	}

	static class Service {

		@Delayed(delay = "1s", key = "#key")
		public void keyed(int key) {
			seen.add(user());
		}

		@Delayed("1s")
		public void unkeyed() {
			seen.add(user());
		}

	}

}
