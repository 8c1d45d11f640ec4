package io.timingwheel.spring.durable.autoconfigure;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.UUID;

/**
 * Generates names for nodes that have none.
 */
final class NodeId {

	private static final int MAX_HOST = 55;

	private NodeId() {
	}

	/**
	 * Generates a name that no other node has.
	 * @return the name of the host and eight random digits, at most 64 characters
	 */
	static String generate() {
		String host = hostName().replaceAll("[^A-Za-z0-9._-]", "-");
		String random = UUID.randomUUID().toString().substring(0, 8);
		return host.substring(0, Math.min(host.length(), MAX_HOST)) + "-" + random;
	}

	private static String hostName() {
		try {
			return InetAddress.getLocalHost().getHostName();
		}
		catch (UnknownHostException ex) {
			return "node";
		}
	}

}
