// Command draw counts the states that seeds and epochs share under versions 1 and 2 of the draw law, and measures what
// the draws of a node cost by the law and by generators with a state.
//
//	go run ./bench/decisions/draw
package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"

	"github.com/graphmill/graphmill/draw"
)

func main() {
	const n = 1001
	fmt.Printf("keys of seeds 0 to %d and epochs 0 to %d: %d\n", n-1, n-1, n*n)
	for _, law := range []struct {
		name string
		key  func(seed, epoch uint64) uint64
	}{{"version 1", version1}, {"version 2", func(seed, epoch uint64) uint64 { return draw.Key(seed, epoch, draw.OrderWord) }}} {
		seen := make(map[uint64]int, n*n)
		largest := 0
		for seed := range uint64(n) {
			for epoch := range uint64(n) {
				k := law.key(seed, epoch)
				seen[k]++
				largest = max(largest, seen[k])
			}
		}
		fmt.Printf("  %s: %d different, at most %d pairs share one\n", law.name, len(seen), largest)
	}
	fmt.Println("draws of a node, CPU nanoseconds per node")
	for _, draws := range []uint64{1, 10, 100} {
		fmt.Printf("  %3d draws: law %.1f, PCG seeded per node %.1f, ChaCha8 seeded per node %.1f, one PCG that goes on %.1f\n",
			draws, cost(draws, byLaw), cost(draws, byPCG), cost(draws, byChaCha8), cost(draws, byStream))
	}
}

// version1 is the key of an order by version 1 of the law.
func version1(seed, epoch uint64) uint64 {
	return draw.Absorb(draw.Absorb(draw.Mix(seed+draw.Gamma), epoch), draw.OrderWord)
}

// sink keeps the compiler from leaving the draws out.
var sink uint64 //nolint:unused // it is written, and never read

// cost is the least processor time of a node in some runs, in nanoseconds.
func cost(draws uint64, node func(node, draws uint64)) float64 {
	best := math.Inf(1)
	nodes := 10_000_000 / (draws + 9)
	for range 11 {
		before := cpu()
		for i := range nodes {
			node(i, draws)
		}
		best = min(best, (cpu()-before)/float64(nodes))
	}
	return best * 1e9
}

// cpu is the processor time of the process so far, in seconds.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

var prefix = draw.Key(1, 2, 3)

func byLaw(node, draws uint64) {
	h := draw.Absorb(prefix, node)
	for j := range draws {
		sink += draw.At(h, j)
	}
}

func byPCG(node, draws uint64) {
	var p rand.PCG
	p.Seed(prefix, node)
	for range draws {
		sink += p.Uint64()
	}
}

func byChaCha8(node, draws uint64) {
	var seed [32]byte
	for i := range 8 {
		seed[i], seed[8+i] = byte(prefix>>(8*i)), byte(node>>(8*i))
	}
	c := rand.NewChaCha8(seed)
	for range draws {
		sink += c.Uint64()
	}
}

var stream = rand.NewPCG(1, 2)

func byStream(_, draws uint64) {
	for range draws {
		sink += stream.Uint64()
	}
}
