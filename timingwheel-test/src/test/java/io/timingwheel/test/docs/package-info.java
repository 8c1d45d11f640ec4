/**
 * The snippets of {@code docs/testing.md}, and the application that they test.
 */
@NullMarked
package io.timingwheel.test.docs;

import org.jspecify.annotations.NullMarked;
