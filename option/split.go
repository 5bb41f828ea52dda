package option

import (
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/internal/tagged"
)

// Split divides the nodes or edges of a type into train, valid and test. One of Ratios, At, Values, PerClass, Like, Files, Masks and Folds is set.
type Split struct {
	// Of is a node type, or an edge type src:rel:dst, to divide at random, and TYPE.COLUMN to divide by the column. The
	// type can be left out if there is one node type.
	Of string `json:"of,omitempty"`
	// Ratios are the shares of train, valid and test. With a column, rows are taken in its order, and rows of equal values
	// stay together.
	Ratios []float64 `json:"ratios,omitempty"`
	// At are two values of the column: rows below the first are train, the others below the second are valid, the rest is
	// test.
	At []string `json:"at,omitempty"`
	// Values are the values of the column in train, valid and test.
	Values [][]string `json:"values,omitempty"`
	// Stratify is a column of classes. Ratios and Folds divide each class, and the parts have the sizes that they have without it: each class has in each
	// part its share, rounded down or up. A row without a class is in no part. PerClass needs it.
	Stratify string `json:"stratify,omitempty"`
	// PerClass is the number of rows of train in each class of Stratify. Of all other rows with a class, ValidRows are in valid and TestRows in test; a
	// TestRows of 0 is all that are left.
	PerClass  int `json:"per_class,omitempty"`
	ValidRows int `json:"valid,omitempty"`
	TestRows  int `json:"test,omitempty"`
	// Group is a column whose rows of equal values stay together, of Ratios and Folds; for an edge type also "source" or "destination": the edges of a node. The
	// parts come as near to the ratios of rows as the sizes of the groups let them. A row without a value is in no part.
	Group string `json:"group,omitempty"`
	// Like divides edges as their nodes are divided: "nodes" for both ends, or the node type whose ends decide. An edge is in the later part of its ends, and in no part
	// if one of them is in none, so the edges of train are the graph of the nodes of train.
	Like string `json:"like,omitempty"`
	// Files are files of ids of nodes in train, valid and test, or of pairs of ids of edges; "" for none. IDColumns are their columns, one or two; nil is the only ones, or
	// the ones with usual names.
	Files     []string `json:"files,omitempty"`
	IDColumns []string `json:"columns,omitempty"`
	// Masks are columns of bools that are true for the rows of train, valid and test; "" for none. Masks of vectors give a column of splits for each value.
	Masks []string `json:"masks,omitempty"`
	// Folds is the number of parts of equal size of a cross-validation. They give the columns "split_0", "split_1" and so on: in the first, the first fold is test, the ValidFolds
	// after it are valid, and the others are train.
	Folds      int `json:"folds,omitempty"`
	ValidFolds int `json:"valid_folds,omitempty"`
	// Disjoint is the share of the edges of train that a model is to predict, so that they are not among its messages, as PyG's disjoint_train_ratio: the column "role" has
	// "supervision" for these, and "message" for the other edges of train. 0 adds no such column.
	Disjoint float64 `json:"disjoint,omitempty"`
}

// parts are the names of the parts in the text of a split.
var parts = []string{"train", "valid", "test"}

