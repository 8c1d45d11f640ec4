package io.timingwheel.spring.durable.support;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LanesTests {

	private final DurableHandlerRegistry handlers = new DurableHandlerRegistry();

	private final DurableHandler handler = this.handlers
		.register(MethodHandler.of(LanesTests.class, "aPlaceThatIsFreeDuringAClaimIsClaimedAfterTheTasksOfTheClaim"));

	private final AtomicInteger calls = new AtomicInteger();

	private final NodeTurns turns = NodeTurns.onThreads();

	private final Lanes lanes = new Lanes(this.handlers, new InFlight(10, new NodeFigures(), this.turns), null,
			(run) -> {
			}, this.calls::incrementAndGet, this.turns);

	private final Lane lane = this.lanes.of(this.handler);

	@Test
	void aPlaceThatIsFreeDuringAClaimIsClaimedAfterTheTasksOfTheClaim() {
		this.lane.claiming();
		this.lane.added();
		this.lane.removed();
		this.lanes.heldInStore(this.handlers.names(), Set.of(this.handler.name()));
		this.lane.started(this.lane.begun());
		assertThat(this.calls).as("the lane has not got all tasks of the claim").hasValue(0);
		this.lanes.mayHaveMore(Map.of(), List.of());
		assertThat(this.calls).hasValue(1);
	}

	@Test
	void oneNameOfAHandlerThatIsHeldBackIsEnough() {
		List<String> names = List.of(this.handler.name(), this.handler.aliases().get(0));
		for (String heldBack : names) {
			int before = this.calls.get();
			this.lane.claiming();
			this.lanes.heldInStore(new LinkedHashSet<>(names), Set.of(heldBack));
			this.lanes.mayHaveMore(Map.of(), List.of());
			this.lane.added();
			this.lane.removed();
			assertThat(this.calls).as(heldBack).hasValue(before + 1);
		}
	}

}
