package io.timingwheel.spring.autoconfigure;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;

/**
 * An application that uses all features, with only the libraries of the starter.
 */
public class OptionalDependenciesProbe implements Callable<String> {

	static final String ALL_WORKS = "delayed 5, cancelled 6, timed out in place, timed out later, scheduled";

	@Override
	public String call() throws Exception {
		Resource[] durable = new PathMatchingResourcePatternResolver()
			.getResources("classpath*:io/timingwheel/spring/durable/*.class");
		Assert.state(durable.length == 0, () -> durable[0] + " is on the class path");
		Assert.state(!ClassUtils.isPresent("tools.jackson.core.JsonParser", null), "Jackson is on the class path");
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(Application.class)) {
			Service service = context.getBean(Service.class);
			DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
			String delayed = "delayed " + service.delayed(5).get(1, TimeUnit.MINUTES);
			service.pending(6);
			service.cancel(6);
			String cancelled = tasks.find(TaskId.of("pending", 6)).isEmpty() ? "cancelled 6" : "still pending";
			String scheduled = tasks.schedule(Duration.ZERO, () -> "scheduled").get(1, TimeUnit.MINUTES);
			return String.join(", ", delayed, cancelled, outcome(service::sleep) + " in place",
					outcome(() -> service.never().join()) + " later", scheduled);
		}
	}

	private static String outcome(Callable<String> call) throws Exception {
		try {
			return call.call();
		}
		catch (MethodTimeoutException ex) {
			return "timed out";
		}
		catch (CompletionException ex) {
			return (ex.getCause() instanceof MethodTimeoutException) ? "timed out" : ex.toString();
		}
	}

	@Import(Service.class)
	@EnableAutoConfiguration
	static class Application {

	}

	static class Service {

		@Delayed("1ms")
		CompletableFuture<Long> delayed(long id) {
			return CompletableFuture.completedFuture(id);
		}

		@Delayed(delay = "1h", name = "pending", key = "#id")
		void pending(long id) {
		}

		@CancelDelayed(name = "pending", key = "#id")
		void cancel(long id) {
		}

		@Timeout("10ms")
		String sleep() throws InterruptedException {
			TimeUnit.MINUTES.sleep(1);
			return "never";
		}

		@Timeout("500ms")
		CompletableFuture<String> never() {
			return new CompletableFuture<>();
		}

	}

}
