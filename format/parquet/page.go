package parquet

import (
	"bytes"
	"hash/crc32"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// maxPage bounds the bytes of a page, uncompressed. Writers make pages of about 1 MiB.
const maxPage = 128 << 20

// freePage is the size, uncompressed, that a page may have in a file that is smaller.
const freePage = 32 << 20

// maxLZ4Ratio is the largest ratio of sizes of LZ4.
const maxLZ4Ratio = 255

// Page types.
const (
	pageData       = 0
	pageDictionary = 2
	pageDataV2     = 3
)

// Codecs.
const (
	codecNone   = 0
	codecSnappy = 1
	codecGzip   = 2
	codecBrotli = 4
	codecZstd   = 6
	codecLZ4Raw = 7
)

var codecNames = []string{"none", "snappy", "gzip", "LZO", "brotli", "LZ4", "zstd", "LZ4_RAW"}

// pageHeader is the header of a page.
type pageHeader struct {
	kind                     int64
	size, compressed         int64
	crc                      int64
	hasCRC                   bool
	values                   int64
	encoding                 int64
	defEncoding, repEncoding int64
	defBytes, repBytes       int64 // version 2 only
	isCompressed             bool
}

// read reads a header. It returns false if b does not begin with a whole one.
func (h *pageHeader) read(t *thrift) bool {
	*h = pageHeader{kind: -1, isCompressed: true, encoding: -1, defEncoding: encRLE, repEncoding: encRLE}
	t.fields(func(id int, kind byte) bool {
		switch {
		case id <= 4 && kind == thriftI32:
			v := t.int()
			switch id {
			case 1:
				h.kind = v
			case 2:
				h.size = v
			case 3:
				h.compressed = v
			case 4:
				h.crc, h.hasCRC = v, true
			}
			return true
		case (id == 5 || id == 7 || id == 8) && kind == thriftStruct:
			of := id
			t.fields(func(id int, kind byte) bool {
				if kind == thriftTrue || kind == thriftFalse {
					if of == 8 && id == 7 {
						h.isCompressed = kind == thriftTrue
					}
					return true
				}
				if kind != thriftI32 {
					return false
				}
				v := t.int()
				switch {
				case id == 1:
					h.values = v
				case id == 2 && of != 8, id == 4 && of == 8:
					h.encoding = v
				case id == 3 && of == 5:
					h.defEncoding = v
				case id == 4 && of == 5:
					h.repEncoding = v
				case id == 5 && of == 8:
					h.defBytes = v
				case id == 6 && of == 8:
					h.repBytes = v
				}
				return true
			})
			return true
		}
		return false
	})
	return !t.bad
}

// pages reads the pages of a column in a row group, one at a time.
type pages struct {
	r         io.ReaderAt
	size      int64 // of the file
	codec     int64
	at, end   int64 // offsets in the file
	window    []byte
	windowAt  int64
	scratch   []byte // holds an uncompressed page
	zstd      *zstd.Decoder
	headStart int64
}

// headWindow is the number of bytes read to find the header of a page. A header with long statistics takes more, up
// to maxHead.
const (
	headWindow = 64 << 10
	maxHead    = 16 << 20
)

// view returns the next n bytes of the pages, or all that are left if they are fewer.
func (p *pages) view(n int) ([]byte, error) {
	n = int(min(int64(n), p.end-p.at))
	if p.at >= p.windowAt && p.at+int64(n) <= p.windowAt+int64(len(p.window)) {
		return p.window[p.at-p.windowAt:][:n], nil
	}
	size := int(min(max(int64(n), headWindow), p.end-p.at))
	if cap(p.window) < size {
		p.window = make([]byte, size)
	}
	p.window = p.window[:size]
	p.windowAt = p.at
	if err := readAt(p.r, p.window, p.at); err != nil {
		p.window = p.window[:0]
		return nil, err
	}
	return p.window[:n], nil
}

// next reads the header of the next page into h and returns the bytes of the page as they are in the file. After the
// last page it returns io.EOF.
func (p *pages) next(h *pageHeader) ([]byte, error) {
	if p.at == p.end {
		return nil, io.EOF
	}
	p.headStart = p.at
	for n := 256; ; n *= 8 {
		b, err := p.view(n)
		if err != nil {
			return nil, err
		}
		t := &thrift{b: b}
		if h.read(t) {
			p.at += int64(t.at)
			break
		}
		if !t.short || len(b) < n || n > maxHead {
			return nil, corruptf("byte %d: found no page header, expected one; the file is damaged", p.at)
		}
	}
	switch {
	case h.compressed < 0 || h.compressed > p.end-p.at:
		return nil, corruptf("byte %d: found a page of %d bytes, expected at most %d; the file is damaged", p.headStart, h.compressed, p.end-p.at)
	case h.size < 0 || h.values < 0:
		return nil, corruptf("byte %d: found a page of %d values in %d bytes, expected numbers of at least 0; the file is damaged", p.headStart, h.values, h.size)
	case h.size > maxPage || h.compressed > maxPage:
		return nil, unsupportedf("byte %d: found a page of %d bytes, expected at most %d; write smaller pages", p.headStart, max(h.size, h.compressed), maxPage)
	}
	if most := max(freePage, p.size); h.size > most {
		return nil, unsupportedf("byte %d: found a page of %d bytes in %d compressed ones, expected at most %d, which is 32 MiB or the size of the file; write smaller pages", p.headStart, h.size, h.compressed, most)
	}
	b, err := p.view(int(h.compressed))
	if err != nil {
		return nil, err
	}
	if h.hasCRC && crc32.ChecksumIEEE(b) != uint32(h.crc) {
		return nil, corruptf("byte %d: found checksum %08x of a page, expected %08x; the file is damaged", p.headStart, crc32.ChecksumIEEE(b), uint32(h.crc))
	}
	p.at += h.compressed
	return b, nil
}

// inflate decompresses bytes of a page, which must give size bytes. The result is valid until the next call.
func (p *pages) inflate(b []byte, size int64) ([]byte, error) {
	bad := func(err error) error {
		return corruptf("byte %d: found a page that does not decompress (%w); the file is damaged", p.headStart, err)
	}
	var out []byte
	switch p.codec {
	case codecNone:
		out = b
	case codecSnappy:
		n, err := snappy.DecodedLen(b)
		if err != nil {
			return nil, bad(err)
		}
		if int64(n) != size {
			return nil, corruptf("byte %d: found a page of %d bytes, expected %d; the file is damaged", p.headStart, n, size)
		}
		if out, err = snappy.Decode(p.room(n), b); err != nil {
			return nil, bad(err)
		}
		p.scratch = out
	case codecGzip:
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, bad(err)
		}
		w := bytes.NewBuffer(p.scratch[:0])
		_, err = io.Copy(w, io.LimitReader(z, size+1))
		p.scratch = w.Bytes()
		if err != nil {
			return nil, bad(err)
		}
		out = p.scratch
	case codecZstd:
		if p.zstd == nil {
			var err error
			if p.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true)); err != nil {
				return nil, err
			}
		}
		var err error
		out, err = p.zstd.DecodeAll(b, p.room(int(size))[:0])
		if err != nil {
			return nil, bad(err)
		}
		p.scratch = out
	case codecBrotli:
		w := bytes.NewBuffer(p.scratch[:0])
		_, err := io.Copy(w, io.LimitReader(brotli.NewReader(bytes.NewReader(b)), size+1))
		p.scratch = w.Bytes()
		if err != nil {
			return nil, bad(err)
		}
		out = p.scratch
	case codecLZ4Raw:
		if size > maxLZ4Ratio*int64(len(b))+64 {
			return nil, corruptf("byte %d: found a page of %d bytes from %d, expected fewer; the file is damaged", p.headStart, size, len(b))
		}
		room := p.room(int(size))
		n, err := lz4.UncompressBlock(b, room)
		if err != nil {
			return nil, bad(err)
		}
		out = room[:n]
		p.scratch = room
	default:
		name := "unknown"
		if p.codec > 0 && p.codec < int64(len(codecNames)) {
			name = codecNames[p.codec]
		}
		return nil, unsupportedf("byte %d: found pages compressed with %s (codec %d), expected none, snappy, gzip, brotli, zstd or LZ4_RAW; write the file with one of them", p.headStart, name, p.codec)
	}
	if int64(len(out)) != size {
		return nil, corruptf("byte %d: found a page of %d bytes, expected %d; the file is damaged", p.headStart, len(out), size)
	}
	return out, nil
}

// room returns scratch with length n; snappy.Decode uses its capacity.
func (p *pages) room(n int) []byte {
	if cap(p.scratch) < n {
		p.scratch = make([]byte, n)
	}
	return p.scratch[:n]
}

func (p *pages) close() {
	if p.zstd != nil {
		p.zstd.Close()
		p.zstd = nil
	}
}
