package io.timingwheel.sample.search;

import io.timingwheel.spring.annotation.Delayed;

import org.springframework.stereotype.Component;

/**
 * Builds the index anew once the documents have been quiet for a while. Each change puts
 * that off, but not beyond the longest wait, so a stream of changes cannot starve it.
 */
@Component
class SearchIndex {

	private final Documents documents;

	SearchIndex(Documents documents) {
		this.documents = documents;
	}

	@Delayed(delay = "${search.quiet:2s}", maxWait = "${search.max-wait:10s}", name = "build-index", key = "#index")
	public void build(String index) {
		this.documents.indexed();
	}

}
