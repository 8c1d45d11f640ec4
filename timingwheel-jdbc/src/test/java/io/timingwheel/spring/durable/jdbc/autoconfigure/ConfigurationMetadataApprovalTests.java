package io.timingwheel.spring.durable.jdbc.autoconfigure;

import java.io.IOException;
import java.util.List;

import com.jayway.jsonpath.DocumentContext;
import com.jayway.jsonpath.JsonPath;
import io.timingwheel.support.Approved;
import io.timingwheel.support.MetadataLines;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that nobody changes the properties without saying so.
 */
class ConfigurationMetadataApprovalTests {

	private static DocumentContext read() throws IOException {
		return JsonPath.parse(MetadataLines.FILE);
	}

	@Test
	void theMetadataAreTheApprovedOnes() throws IOException {
		Approved.verify(getClass(), "configuration-metadata", MetadataLines.of(read().read("$")));
	}

	@Test
	void eachDefaultThatIsWrittenByHandIsTheDefaultInTheCode() throws IOException {
		TimingWheelJdbcStoreProperties code = new TimingWheelJdbcStoreProperties();
		assertThat(defaultOf("schema")).isEqualTo(code.getSchema());
		assertThat(defaultOf("platform")).isEqualTo(code.getPlatform());
		assertThat(defaultOf("continue-on-error")).isEqualTo(code.isContinueOnError());
		assertThat(defaultOf("initialize-schema")).isEqualTo(code.getInitializeSchema().name().toLowerCase());
	}

	private static Object defaultOf(String property) throws IOException {
		List<Object> defaults = read()
			.read("$.properties[?(@.name=='timingwheel.store.jdbc.%s')].defaultValue".formatted(property));
		return defaults.isEmpty() ? null : defaults.get(0);
	}

}
