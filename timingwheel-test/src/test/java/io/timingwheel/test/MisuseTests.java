package io.timingwheel.test;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelCustomizer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.willReturn;
import static org.mockito.Mockito.mock;

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

	@Test
	void aSecondWheelStopsTheStart() {
		this.context.withBean("ownWheel", TimingWheel.class, () -> TimingWheel.builder(Runnable::run).build())
			.run((context) -> assertThat(analyze(context.getStartupFailure()).getDescription()).contains("two clocks"));
	}

	@Test
	void theExtensionIsRefusedBesideTheAnnotation() {
		ParameterContext parameter = mock();
		ExtensionContext context = mock();
		willReturn(BothClocks.class).given(context).getRequiredTestClass();
		assertThatExceptionOfType(ParameterResolutionException.class)
			.isThrownBy(() -> new VirtualTimeExtension().resolveParameter(parameter, context))
			.withMessageContaining("two clocks")
			.withMessageContaining("@ExtendWith(VirtualTimeExtension.class)")
			.withMessageContaining("@Autowired");
	}

	private static FailureAnalysis analyze(Throwable failure) {
		FailureAnalysis analysis = new VirtualTimeFailureAnalyzer().analyze(failure);
		assertThat(analysis).isNotNull();
		return analysis;
	}

	@AutoConfigureVirtualTime
	static class BothClocks {

	}

}
