package io.timingwheel.spring.durable.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;

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
		// Other modules have files of the same name.
		URI classes = URI
			.create(TimingWheelStoreProperties.class.getProtectionDomain().getCodeSource().getLocation().toString());
		try (InputStream metadata = classes.resolve("META-INF/spring-configuration-metadata.json")
			.toURL()
			.openStream()) {
			Approved.verify(getClass(), "configuration-metadata", MetadataLines.of(JsonPath.parse(metadata).read("$")));
		}
	}

}
