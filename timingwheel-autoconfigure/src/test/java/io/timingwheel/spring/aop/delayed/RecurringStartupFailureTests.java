package io.timingwheel.spring.aop.delayed;

import java.util.concurrent.CompletableFuture;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.scheduling.annotation.Async;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A {@code @Recurring} that cannot take effect stops the start. The message names the
 * method, the problem and the remedy.
 */
class RecurringStartupFailureTests {

	private final ApplicationContextRunner runner = DelayedContexts.runner();

	@Test
	void aCronExpressionThatCannotBeParsed() {
		assertFails(BadCron.class, "BadCron#run()", "the cron \"every morning\" of @Recurring is unusable (",
				"set an expression of six fields such as 0 0 3 * * *, or a macro such as @daily, or \"-\" to switch");
		assertFails(NeverCron.class, "NeverCron#run()", "never matches a time", "or \"-\" to switch the method off");
	}

	@Test
	void aCronExpressionFromAPropertyThatCannotBeParsed() {
		assertFails(this.runner.withPropertyValues("report.cron=0 0 3 * *"), PropertyCron.class, "PropertyCron#run()",
				"the cron \"0 0 3 * *\" of @Recurring is unusable", "set an expression of six fields");
		assertFails(PropertyCron.class, "PropertyCron#run()", "the cron of @Recurring is unusable", "set the property");
	}

	@Test
	void periodsThatAreNone() {
		assertFails(BadPeriod.class, "BadPeriod#run()", "the every \"soon\" of @Recurring is unusable",
				"set a period such as 30s, 10m or PT1H");
		assertFails(ZeroPause.class, "ZeroPause#run()", "the fixedDelay \"0\" of @Recurring is unusable",
				"set a pause such as 30s");
		assertFails(NegativeInitialDelay.class, "NegativeInitialDelay#run()",
				"the initialDelay of @Recurring is unusable (\"-1s\" is negative)", "set a duration such as 5m");
	}

	@Test
	void noneOrTwoOfTheThreeTimes() {
		assertFails(NoTime.class, "NoTime#run()", "@Recurring does not say when the method runs",
				"set cron, every or fixedDelay");
		assertFails(TwoTimes.class, "TwoTimes#run()", "@Recurring has both cron and every", "remove one of them");
	}

	@Test
	void attributesThatDoNotGoTogether() {
		assertFails(ZoneWithoutCron.class, "ZoneWithoutCron#run()", "@Recurring has a zone, but no cron expression",
				"remove the zone, or set cron");
		assertFails(BadZone.class, "BadZone#run()", "the zone \"Berlin\" of @Recurring is unusable",
				"set a time zone such as Europe/Berlin");
		assertFails(CronWithInitialDelay.class, "CronWithInitialDelay#run()", "@Recurring has an initialDelay",
				"remove the initialDelay");
		assertFails(LimitPerKey.class, "LimitPerKey#run()", "limits the runs of a key", "remove maxConcurrentPerKey");
	}

	@Test
	void methodsThatNobodyCanCall() {
		assertFails(WithArguments.class, "WithArguments#run(String)", "@Recurring is on a method with arguments",
				"remove the parameters");
		assertFails(ReturnsText.class, "ReturnsText#run()", "@Recurring is on a method that returns java.lang.String",
				"return void, or a future");
		assertFails(PrivateMethod.class, "PrivateMethod#run()", "@Recurring is on a private method",
				"make the method public, protected or package-private");
		assertFails(StaticMethod.class, "StaticMethod#run()", "@Recurring is on a static method",
				"make it an instance method");
		assertFails(FinalMethod.class, "FinalMethod#run()", "@Recurring is on a final method",
				"remove the final modifier");
	}

	@Test
	void otherAnnotationsOnTheMethod() {
		assertFails(AsyncMethod.class, "AsyncMethod#run()", "@Recurring and @Async are on one method", "remove @Async");
		assertFails(DelayedMethodToo.class, "DelayedMethodToo#run()", "@Recurring and @Delayed are on one method",
				"remove one of them");
	}

	@Test
	void missingExecutor() {
		assertFails(MissingExecutor.class, "MissingExecutor#run()",
				"@Recurring names the executor \"nobody\", but no Executor bean has this name or qualifier",
				"define the bean, or name one of [applicationTaskExecutor");
	}

