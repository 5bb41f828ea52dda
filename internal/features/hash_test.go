package features

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Values of scikit-learn 1.9.1: murmurhash3_32, and HashingVectorizer(n_features=16, norm=None).
func TestHash(t *testing.T) {
	for text, want := range map[string]int32{"": 0, "a": 1009084850, "The cat sat on the mat": -11380758, "東京 Zürich": 548263728, "Zu\u0308rich": -407202208, "😀 x yy": -421160599, "don't stop-now 3.14": 1509057103} {
		if got := murmur3([]byte(text)); got != want {
			t.Errorf("%q: found %d, expected %d", text, got, want)
		}
	}
	h := Hash{Dim: 16, Least: 1, Most: 1}
	for text, want := range map[string][]float64{
		"a":                      make([]float64, 16),
		"The cat sat on the mat": {4: 1, 11: -1, 14: -2, 15: 0},
		"naïve\tNAÏVE\n":         {5: 2, 15: 0},
		"don't stop-now 3.14":    {3: 1, 6: 1, 7: -1, 10: 1, 15: 0},
	} {
		got := make([]float64, 16)
		h.apply([]byte(text), got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}
