package wordmap

import (
	"maps"
	"testing"

	"pgregory.net/rapid"
)

// A Map does what a map of Go does, also before the first Clear and after many.
func TestMap(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var m Map
		want := map[uint64]uint32{}
		key := rapid.OneOf(rapid.Uint64Range(0, 20), rapid.Uint64())
		for range rapid.IntRange(0, 400).Draw(r, "steps") {
			k, v := key.Draw(r, "key"), rapid.Uint32().Draw(r, "value")
			switch rapid.IntRange(0, 9).Draw(r, "step") {
			case 0:
				m.Clear()
				clear(want)
			case 1, 2, 3:
				_, there := want[k]
				if added := m.Add(k); added == there {
					t.Fatalf("found that %d was added: %t, expected %t", k, added, !there)
				} else if added {
					want[k] = 0
				}
			default:
				had, there := want[k]
				if !there {
					want[k], had = v, v
				}
				if has, added := m.Put(k, v); has != had || added == there {
					t.Fatalf("found %d, %t for %d, expected %d, %t", has, added, k, had, !there)
				}
			}
			got, ok := m.Get(k)
			if w, there := want[k]; got != w && there || ok != there {
				t.Fatalf("found %d, %t for %d, expected %d, %t", got, ok, k, w, there)
			}
		}
		for k := range maps.Keys(want) {
			if v, ok := m.Get(k); !ok || v != want[k] {
				t.Fatalf("found %d, %t for %d, expected %d", v, ok, k, want[k])
			}
		}
		if m.Len() != len(want) {
			t.Fatalf("found %d keys, expected %d", m.Len(), len(want))
		}
	})
}