	@Test
	void oneNameForTwoMethods() {
		assertFails(this.runner.withBean("first", Named.class), Named.class, "Named#run()",
				"the name \"report\" of @Recurring belongs to", "give each method a name of its own");
		assertFails(this.runner.withBean(NamedDelayed.class), Named.class, "Named#run()",
				"the name \"report\" of @Recurring belongs to a @Delayed method already",
				"give each method a name of its own");
	}

	@Test
	void noPlaceAmongThePendingTasks() {
		this.runner.withPropertyValues("timingwheel.max-pending=1")
			.withBean(Hourly.class)
			.withBean(Daily.class)
			.run((context) -> assertThat(context).getFailure()
				.cause()
				.isInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("ly#run()")
				.hasMessageContaining("the first run of @Recurring cannot be scheduled (")
				.hasMessageContaining("raise timingwheel.max-pending"));
	}

	@Test
	void aMethodBehindAnInterfaceIsFoundOnTheBeanItself() {
		this.runner.withBean("hidden", Runnable.class, Hidden::new)
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("Hidden#run()")
				.hasMessageContaining("does not say when"));
	}

	private void assertFails(Class<?> beanClass, String... parts) {
		assertFails(this.runner, beanClass, parts);
	}

	private static void assertFails(ApplicationContextRunner runner, Class<?> beanClass, String... parts) {
		runner
			.withInitializer((context) -> ((GenericApplicationContext) context).registerBeanDefinition("bean",
					new RootBeanDefinition(beanClass)))
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidAnnotatedMethodException.class)
				.message()
				.contains(parts));
	}

	static class Hourly {

		@Recurring(cron = "@hourly")
		public void run() {
		}

	}

	static class Daily {

		@Recurring(cron = "@daily")
		public void run() {
		}

	}

	static class BadCron {

		@Recurring(cron = "every morning")
		public void run() {
		}

	}

	static class NeverCron {

		@Recurring(cron = "0 0 0 30 2 *")
		public void run() {
		}

	}

	static class PropertyCron {

		@Recurring(cron = "${report.cron}")
		public void run() {
		}

	}

	static class BadPeriod {

		@Recurring(every = "soon")
		public void run() {
		}

	}

	static class ZeroPause {

		@Recurring(fixedDelay = "0")
		public void run() {
		}

	}

	static class NegativeInitialDelay {

		@Recurring(every = "5s", initialDelay = "-1s")
		public void run() {
		}

	}

	static class NoTime {

		@Recurring
		public void run() {
		}

	}

	static class TwoTimes {

		@Recurring(cron = "@daily", every = "1h")
		public void run() {
		}

	}

	static class ZoneWithoutCron {

		@Recurring(every = "1h", zone = "Europe/Berlin")
		public void run() {
		}

	}

	static class BadZone {

		@Recurring(cron = "@daily", zone = "Berlin")
		public void run() {
		}

	}

	static class CronWithInitialDelay {

		@Recurring(cron = "@daily", initialDelay = "1m")
		public void run() {
		}

	}

	static class LimitPerKey {

		@Recurring(every = "1h", policy = @TaskPolicy(maxConcurrentPerKey = 1))
		public void run() {
		}

	}

	static class WithArguments {

		@Recurring(every = "1h")
		public void run(String text) {
		}

	}

	static class ReturnsText {

		@Recurring(every = "1h")
		public String run() {
			return "";
		}

	}

	static class PrivateMethod {

		@Recurring(every = "1h")
		private void run() {
		}

	}

	static class StaticMethod {

		@Recurring(every = "1h")
		public static void run() {
		}

	}

	static class FinalMethod {

		@Recurring(every = "1h")
		public final void run() {
		}

	}

	static class AsyncMethod {

		@Async
		@Recurring(every = "1h")
		public void run() {
		}

	}

	static class DelayedMethodToo {

		@Delayed("1s")
		@Recurring(every = "1h")
		public CompletableFuture<Void> run() {
			return CompletableFuture.completedFuture(null);
		}

	}

	static class MissingExecutor {

		@Recurring(every = "1h", executor = "nobody")
		public void run() {
		}

	}

	static class Named {

		@Recurring(every = "1h", name = "report")
		public void run() {
		}

	}

	static class NamedDelayed {

		@Delayed(delay = "1s", name = "report")
		public void later() {
		}

	}

	static class Hidden implements Runnable {

		@Override
		@Recurring
		public void run() {
		}

	}

}
