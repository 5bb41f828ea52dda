package human

import "strings"

// plurals are the nouns of what reports count, each with its form for one.
var plurals = map[string]string{
	"arrays": "array", "batches": "batch", "categories": "category", "chunks": "chunk", "columns": "column", "components": "component", "draws": "draw", "edges": "edge", "events": "event", "Examples": "Example", "files": "file",
	"graphs": "graph", "keys": "key", "limits": "limit", "lines": "line", "links": "link", "nodes": "node", "numbers": "number", "packs": "pack", "pairs": "pair", "parts": "part", "segments": "segment",
	"patterns": "pattern", "records": "record", "rows": "row", "seeds": "seed", "self-loops": "self-loop", "shapes": "shape", "starts": "start", "steps": "step",
	"subgraphs": "subgraph", "types": "type", "values": "value", "walks": "walk",
}

// verbs are what is said of several things, each with what is said of one.
var verbs = map[string]string{"are": "is", "have": "has", "join": "joins", "repeat": "repeats", "were": "was"}

// Things is a text that begins with several things, such as "edges" or "dangling edges of e were dropped: ...", as it reads after their
// number n. Only 1 changes it: the first noun that reports count, and the next verb, up to a comma, a colon or a semicolon.
func Things(n int64, text string) string {
	if n != 1 {
		return text
	}
	words := strings.Split(text, " ")
	noun := false
	for i, w := range words {
		bare := strings.TrimRight(w, ",:;")
		if one, found := plurals[bare]; found && !noun {
			words[i], noun = one+w[len(bare):], true
		} else if one, found := verbs[bare]; found && noun {
			words[i] = one + w[len(bare):]
			break
		}
		if len(bare) < len(w) {
			break
		}
	}
	return strings.Join(words, " ")
}
