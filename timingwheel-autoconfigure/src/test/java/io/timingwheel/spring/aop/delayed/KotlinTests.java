package io.timingwheel.spring.aop.delayed;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Classes written in Kotlin, whose classes and functions are final unless they are open.
 */
class KotlinTests {

	@RegisterExtension
	static final VirtualApplication app = VirtualApplication.of(SuspendingPayments.class);

	@Test
	void aSuspendFunctionCancelsOnceItHasCompletedNormally(SuspendingPayments payments) throws Exception {
		assertCancelsAtCompletion((bank) -> Blocking.pay(payments, 1, bank), "paid");
		assertCancelsAtCompletion((bank) -> {
			Blocking.payWithoutReceipt(payments, 1, bank);
			return "";
		}, "");
		assertCancelsAtCompletion((bank) -> Blocking.payInParts(payments, 1, bank), List.of("first", "paid"));
	}

	private static void assertCancelsAtCompletion(Function<CompletableFuture<String>, Object> pay, Object expected)
			throws Exception {
		app.bean(SuspendingPayments.class).closeIfUnpaid(1);
		assertThatIllegalStateException()
			.isThrownBy(() -> pay.apply(CompletableFuture.failedFuture(new IllegalStateException())));
		assertThat(app.pending()).isOne();
		CompletableFuture<String> bank = new CompletableFuture<>();
		CompletableFuture<Object> paid = CompletableFuture.supplyAsync(() -> pay.apply(bank));
		await().until(() -> bank.getNumberOfDependents() > 0);
		assertThat(app.pending()).isOne();
		bank.complete("paid");
		assertThat(paid.get(60, TimeUnit.SECONDS)).isEqualTo(expected);
		assertThat(app.pending()).isZero();
	}

	@Test
	void flowsAndDeferredResultsAreLimited() {
		DelayedContexts.realTimeRunner().withBean(Limits.class).run((context) -> {
			Limits limits = context.getBean(Limits.class);
			for (ThrowingCallable call : List.<ThrowingCallable>of(() -> Blocking.flow(limits),
					() -> Blocking.deferred(limits))) {
				assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(call);
			}
		});
	}

	@Test
	void whatCannotTakeEffectStopsTheStart() {
		ApplicationContextRunner runner = DelayedContexts.runner();
		assertFails(runner, FinalByDefault.class, "@Delayed is on a final method, which a proxy cannot intercept",
				"remove the final modifier from the method (in Kotlin, make it and its class open)");
		assertFails(runner, Suspending.class, "which cannot be given before the body has run", "return void, Future");
		assertFails(runner, LimitedSuspending.class, "@Timeout is on a suspend function",
				"use withTimeout in its body");
		assertFails(runner, LimitedSequence.class, "cannot limit its work", "return the result itself");
		assertFails(runner.withClassLoader(new FilteredClassLoader("kotlinx.coroutines.reactor")),
				SuspendingPayments.class, "@CancelDelayed is on a suspend function",
				"add the dependency org.jetbrains.kotlinx:kotlinx-coroutines-reactor");
	}

	private static void assertFails(ApplicationContextRunner runner, Class<?> bean, String problem, String remedy) {
		runner.withBean(bean)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining(bean.getName() + "#")
				.hasMessageContaining(problem)
				.hasMessageContaining(remedy));
	}

}
