package chunk

// Sector is sector.
const Sector = sector

// Parse is parse.
var Parse = parse

// Nodes is the number of nodes.
func (c Chunk) Nodes() int { return int(c[0]) }

// Neighbours returns the neighbours of the chunk's node i, and none if Span is not ok.
func (c Chunk) Neighbours(i int) []uint32 {
	from, to, _ := c.Span(i)
	return c[from:to]
}
