package features

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCategories(t *testing.T) {
	counts := Counts{"b": 3, "a": 3, "ü": 1, "Z": 5}
	for _, c := range []struct {
		least int64
		most  int
		texts []string
		rare  []string
	}{
		{1, 0, []string{"Z", "a", "b", "ü"}, nil},
		{2, 0, []string{"Z", "a", "b"}, []string{"ü"}},
		{1, 5, []string{"Z", "a", "b", "ü"}, nil},
		{1, 4, []string{"Z", "a", "b"}, []string{"ü"}},
		{1, 3, []string{"Z", "b"}, []string{"a", "ü"}},
		{2, 4, []string{"Z", "a", "b"}, []string{"ü"}},
		{9, 0, nil, []string{"Z", "a", "b", "ü"}},
	} {
		s := counts.Fit(c.least, c.most)
		if diff := cmp.Diff(c.texts, s.Texts) + cmp.Diff(c.rare, s.Rare); diff != "" || s.Rows != 12 {
			t.Errorf("least %d, most %d: %d rows\n%s", c.least, c.most, s.Rows, diff)
		}
	}
	s := counts.Fit(2, 0)
	for _, rare := range []bool{false, true} {
		s.Index(nil, rare)
		of := int32(0)
		if rare {
			of = rareCode
		}
		if s.Code([]byte("Z")) != 1 || s.Code([]byte("b")) != 3 || s.Code([]byte("ü")) != of || s.Code([]byte("new")) != 0 || s.Share(1) != 5.0/12 || s.Share(of) != 0 {
			t.Errorf("rare texts told apart: %t: found other codes", rare)
		}
	}
}
