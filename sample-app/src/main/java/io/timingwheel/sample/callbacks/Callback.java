package io.timingwheel.sample.callbacks;

import java.net.URI;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * A request to be sent later.
 *
 * @param url where to
 * @param method its method
 * @param headers its headers
 * @param body its body, {@code null} for none
 */
record Callback(URI url, String method, Map<String, String> headers, @Nullable String body) {
}
