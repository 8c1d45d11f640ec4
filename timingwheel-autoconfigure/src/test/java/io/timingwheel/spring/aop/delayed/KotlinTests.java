package io.timingwheel.spring.aop.delayed;

import java.time.Duration;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.junit.jupiter.api.Test;

import org.springframework.boot.diagnostics.FailureAnalysis;

import static io.timingwheel.spring.aop.delayed.DelayedContexts.advanceAndAwait;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.pending;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Classes written in Kotlin, whose classes and functions are final unless they are open.
 */
class KotlinTests {

	@Test
	void anOpenClassWorksWithParametersByName() {
		DelayedContexts.runner().withBean("orders", OpenService.class).run((context) -> {
			OpenService orders = context.getBean(OpenService.class);
			orders.closeIfUnpaid(1);
			orders.closeIfUnpaid(2);
			orders.closeIfUnpaid(1);
			orders.pay(2);
			assertThat(pending(context)).isOne();
			advanceAndAwait(context, Duration.ofSeconds(11));
			assertThat(orders.getClosed()).containsExactly(1L);
		});
	}

	@Test
	void anOpenFunctionIsCutAtItsLimit() {
		DelayedContexts.realTimeRunner()
			.withBean("orders", OpenService.class)
			.run((context) -> assertThatExceptionOfType(MethodTimeoutException.class)
				.isThrownBy(() -> context.getBean(OpenService.class).slow()));
	}

	@Test
	void aClassThatIsFinalByDefaultStopsTheStart() {
		assertFails(FinalByDefault.class, "run()",
				"@Delayed is on a method of the final class " + FinalByDefault.class.getName()
						+ ", which cannot be proxied by a subclass.",
				"Remove the final modifier from the class (in Kotlin, make it open).");
	}

	@Test
	void aFunctionThatIsFinalByDefaultStopsTheStart() {
		assertFails(FinalFunction.class, "run()", "@Delayed is on a final method, which a proxy cannot intercept.",
				"Remove the final modifier from the method (in Kotlin, make it open).");
	}

	@Test
	void aSuspendFunctionStopsTheStart() {
		assertFails(Suspending.class, "run(Continuation)",
				"@Delayed is on a suspend function, whose caller would wait for the delayed body.",
				"Make it an ordinary function that returns nothing or a CompletableFuture.");
	}

	private static void assertFails(Class<?> bean, String function, String problem, String remedy) {
		DelayedContexts.runner().withBean("culprit", bean).run((context) -> {
			assertThat(context).getFailure().isInstanceOf(InvalidAnnotatedMethodException.class);
			FailureAnalysis analysis = DelayedStartupFailureTests.analyze(context.getStartupFailure());
			assertThat(analysis.getDescription())
				.isEqualToNormalizingNewlines("An annotation on the method %s#%s cannot take effect:\n\n    %s"
					.formatted(bean.getName(), function, problem));
			assertThat(analysis.getAction()).isEqualTo(remedy);
		});
	}

}
