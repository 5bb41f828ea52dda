package structure

import (
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/tagged"
)

// leastRows is the least memory in which rows are built for a temporary file.
const leastRows = 4 << 20

// spare is what remains of Memory after need bytes. It is an error if nothing does.
func (q *square) spare(need int64) (int64, error) {
	if q.options.Memory == 0 {
		return 1 << 62, nil
	}
	if q.options.Memory < need {
		return 0, tagged.Errorf(limits.ErrMemory, "found `Memory` %s, expected at least %s for structure %s of %d nodes and %d edges; give more `Memory`",
			human.Bytes(q.options.Memory), human.Bytes(need), q.name, q.nodes, q.edges)
	}
	return q.options.Memory - need, nil
}

// tooLarge is the error of a row of so many entries that is larger than the memory for rows.
func (q *square) tooLarge(entries int64) error {
	need := q.options.Memory + 4*entries
	return tagged.Errorf(limits.ErrMemory, "found `Memory` %s, expected at least %s for structure %s, because a node has %d edges; give more `Memory`",
		human.Bytes(q.options.Memory), human.Bytes(need), q.name, entries)
}
