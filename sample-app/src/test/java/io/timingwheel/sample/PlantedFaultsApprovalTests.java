package io.timingwheel.sample;

import java.nio.file.Path;
import java.util.List;

import io.timingwheel.support.Approved;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Writes {@code docs/planted-faults.csv}, by the program that plants the faults. */
class PlantedFaultsApprovalTests {

	@Test
	void theTableOfTheDocsHasAllFaults() throws Exception {
		Process program = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"src/planted-faults/PlantedFaults.java", "--list")
			.directory(Path.of("..").toFile())
			.redirectError(ProcessBuilder.Redirect.INHERIT)
			.start();
		List<String> lines = program.inputReader().lines().toList();
		assertThat(program.waitFor()).isZero();
		Approved.verify(getClass(), Path.of("..", "docs", "planted-faults.csv"), lines);
	}

}
