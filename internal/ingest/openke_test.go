package ingest

import "testing"

// Heads and tails are numbers of entities, and the relation is the third number of a line.
func TestOpenKE(t *testing.T) {
	files := func(changed ...string) map[string]string {
		m := map[string]string{
			"kb/entity2id.txt":   "3\n/m/a\t0\nb c\t1\r\n/m/d 2\n",
			"kb/relation2id.txt": "2\n/r/x\t0\n/r/y\t1\n",
			"kb/train2id.txt":    "2\n0 2 1\n2\t1\t0\n",
			"kb/test2id.txt":     "1\n1 1 1\n",
			"kb/n-n.txt":         "0\n",
		}
		for i := 0; i < len(changed); i += 2 {
			if m[changed[i]] = changed[i+1]; changed[i+1] == "" {
				delete(m, changed[i])
			}
		}
		return m
	}
	bad := func(name, want string, changed ...string) importCase {
		return importCase{name: name, files: files(changed...), path: "kb", want: want, fails: true}
	}
	const nodes = `entity 3: name="/m/a" name="b c" name="/m/d"`
	runImports(t, []importCase{
		{name: "types", files: files(), path: "kb", want: nodes + "\nentity:/r/x:entity: 2>1 split=\"train\"\nentity:/r/y:entity: 0>2 split=\"train\" 1>1 split=\"test\""},
		{name: "a column", files: files(), path: "kb", opts: Options{Relations: "column"}, want: nodes + "\nentity:to:entity: 0>2 relation=\"/r/y\" split=\"train\" 2>1 relation=\"/r/x\" split=\"train\" 1>1 relation=\"/r/y\" split=\"test\""},
		{name: "one split", files: files("kb/test2id.txt", ""), path: "kb", opts: Options{Relations: "column"}, want: nodes + "\nentity:to:entity: 0>2 relation=\"/r/y\" split=\"train\" 2>1 relation=\"/r/x\" split=\"train\""},
		{name: "a relation that no triple has", files: files("kb/relation2id.txt", "3\nx\t0\ny\t1\nz\t2\n", "kb/test2id.txt", ""), path: "kb", want: nodes + "\nentity:x:entity: 2>1 split=\"train\"\nentity:y:entity: 0>2 split=\"train\"\nentity:z:entity:"},
		{name: "string ids", files: files(), path: "kb", opts: Options{IDs: idsString}, want: "the folder numbers its entities", fails: true},
		bad("no entities", "kb: found no entity2id.txt, expected", "kb/entity2id.txt", ""),
		bad("no relations", "kb: found no relation2id.txt, expected", "kb/relation2id.txt", ""),
		bad("the relation in the middle", "train2id.txt:2: found the relation \"2\", expected a number below 2", "kb/train2id.txt", "1\n0 1 2\n"),
		bad("an entity after the last", "train2id.txt:2: found destination 3, expected", "kb/train2id.txt", "1\n0 3 1\n"),
		bad("a word", "train2id.txt:2: found \"x\" in column \"head\"", "kb/train2id.txt", "1\nx 1 1\n"),
		bad("four words", "train2id.txt:2: found 4 words", "kb/train2id.txt", "1\n0 1 1 1\n"),
		bad("a cut file", "train2id.txt:1: found the number 3, expected 2, as there are lines below", "kb/train2id.txt", "3\n0 2 1\n2 1 0\n"),
		bad("no number of lines", "train2id.txt:1: found \"0 2 1\", expected the number of the lines below", "kb/train2id.txt", "0 2 1\n"),
		bad("a cut dictionary", "entity2id.txt:1: found the number 4, expected 1", "kb/entity2id.txt", "4\na\t0\n"),
		bad("entities in another order", "entity2id.txt:2: found number \"1\", expected 0: the lines number the names from 0 in order", "kb/entity2id.txt", "2\na\t1\nb\t0\n"),
		bad("a relation twice", "relation2id.txt:3: found the relation \"x\" twice", "kb/relation2id.txt", "2\nx\t0\nx\t1\n"),
		bad("blank lines alone", "relation2id.txt: found no line, expected", "kb/relation2id.txt", "\n"),
	})
}
