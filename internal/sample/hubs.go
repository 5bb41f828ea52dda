package sample

import (
	"slices"
	"sync"
)

const (
	hubEdges = 1 << 11 // edges from which the largest ones of a node are kept
	hubWords = 1 << 20 // edges that are kept in all, 4 MiB
)

// hubs keeps the edges that a top op takes of nodes with many edges, so that only the first draw of a hub reads all its
// values. It serves ops that take the same edges of a node for every seed. It is safe for concurrent use.
type hubs struct {
	mu   sync.RWMutex
	kept map[uint32][]uint32 // by node: places among its edges, the largest first
	room int
}

// get is what was kept of a node. The caller must not change it.
func (h *hubs) get(node uint32) ([]uint32, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	list, ok := h.kept[node]
	return list, ok
}

// put keeps a copy of the places of a node, while there is room.
func (h *hubs) put(node uint32, places []uint32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.kept[node]; ok || len(places) > h.room {
		return
	}
	if h.kept == nil {
		h.kept = map[uint32][]uint32{}
	}
	h.kept[node] = slices.Clone(places)
	h.room -= len(places)
}
