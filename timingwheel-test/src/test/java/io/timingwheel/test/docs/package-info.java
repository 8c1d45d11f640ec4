/**
 * The test of the snippets of all pages, and those of {@code README.md} and
 * {@code docs/testing.md}.
 */
@NullMarked
package io.timingwheel.test.docs;

import org.jspecify.annotations.NullMarked;
