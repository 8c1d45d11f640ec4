/**
 * The snippets of {@code README.md} and {@code docs/testing.md}, and the application that
 * they test.
 */
@NullMarked
package io.timingwheel.test.docs;

import org.jspecify.annotations.NullMarked;
