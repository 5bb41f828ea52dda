package direct_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/vfs"
)

// benchFile is the file named by GRAPHMILL_BENCH_FILE, else a file of 256 MiB. Compare values of GOMAXPROCS with -cpu
// 2,8.
func benchFile(b *testing.B) *direct.File {
	name := os.Getenv("GRAPHMILL_BENCH_FILE")
	if name == "" {
		name = write(b, b.TempDir(), content(256<<20))
	}
	f, err := direct.Open(vfs.OS, name)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	if !f.Direct() {
		b.Log("this file system has no direct reads")
	}
	return f
}

// aligned is a slice from its first multiple of Align on.
func aligned(b []byte) []byte {
	return b[-uintptr(unsafe.Pointer(&b[0]))%direct.Align:]
}

// read makes b.N reads with several readers. at is the offset of the i-th read.
func read(b *testing.B, f *direct.File, buf []byte, readers, size int, at func(i int64) int64) {
	b.SetBytes(int64(size))
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for r := range readers {
		wg.Go(func() {
			p := buf[r*size:][:size]
			for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
				if _, err := f.ReadAt(p, at(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkSequential(b *testing.B) {
	const size = 1 << 20
	f := benchFile(b)
	blocks := max(f.Size()/size, 1)
	var from int64 // the end of the previous run: no cache has the bytes from there on
	for _, readers := range []int{1, 4, 8, 16} {
		for _, pages := range []string{"huge", "small"} {
			b.Run(fmt.Sprintf("readers=%d/pages=%s", readers, pages), func(b *testing.B) {
				var buf []byte
				if pages == "huge" {
					buf = alloc(b, readers*size)
				} else {
					heap := make([]byte, readers*size+direct.Align)
					buf = aligned(heap)[:readers*size]
				}
				read(b, f, buf, readers, size, func(i int64) int64 { return (from + i) % blocks * size })
				from += int64(b.N)
			})
		}
	}
}

func BenchmarkRandom(b *testing.B) {
	f := benchFile(b)
	pages := max(f.Size()/direct.Align, 1)
	for _, readers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("readers=%d", readers), func(b *testing.B) {
			buf := alloc(b, readers*direct.Align)
			read(b, f, buf, readers, direct.Align, func(int64) int64 { return rand.Int64N(pages) * direct.Align })
		})
	}
}

// BenchmarkScratch writes extents at the same time, as many writers spill.
func BenchmarkScratch(b *testing.B) {
	for _, size := range []int{64 << 10, 1 << 20} {
		for _, writers := range []int{1, 4, 8} {
			b.Run(fmt.Sprintf("extent=%dKiB/writers=%d", size>>10, writers), func(b *testing.B) {
				s, err := direct.NewScratch(vfs.OS, b.TempDir())
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				buf := alloc(b, writers*size)
				b.SetBytes(int64(size))
				var next atomic.Int64
				var wg sync.WaitGroup
				b.ResetTimer()
				for w := range writers {
					wg.Go(func() {
						p := buf[w*size:][:size]
						for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
							if err := s.WriteAt(p, i*int64(size)); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
			})
		}
	}
}
