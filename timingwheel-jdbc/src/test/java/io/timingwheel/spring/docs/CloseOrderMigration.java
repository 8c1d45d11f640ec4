package io.timingwheel.spring.docs;

import io.timingwheel.spring.durable.PayloadMigration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.stereotype.Component;

// tag::migration[]
@Component
class CloseOrderMigration implements PayloadMigration {

	private final JsonMapper json = new JsonMapper();

	@Override
	public String taskName() {
		return "close-order";
	}

	@Override
	public String migrate(int arity, String arguments) {
		JsonNode old = this.json.readTree(arguments);
		return switch (arity) {
			// (long id)
			case 1 -> this.json.createArrayNode().add("order-" + old.get(0).asLong()).add(0).toString();
			// (String code, int count, int fee)
			case 3 -> this.json.createArrayNode().add(old.get(0)).add(old.get(2)).toString();
			default -> throw new IllegalArgumentException("unknown signature");
		};
	}

}
// end::migration[]
