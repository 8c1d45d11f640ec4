package io.timingwheel.spring.console;

import java.io.IOException;

import com.jayway.jsonpath.JsonPath;
import io.timingwheel.support.Approved;
import io.timingwheel.support.MetadataLines;
import org.junit.jupiter.api.Test;

/**
 * Tests that nobody changes the properties without saying so.
 */
class ConfigurationMetadataApprovalTests {

	@Test
	void theMetadataAreTheApprovedOnes() throws IOException {
		Approved.verify(getClass(), "configuration-metadata",
				MetadataLines.of(JsonPath.parse(MetadataLines.FILE).read("$")));
	}

}
