package outofcore

// A request is a value (a node, or the place of an edge in its block) and the first slot of its results.
type request uint64

func newRequest(value, slot uint32) request { return request(value)<<32 | request(slot) }

func (r request) value() uint32 { return uint32(r >> 32) }
func (r request) slot() uint32  { return uint32(r) }

const (
	cellRequests  = 31      // of a cell; the first word is the number of the previous cell
	cellWords     = 32      // 256 bytes
	arenaWords    = 1 << 17 // 1 MiB
	cellsPerArena = arenaWords / cellWords
)

// arenas hands out pieces of 1 MiB and takes them back. It is not safe for concurrent use; shared locks it.
type arenas struct {
	free [][]request
	all  []func()
}

// arenaGroup is the number of pieces that are allocated at a time: a huge page.
const arenaGroup = 2

func (a *arenas) get(lean bool) ([]request, error) {
	if len(a.free) == 0 {
		words, free, err := words[request](arenaGroup*arenaWords, lean)
		if err != nil {
			return nil, err
		}
		a.all = append(a.all, free)
		for i := range arenaGroup {
			a.free = append(a.free, words[i*arenaWords:(i+1)*arenaWords:(i+1)*arenaWords])
		}
	}
	last := len(a.free) - 1
	piece := a.free[last]
	a.free = a.free[:last]
	return piece, nil
}

func (a *arenas) close() {
	for _, f := range a.all {
		f()
	}
	a.all, a.free = nil, nil
}

// lists is the requests of one worker by bucket: chains of cells, the last cell first.
type lists struct {
	source *shared
	last   []uint32 // of each bucket: the number of its last cell from 1, 0 if it has none
	fill   []uint8  // of each bucket: the requests in its last cell
	cells  uint32   // in use
	pieces [][]request
}

func newLists(source *shared, buckets int) *lists {
	return &lists{source: source, last: make([]uint32, buckets), fill: make([]uint8, buckets)}
}

func (l *lists) cell(number uint32) []request {
	number--
	at := number % cellsPerArena * cellWords
	return l.pieces[number/cellsPerArena][at : at+cellWords : at+cellWords]
}

// push adds a request to a bucket.
func (l *lists) push(bucket uint32, r request) error {
	n := l.fill[bucket]
	if l.last[bucket] == 0 || n == cellRequests {
		if int(l.cells) == len(l.pieces)*cellsPerArena {
			piece, err := l.source.arena()
			if err != nil {
				return err
			}
			l.pieces = append(l.pieces, piece)
		}
		l.cells++
		l.cell(l.cells)[0] = request(l.last[bucket])
		l.last[bucket], n = l.cells, 0
	}
	l.cell(l.last[bucket])[1+n] = r
	l.fill[bucket] = n + 1
	return nil
}

// count is the number of requests in a bucket. From most on it may count fewer, but at least most.
func (l *lists) count(bucket uint32, most int) int {
	number := l.last[bucket]
	if number == 0 {
		return 0
	}
	n := int(l.fill[bucket])
	for number = uint32(l.cell(number)[0]); number != 0 && n < most; number = uint32(l.cell(number)[0]) {
		n += cellRequests
	}
	return n
}

// each calls fn with the requests of a bucket, a cell at a time.
func (l *lists) each(bucket uint32, fn func([]request) error) error {
	n := l.fill[bucket]
	for number := l.last[bucket]; number != 0; n = cellRequests {
		cell := l.cell(number)
		if err := fn(cell[1 : 1+n]); err != nil {
			return err
		}
		number = uint32(cell[0])
	}
	return nil
}

// drop gives the memory back to shared.
func (l *lists) drop() {
	l.source.giveArenas(l.pieces)
	l.pieces, l.cells, l.last, l.fill = nil, 0, nil, nil
}
