package outofcore

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// disk is what Open measured of the disk. It is zero where there is no file of neighbours.
type disk struct {
	speed direct.Speed
	pages int // wanted pages of a block up to which they are read one by one
}

func newDisk(speed direct.Speed) disk { return disk{speed, speed.Pages()} }

// shareRead is the share of a block that is read for a number of requests at random places in it. asks is the mean
// number of requests, pages the pages of a block; f is nil for a column.
func (d *disk) shareRead(f *file, asks, pages float64) float64 {
	if asks == 0 || pages == 0 {
		return 0
	}
	if f != nil && f.ids != nil {
		// One request is enough to read the whole block and its ids.
		return -math.Expm1(-asks)
	}
	if asks >= dense {
		return 1
	}
	density := -math.Expm1(-asks / pages)
	wanted := pages * density
	// The wanted pages vary from block to block: this is the share of blocks with too many to read them one by one.
	whole := math.Erfc((float64(d.pages)+0.5-wanted)/math.Sqrt(2*wanted)) / 2
	// Gaps of one or two pages are read through.
	gaps := density * (1 - density) * (1 + 2*(1-density))
	return whole + (1-whole)*min(density*(1+gaps), 1)
}

// neighbours is the neighbours that a plan walks, in files: the file that each op reads, and the ops of each wave. It is
// immutable once it is open.
type neighbours struct {
	sampler *sample.Sampler
	ops     int
	waves   [][2]int // the first op of each wave, and the op after its last
	waveOf  []int    // by op, from 1
	files   []*file  // by first block
	fileOf  []*file  // by op, from 1
	blocks  uint32   // of all files
	disk    disk
	links   float64 // perLink
}

// open opens the files that the sampler's plan reads, and measures the disk. The caller closes n, also after an error.
func (n *neighbours) open(ctx context.Context, fsys vfs.FS, s *store.Store) error {
	n.waves = n.sampler.Waves()
	n.fileOf, n.waveOf = make([]*file, n.ops+1), make([]int, n.ops+1)
	type walk struct {
		edges int
		dir   graph.Direction
	}
	opened := map[walk]*file{}
	for i, w := range n.waves {
		for op := w[0]; op < w[1]; op++ {
			edges, dir := n.sampler.Walk(op)
			key := walk{edges, dir}
			if opened[key] == nil {
				f, err := openFile(fsys, s, edges, dir, n.sampler.Apart(op), n.sampler.Wide(edges))
				if err != nil {
					return err
				}
				f.first = n.blocks
				n.blocks += f.blocks
				n.files = append(n.files, f)
				opened[key] = f
			}
			n.fileOf[op], n.waveOf[op] = opened[key], i
		}
	}
	n.links = n.perLink()
	if len(n.files) == 0 {
		return nil
	}
	largest := slices.MaxFunc(n.files, func(a, b *file) int { return a.edges - b.edges })
	speed, err := direct.Calibrate(ctx, largest.far.File)
	n.disk = newDisk(speed)
	return err
}

func (n *neighbours) close() (err error) {
	for _, f := range n.files {
		err = errors.Join(err, f.close())
	}
	n.files = nil
	if n.sampler != nil {
		n.sampler.Close()
		n.sampler = nil
	}
	return err
}

// fileAt is the file that a block is in.
func (n *neighbours) fileAt(block uint32) *file {
	at, found := slices.BinarySearchFunc(n.files, block, func(f *file, b uint32) int { return int(int64(f.first) - int64(b)) })
	if !found {
		at--
	}
	// A file without blocks has the first block of the next file.
	for n.files[at].blocks == 0 || block >= n.files[at].first+n.files[at].blocks {
		at++
	}
	return n.files[at]
}

// idWords is the words of 32 bits of an edge id in the results of a wave; 0 where no op of it walks along edges whose ids
// are in a file of their own.
func (n *neighbours) idWords(wave int) int {
	words := 0
	for op := n.waves[wave][0]; op < n.waves[wave][1]; op++ {
		words = max(words, n.fileOf[op].idWords)
	}
	return words
}

// mostIDWords is the most of idWords.
func (n *neighbours) mostIDWords() int {
	words := 0
	for wave := range n.waves {
		words = max(words, n.idWords(wave))
	}
	return words
}

// idBytes is the most bytes that the edge ids of a block take.
func (n *neighbours) idBytes() int {
	ids := 0
	for _, f := range n.files {
		ids = max(ids, f.idBytes())
	}
	return (ids + direct.Align - 1) / direct.Align * direct.Align
}

// size is the bytes of all files, which is the most that a sweep reads.
func (n *neighbours) size() int64 {
	size := int64(0)
	for _, f := range n.files {
		size += f.far.Size()
		if f.ids != nil {
			size += f.ids.Size()
		}
	}
	return size
}

// read is the bytes that have been read of the files.
func (n *neighbours) read() int64 {
	bytes := int64(0)
	for _, f := range n.files {
		bytes += f.far.Read()
		if f.ids != nil {
			bytes += f.ids.Read()
		}
	}
	return bytes
}

// uncached is the bytes of far ends that are not in the page cache, as far as the system says so.
func (n *neighbours) uncached(fsys vfs.FS) (bytes float64, err error) {
	for _, f := range n.files {
		switch share, err := direct.Resident(fsys, f.far.Name()); {
		case err == nil:
			bytes += (1 - share) * float64(f.far.Size())
		case !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrPermission):
			return 0, err
		}
	}
	return bytes, nil
}

// mostNodes is the largest count of nodes that an op expands, plus one.
func (n *neighbours) mostNodes() int {
	nodes := 1
	for op := 1; op <= n.ops; op++ {
		nodes = max(nodes, n.sampler.Offsets(op).Len())
	}
	return nodes
}
