package io.timingwheel.spring.aop.delayed;

import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RunnableFuture;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.scheduling.annotation.Async;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An annotation that cannot take effect stops the start before any bean is made. The
 * message names the method, the problem and the remedy.
 */
class DelayedStartupFailureTests {

	private final ApplicationContextRunner runner = DelayedContexts.runner();

	@Test
	void privateMethod() {
		assertFails(PrivateMethod.class, "PrivateMethod#run()",
				"@Delayed is on a private method, which a proxy cannot intercept",
				"make the method public, protected or package-private");
	}

	@Test
	void staticMethod() {
		assertFails(StaticMethod.class, "StaticMethod#run()",
				"@Delayed is on a static method, which a proxy cannot intercept",
				"make it an instance method of the bean");
	}

	@Test
	void finalMethod() {
		assertFails(FinalMethod.class, "FinalMethod#run()",
				"@Delayed is on a final method, which a proxy cannot intercept",
				"remove the final modifier from the method");
	}

	@Test
	void finalClass() {
		assertFails(FinalClass.class, "FinalClass#run()", "@Delayed is on a method of the final class",
				"remove the final modifier from the class");
	}

	@Test
	void unsupportedReturnTypes() {
		String remedy = "return void, Future, CompletionStage, CompletableFuture or DelayedTask";
		assertFails(ReturnsInt.class, "ReturnsInt#run()", "@Delayed is on a method that returns int", remedy);
		assertFails(ReturnsMono.class, "ReturnsMono#run()",
				"@Delayed is on a method that returns reactor.core.publisher.Mono", remedy);
		assertFails(ReturnsSubtype.class, "ReturnsSubtype#run()",
				"@Delayed is on a method that returns java.util.concurrent.RunnableFuture", remedy);
	}

	@Test
	void asyncOnTheSameMethod() {
		assertFails(AsyncMethod.class, "AsyncMethod#run()", "@Delayed and @Async are on one method", "remove @Async");
		assertFails(AsyncClass.class, "AsyncClass#run()", "@Delayed and @Async are on one method", "remove @Async");
	}

	@Test
	void missingExecutor() {
		assertFails(MissingExecutor.class, "MissingExecutor#run()",
				"@Delayed names the executor \"nobody\", but no Executor bean has this name or qualifier",
				"define the bean, or name one of [applicationTaskExecutor");
	}

	@Test
	void namedBeanThatIsNoExecutor() {
		assertFails(this.runner.withBean("nobody", String.class, () -> "text"), MissingExecutor.class,
				"MissingExecutor#run()", "no Executor bean has this name or qualifier", "define the bean");
	}

