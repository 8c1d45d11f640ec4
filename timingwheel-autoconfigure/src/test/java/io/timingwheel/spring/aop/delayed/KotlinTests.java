package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.autoconfigure.StartFailures;
import org.junit.jupiter.api.Test;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.context.ApplicationContext;

import static io.timingwheel.spring.aop.delayed.DelayedContexts.advanceAndAwait;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.pending;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

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
		assertFails(FinalByDefault.class, "run()", "@Delayed is on a final method, which a proxy cannot intercept.",
				"Remove the final modifier from the method (in Kotlin, make it and its class open).");
	}

	@Test
	void aSuspendFunctionStopsTheStart() {
		assertFails(Suspending.class, "run(Continuation)",
				"@Delayed is on a suspend function, whose caller would wait for the delayed body.",
				"Make it an ordinary function that returns nothing or a CompletableFuture.");
	}

	@Test
	void aSuspendFunctionCancelsOnceItHasCompletedNormally() {
		DelayedContexts.runner().withBean(SuspendingPayments.class).run((context) -> {
			SuspendingPayments payments = context.getBean(SuspendingPayments.class);
			assertCancelsAtCompletion(context, (bank) -> Blocking.pay(payments, 1, bank), "paid");
			assertCancelsAtCompletion(context, (bank) -> {
				Blocking.payWithoutReceipt(payments, 1, bank);
				return "";
			}, "");
			assertCancelsAtCompletion(context, (bank) -> Blocking.payInParts(payments, 1, bank),
					List.of("first", "paid"));
		});
	}

	private static void assertCancelsAtCompletion(ApplicationContext context,
			Function<CompletableFuture<String>, Object> pay, Object expected) throws Exception {
		SuspendingPayments payments = context.getBean(SuspendingPayments.class);
		payments.closeIfUnpaid(1);
		assertThatIllegalStateException()
			.isThrownBy(() -> pay.apply(CompletableFuture.failedFuture(new IllegalStateException())));
		assertThat(pending(context)).isOne();
		CompletableFuture<String> bank = new CompletableFuture<>();
		CompletableFuture<Object> paid = CompletableFuture.supplyAsync(() -> pay.apply(bank));
		await().until(() -> bank.getNumberOfDependents() > 0);
		assertThat(pending(context)).isOne();
		bank.complete("paid");
		assertThat(paid.get(60, TimeUnit.SECONDS)).isEqualTo(expected);
		assertThat(pending(context)).isZero();
	}

	@Test
	void aSuspendFunctionMayCancelFirst() {
		DelayedContexts.runner().withBean(SuspendingPayments.class).run((context) -> {
			SuspendingPayments payments = context.getBean(SuspendingPayments.class);
			payments.closeIfUnpaid(1);
			assertThatIllegalStateException().isThrownBy(
					() -> Blocking.giveUp(payments, 1, CompletableFuture.failedFuture(new IllegalStateException())));
			assertThat(pending(context)).isZero();
		});
	}

	@Test
	void aSuspendFunctionThatCancelsStopsTheStartWithoutTheLibraryThatAdaptsIt() {
		DelayedContexts.runner()
			.withClassLoader(new FilteredClassLoader("kotlinx.coroutines.reactor"))
			.withBean(SuspendingPayments.class)
			.run((context) -> {
				assertThat(context).getFailure().isInstanceOf(InvalidAnnotatedMethodException.class);
				assertThat(context.getStartupFailure()).hasMessageContaining("@CancelDelayed is on a suspend function")
					.hasMessageContaining("add the dependency org.jetbrains.kotlinx:kotlinx-coroutines-reactor");
			});
	}

	@Test
	void theOverloadsOfDefaultArgumentsHaveTheAdviceOnce() {
		DelayedContexts.runner().withBean("overloads", Overloads.class).run((context) -> {
			Overloads overloads = context.getBean(Overloads.class);
			overloads.close(1);
			overloads.close(2, "late");
			Defaults.close(overloads, 3);
			overloads.close(4);
			overloads.pay(4);
			assertThat(pending(context)).isEqualTo(3);
			advanceAndAwait(context, Duration.ofSeconds(11));
			assertThat(overloads.getClosed()).containsExactlyInAnyOrder("1 unpaid nobody", "2 late nobody",
					"3 unpaid kotlin");
		});
		DelayedContexts.realTimeRunner()
			.withBean("overloads", Overloads.class)
			.run((context) -> assertThatExceptionOfType(MethodTimeoutException.class)
				.isThrownBy(() -> context.getBean(Overloads.class).quote()));
	}

	@Test
	void theFallbackOfASuspendFunctionMaySuspend() {
		DelayedContexts.realTimeRunner()
			.withBean("quotes", SuspendingQuotes.class)
			.run((context) -> assertTimeoutPreemptively(Duration.ofMinutes(1),
					() -> assertThat(Blocking.quotes(context.getBean(SuspendingQuotes.class)))
						.containsExactly("suspending tea", "plain tea true", "timeout tea", "internal tea")));
	}

	@Test
	void aSuspendingFallbackThatDoesNotFitStopsTheStart() {
		assertFallbackFails(BadSuspendingFallback.class, "the fallback \"last\" of @Timeout is no method of");
		assertFallbackFails(SuspendingFallbackOfOrdinaryFunction.class,
				"the fallback \"last\" of @Timeout is no method of");
	}

	private static void assertFallbackFails(Class<?> bean, String problem) {
		DelayedContexts.runner()
			.withBean(bean)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining(problem)
				.hasMessageContaining("declare java.lang.String last(String)"));
	}

	private static void assertFails(Class<?> bean, String function, String problem, String remedy) {
		DelayedContexts.runner().withBean("culprit", bean).run((context) -> {
			assertThat(context).hasFailed();
			FailureAnalysis analysis = StartFailures.analyze(context.getStartupFailure());
			assertThat(analysis.getDescription())
				.isEqualToNormalizingNewlines("An annotation on the method %s#%s cannot take effect:\n\n    %s"
					.formatted(bean.getName(), function, problem));
			assertThat(analysis.getAction()).isEqualTo(remedy);
		});
	}

}