// ParseSplit reads "[OF=]TRAIN,VALID,TEST" with ratios, "OF@VALUE,VALUE" with the first values of valid and test, or "OF" alone, each with "KEY=VALUE" after semicolons:
// stratify, group, per_class, valid, test, like, folds, disjoint, masks and files. Masks and files are three names, of which some can be empty.
func ParseSplit(text string) (Split, error) {
	wrong := func() (Split, error) {
		return Split{}, tagged.Errorf(ErrUsage, "found `Splits` %q, expected ratios such as 0.8,0.1,0.1 or paper=0.8,0.1,0.1 or paper.year=0.8,0.1,0.1, or the first values of valid and test, such as paper.year@2018,2020, or keys after semicolons, such as \"paper=0.8,0.1,0.1;stratify=label\" or \"paper;folds=5\"", text)
	}
	first, keys, keyed := strings.Cut(text, ";")
	s := Split{Of: first}
	if keyed {
		for key := range strings.SplitSeq(keys, ";") {
			name, value, ok := strings.Cut(key, "=")
			if !ok || !s.set(strings.TrimSpace(name), strings.TrimSpace(value)) {
				return wrong()
			}
		}
	}
	if of, values, ok := strings.Cut(first, "@"); ok {
		s.Of, s.At = of, strings.Split(values, ",")
		if of == "" || len(s.At) != 2 || slices.Contains(s.At, "") {
			return wrong()
		}
		return s, nil
	}
	ratios := first
	i := strings.LastIndexByte(first, '=')
	if i < 0 && keyed && !strings.Contains(first, ",") {
		return s, nil
	}
	s.Of = first[:max(i, 0)]
	ratios = ratios[i+1:]
	for part := range strings.SplitSeq(ratios, ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			return wrong()
		}
		s.Ratios = append(s.Ratios, x)
	}
	if len(s.Ratios) != 3 {
		return wrong()
	}
	return s, nil
}

// set gives a key its value. It returns false if it cannot.
func (s *Split) set(key, value string) bool {
	numbers := map[string]*int{"per_class": &s.PerClass, "folds": &s.Folds, "valid": &s.ValidRows, "test": &s.TestRows, "valid_folds": &s.ValidFolds}
	texts := map[string]*string{"stratify": &s.Stratify, "group": &s.Group, "like": &s.Like}
	lists := map[string]*[]string{"files": &s.Files, "masks": &s.Masks, "columns": &s.IDColumns}
	switch {
	case value == "":
		return false
	case numbers[key] != nil:
		n, err := strconv.Atoi(value)
		*numbers[key] = n
		return err == nil && n > 0
	case key == "disjoint":
		x, err := strconv.ParseFloat(value, 64)
		s.Disjoint = x
		return err == nil && x > 0
	case texts[key] != nil:
		*texts[key] = value
		return true
	case lists[key] != nil:
		list := strings.Split(value, ",")
		*lists[key] = list
		return len(list) == len(parts) || key == "columns" && len(list) <= 2
	}
	return false
}

// String is the inverse of ParseSplit. Splits by sets of values have no such form and are written for people.
func (s Split) String() string {
	var list []string
	for _, x := range s.Ratios {
		list = append(list, strconv.FormatFloat(x, 'g', -1, 64))
	}
	keys := s.keys()
	switch {
	case s.At != nil:
		return s.Of + "@" + strings.Join(s.At, ",")
	case s.Values != nil:
		for i, v := range s.Values {
			list = append(list, parts[i]+":"+strings.Join(v, "|"))
		}
	case s.Ratios == nil:
		return s.Of + keys
	case s.Of == "":
		return strings.Join(list, ",") + keys
	}
	return s.Of + "=" + strings.Join(list, ",") + keys
}

// keys are the keys that ParseSplit reads.
func (s *Split) keys() string {
	var b strings.Builder
	for _, x := range []struct{ key, value string }{{"stratify", s.Stratify}, {"group", s.Group}, {"like", s.Like}, {"files", strings.Join(s.Files, ",")}, {"columns", strings.Join(s.IDColumns, ",")}, {"masks", strings.Join(s.Masks, ",")}} {
		if x.value != "" {
			b.WriteString(";" + x.key + "=" + x.value)
		}
	}
	for _, x := range []struct {
		key   string
		value int
	}{{"per_class", s.PerClass}, {"valid", s.ValidRows}, {"test", s.TestRows}, {"folds", s.Folds}, {"valid_folds", s.ValidFolds}} {
		if x.value != 0 {
			b.WriteString(";" + x.key + "=" + strconv.Itoa(x.value))
		}
	}
	if s.Disjoint != 0 {
		b.WriteString(";disjoint=" + strconv.FormatFloat(s.Disjoint, 'g', -1, 64))
	}
	return b.String()
}