	@Test
	void namedExecutorIsFoundWithoutInstantiatingIt() {
		this.runner.withBean("nobody", Executor.class, () -> {
			throw new IllegalStateException("instantiated");
		}, (definition) -> definition.setLazyInit(true))
			.withBean(MissingExecutor.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void unparsableDelay() {
		assertFails(Banana.class, "Banana#run()", "the delay of @Delayed is unusable (\"banana\" is not a duration",
				"set a delay such as 30s, 10m or PT1H");
		assertFails(this.runner.withPropertyValues("fruit=banana"), BananaProperty.class, "BananaProperty#run()",
				"\"${fruit}\" gives no duration: \"banana\"", "set a delay such as 30s, 10m or PT1H");
		assertFails(BananaProperty.class, "BananaProperty#run()", "\"${fruit}\" cannot be resolved",
				"set a delay such as 30s, 10m or PT1H");
		assertFails(BananaBean.class, "BananaBean#run()", "\"#{'ban' + 'ana'}\" gives no duration",
				"set a delay such as 30s, 10m or PT1H");
	}

	@Test
	void unparsableExpireAfter() {
		assertFails(BananaExpiry.class, "BananaExpiry#run()",
				"the expireAfter of @Delayed is unusable (\"banana\" is not a duration",
				"set a duration such as 5m, or remove it");
		assertFails(NegativeExpiry.class, "NegativeExpiry#run()", "the expireAfter of @Delayed is unusable (\"-5s\" is",
				"set a duration such as 5m, or remove it");
	}

	@Test
	void bothDelayAndExpression() {
		assertFails(BothDelays.class, "BothDelays#run(long)", "@Delayed has both a delay and a delayExpression",
				"remove one of them");
	}

	@Test
	void neitherDelayNorExpression() {
		assertFails(NoDelay.class, "NoDelay#run()", "@Delayed has no delay",
				"set a delay such as 30s, or a delayExpression");
	}

	@Test
	void valueAndDelayThatDiffer() {
		assertFails(TwoValues.class, "TwoValues#run()", "attribute 'delay' and its alias 'value'",
				"set only one of the attributes");
	}

	@Test
	void brokenExpressions() {
		assertFails(BrokenKey.class, "BrokenKey#run(long)",
				"the expression \"#id.(\" of @Delayed(key) cannot be parsed", "correct the SpEL expression");
		assertFails(BrokenDelay.class, "BrokenDelay#run(long)",
				"the expression \"#id +\" of @Delayed(delayExpression) cannot be parsed",
				"correct the SpEL expression");
	}

	@Test
	void keyOfAnUnknownArgument() {
		assertFails(UnknownArgument.class, "UnknownArgument#run(long)",
				"the expression \"#orderId\" of @Delayed(key) names #orderId, which is no parameter of the method",
				"use the name of a parameter");
	}

	@Test
	void oneNameOnTwoMethods() {
		assertFails(OneName.class, "OneName#", "the name \"same\" of @Delayed belongs to " + OneName.class.getName(),
				"give each method a name of its own");
		assertFails(this.runner.withBean(SameName.class), OneName.class, "OneName#",
				"the name \"same\" of @Delayed belongs to", "give each method a name of its own");
	}

	@Test
	void overloadsWithoutNames() {
		assertFails(Overloads.class, "Overloads#run(", "the name \"culprit.run\" of @Delayed belongs to",
				"give each method a name of its own");
	}

	@Test
	void cancellingAnUnknownName() {
		assertFails(this.runner.withBean(OneGoodName.class), CancelsUnknown.class, "CancelsUnknown#cancel(long)",
				"@CancelDelayed names the task \"unknown\", which no @Delayed method has",
				"use one of these names: [good]");
	}

	@Test
	void cancellingWithoutAKeyOrWithABadOne() {
		assertFails(CancelsWithoutKey.class, "CancelsWithoutKey#cancel()", "@CancelDelayed has no key",
				"set the key to an expression on the arguments");
		assertFails(CancelsUnknownArgument.class, "CancelsUnknownArgument#cancel(long)",
				"the expression \"#orderId\" of @CancelDelayed(key) names #orderId", "use the name of a parameter");
	}

	@Test
	void cancellingFromAPrivateMethod() {
		assertFails(PrivateCancel.class, "PrivateCancel#cancel(long)",
				"@CancelDelayed is on a private method, which a proxy cannot intercept",
				"make the method public, protected or package-private");
	}

	@Test
	void lazyBeansFailAtStartup() {
		assertFails(this.runner.withPropertyValues("spring.main.lazy-initialization=true"), PrivateMethod.class,
				"PrivateMethod#run()", "private method", "make the method public");
	}

	private void assertFails(Class<?> bean, String method, String problem, String remedy) {
		assertFails(this.runner, bean, method, problem, remedy);
	}

	private <T> void assertFails(ApplicationContextRunner runner, Class<T> bean, String method, String problem,
			String remedy) {
		runner.withBean("culprit", bean).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context).getFailure()
				.isInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining(method)
				.hasMessageContaining(problem)
				.hasMessageContaining(remedy);
			FailureAnalysis analysis = analyze(context.getStartupFailure());
			assertThat(analysis.getDescription()).contains(method).containsIgnoringCase(problem);
			assertThat(analysis.getAction()).containsIgnoringCase(remedy);
		});
	}

	static FailureAnalysis analyze(Throwable failure) {
		FailureHandler ignore = (type, name, ex) -> {
		};
		return SpringFactoriesLoader.forDefaultResourceLocation()
			.load(FailureAnalyzer.class, ignore)
			.stream()
			.filter((analyzer) -> analyzer.getClass().getName().startsWith("io.timingwheel."))
			.map((analyzer) -> analyzer.analyze(failure))
			.findFirst()
			.orElseThrow();
	}

	static class PrivateMethod {

		@Delayed("1s")
		private void run() {
		}

	}

	static class StaticMethod {

		@Delayed("1s")
		static void run() {
		}

	}

	static class FinalMethod {

		@Delayed("1s")
		public final void run() {
		}

	}

	static final class FinalClass {

		@Delayed("1s")
		public void run() {
		}

	}

	static class ReturnsInt {

		@Delayed("1s")
		public int run() {
			return 1;
		}

	}

	static class ReturnsMono {

		@Delayed("1s")
		public Mono<String> run() {
			return Mono.empty();
		}

	}

	static class ReturnsSubtype {

		@Delayed("1s")
		public RunnableFuture<String> run() {
			throw new IllegalStateException();
		}

	}

	static class AsyncMethod {

		@Async
		@Delayed("1s")
		public Future<String> run() {
			throw new IllegalStateException();
		}

	}

	@Async
	static class AsyncClass {

		@Delayed("1s")
		public void run() {
		}

	}

	static class MissingExecutor {

		@Delayed(delay = "1s", executor = "nobody")
		public void run() {
		}

	}

	static class Banana {

		@Delayed("banana")
		public void run() {
		}

	}

	static class BananaProperty {

		@Delayed("${fruit}")
		public void run() {
		}

	}

	static class BananaBean {

		@Delayed("#{'ban' + 'ana'}")
		public void run() {
		}

	}

	static class BananaExpiry {

		@Delayed(delay = "1s", expireAfter = "banana")
		public void run() {
		}

	}

	static class NegativeExpiry {

		@Delayed(delay = "1s", expireAfter = "-5s")
		public void run() {
		}

	}

	static class BothDelays {

		@Delayed(delay = "1s", delayExpression = "#id")
		public void run(long id) {
		}

	}

	static class NoDelay {

		@Delayed
		public void run() {
		}

	}

	static class TwoValues {

		@Delayed(value = "1s", delay = "2s")
		public void run() {
		}

	}

	static class BrokenKey {

		@Delayed(delay = "1s", key = "#id.(")
		public void run(long id) {
		}

	}

	static class BrokenDelay {

		@Delayed(delayExpression = "#id +")
		public void run(long id) {
		}

	}

	static class UnknownArgument {

		@Delayed(delay = "1s", key = "#orderId")
		public void run(long id) {
		}

	}

	static class OneName {

		@Delayed(delay = "1s", name = "same")
		public void first() {
		}

		@Delayed(delay = "1s", name = "same")
		public void second() {
		}

	}

	static class SameName {

		@Delayed(delay = "1s", name = "same")
		public void third() {
		}

	}

	static class Overloads {

		@Delayed("1s")
		public void run(long id) {
		}

		@Delayed("1s")
		public void run(String id) {
		}

	}

	static class OneGoodName {

		@Delayed(delay = "1s", name = "good")
		public void run() {
		}

	}

	static class CancelsUnknown {

		@CancelDelayed(name = "unknown", key = "#id")
		public void cancel(long id) {
		}

	}

	static class CancelsWithoutKey {

		@CancelDelayed(name = "unknown", key = "")
		public void cancel() {
		}

	}

	static class CancelsUnknownArgument {

		@CancelDelayed(name = "unknown", key = "#orderId")
		public void cancel(long id) {
		}

	}

	static class PrivateCancel {

		@CancelDelayed(name = "unknown", key = "#id")
		private void cancel(long id) {
		}

	}

}
