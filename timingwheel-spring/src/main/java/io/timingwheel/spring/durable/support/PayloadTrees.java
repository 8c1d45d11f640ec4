package io.timingwheel.spring.durable.support;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

import tools.jackson.databind.JsonNode;

/**
 * Compares JSON by its content.
 */
final class PayloadTrees {

	private PayloadTrees() {
	}

	/**
	 * Whether two trees are the same, but for the order of properties and elements: that
	 * of a set is arbitrary, and that of a list never changes.
	 */
	static boolean same(JsonNode first, JsonNode second) {
		return first.equals(second) || content(first).equals(content(second));
	}

	/**
	 * What is in a tree, of arrays how often.
	 */
	private static Object content(JsonNode node) {
		if (node.isObject()) {
			Map<String, Object> properties = new HashMap<>();
			node.forEachEntry((name, value) -> properties.put(name, content(value)));
			return List.of(node.getNodeType(), properties);
		}
		if (node.isArray()) {
			return List.of(node.getNodeType(),
					node.valueStream()
						.map(PayloadTrees::content)
						.collect(Collectors.groupingBy(Function.identity(), Collectors.counting())));
		}
		return node;
	}

}
