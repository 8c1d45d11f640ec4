package io.timingwheel.test;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelCustomizer;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

class MisuseTests {

	private final ApplicationContextRunner context = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(TimingWheelAutoConfiguration.class, VirtualTimeAutoConfiguration.class));

	@Test
	void aContextRunnerHasVirtualTime() {
		this.context.run((context) -> assertThat(context).hasSingleBean(VirtualTime.class));
	}

	@Test
	void aWheelThatIsSwitchedOffStopsTheStart() {
		this.context.withPropertyValues("timingwheel.enabled=off").run((context) -> {
			FailureAnalysis analysis = analyze(context.getStartupFailure());
			assertThat(analysis.getDescription()).contains("switched off by timingwheel.enabled");
			assertThat(analysis.getAction()).contains("remove @AutoConfigureVirtualTime");
		});
	}

	@Test
	void aMissingWheelStopsTheStart() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(VirtualTimeAutoConfiguration.class))
			.run((context) -> assertThat(analyze(context.getStartupFailure()).getAction())
				.contains("Add TimingWheelAutoConfiguration"));
	}

	@Test
	void twoClocksStopTheStart() {
		this.context
			.withBean(TimingWheelCustomizer.class, () -> (builder) -> builder.timeSource(new ManualTimeSource()))
			.run((context) -> {
				FailureAnalysis analysis = analyze(context.getStartupFailure());
				assertThat(analysis.getDescription()).contains("two clocks");
				assertThat(analysis.getAction()).contains("TimingWheelCustomizer");
			});
	}

	private static FailureAnalysis analyze(Throwable failure) {
		FailureAnalysis analysis = new VirtualTimeFailureAnalyzer().analyze(failure);
		assertThat(analysis).isNotNull();
		return analysis;
	}

}
