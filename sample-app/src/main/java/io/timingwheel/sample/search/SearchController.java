package io.timingwheel.sample.search;

import io.timingwheel.sample.search.Documents.Figures;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/search")
class SearchController {

	private final Documents documents;

	private final SearchIndex index;

	SearchController(Documents documents, SearchIndex index) {
		this.documents = documents;
		this.index = index;
	}

	@GetMapping
	Figures figures() {
		return this.documents.figures();
	}

	@PostMapping("/changes")
	Figures change() {
		this.documents.changed();
		this.index.build("documents");
		return figures();
	}

}
