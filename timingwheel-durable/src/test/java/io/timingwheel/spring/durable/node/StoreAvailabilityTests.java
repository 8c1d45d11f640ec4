package io.timingwheel.spring.durable.node;

import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.node.StoreAvailability.Caller;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.PartialOutage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

@ExtendWith(OutputCaptureExtension.class)
class StoreAvailabilityTests {

	private static final IllegalStateException GONE = new IllegalStateException("gone");

	private static final IllegalStateException PARTLY_GONE = new IllegalStateException("partly gone");

	private static final IllegalStateException REFUSED = new IllegalStateException("refused");

	private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

	private final DelayedTaskStore store = mock();

	private final StoreAvailability availability = new StoreAvailability(this.store);

	@Test
	void isBackWhenAllCallersThatFailedHaveSucceededOrAreIdleAndOneHasSucceeded(CapturedOutput output) {
		this.availability.failed(Caller.CLAIM, GONE);
		this.availability.failed(Caller.SETTLE, GONE);
		this.availability.failed(Caller.RENEW, GONE);
		assertThat(this.availability.outage().since()).isNotNull();
		this.availability.succeeded(Caller.CLAIM);
		this.availability.idle(Caller.RENEW);
		assertThat(this.availability.outage().error()).isSameAs(GONE);
		this.availability.succeeded(Caller.SETTLE);
		assertThat(this.availability.outage()).isNull();
		assertThat(output).containsOnlyOnce("again, after");
		this.availability.failed(Caller.RENEW, GONE);
		this.availability.idle(Caller.RENEW);
		assertThat(output).containsOnlyOnce("again, after");
		this.availability.succeeded(Caller.CLAIM);
		assertThat(output.toString().split("again, after")).hasSize(3);
	}

	@Test
	void theFirstFailureOfEachCallerAfterASuccessHasTheShortestPause() {
		IntStream.range(0, 10).forEach((i) -> this.availability.failed(Caller.CLAIM, GONE));
		assertThat(this.availability.failed(Caller.RENEW, REFUSED)).isLessThan(SECOND / 10);
		assertThat(this.availability.failed(Caller.CLAIM, GONE)).isGreaterThan(SECOND);
		this.availability.succeeded(Caller.CLAIM);
		assertThat(this.availability.failed(Caller.CLAIM, GONE)).isLessThan(SECOND / 10);
	}

	@Test
	void aRefusalIsNoOutage(CapturedOutput output) {
		given(this.store.isRefusal(REFUSED)).willReturn(true);
		this.availability.failed(Caller.CLAIM, REFUSED);
		this.availability.failed(Caller.CLAIM, REFUSED);
		this.availability.succeeded(Caller.CLAIM);
		assertThat(this.availability.outage()).isNull();
		assertThat(output).containsOnlyOnce("refuses a request (claim)")
			.contains("answers and accepts all requests again, after")
			.doesNotContain("is unavailable");
	}

	@Test
	void isDownWhileAPartDoesNotAnswerAndLogsEachPartOnce(CapturedOutput output) {
		partsAreMissing("a");
		this.availability.succeeded(Caller.CLAIM);
		this.availability.succeeded(Caller.BEGIN);
		assertThat(this.availability.outage().error()).isSameAs(PARTLY_GONE);
		assertThat(this.availability.outage().since()).isNotNull();
		assertThat(this.availability.outage().missingParts()).containsExactly("a");
		partsAreMissing("a", "b");
		this.availability.succeeded(Caller.CLAIM);
		partsAreMissing("b");
		this.availability.succeeded(Caller.CLAIM);
		assertThat(this.availability.outage().missingParts()).containsExactly("b");
		noPartIsMissing();
		this.availability.succeeded(Caller.CLAIM);
		assertThat(this.availability.outage()).isNull();
		assertThat(output.toString().lines().filter((line) -> line.contains("does not answer"))).hasSize(2);
		assertThat(output).containsOnlyOnce("does not answer (a)").containsOnlyOnce("does not answer (a, b)");
	}

	@Test
	void aMissingPartIsForgottenWhileTheWholeStoreDoesNotAnswerOrTheNodeDoesNotClaim() {
		partsAreMissing("a");
		this.availability.succeeded(Caller.CLAIM);
		this.availability.failed(Caller.CLAIM, GONE);
		assertThat(this.availability.outage().missingParts()).isEmpty();
		assertThat(this.availability.outage().error()).isSameAs(GONE);
		this.availability.succeeded(Caller.CLAIM);
		this.availability.idle(Caller.RENEW);
		assertThat(this.availability.outage().missingParts()).containsExactly("a");
		this.availability.idle(Caller.CLAIM);
		assertThat(this.availability.outage()).isNull();
		this.availability.succeeded(Caller.CLAIM);
		assertThat(this.availability.outage().missingParts()).containsExactly("a");
		noPartIsMissing();
		this.availability.succeeded(Caller.SETTLE);
		assertThat(this.availability.outage()).isNull();
	}

	private void partsAreMissing(String... parts) {
		given(this.store.partialOutage()).willReturn(new PartialOutage(new TreeSet<>(List.of(parts)), PARTLY_GONE));
	}

	private void noPartIsMissing() {
		given(this.store.partialOutage()).willReturn(null);
	}

}
