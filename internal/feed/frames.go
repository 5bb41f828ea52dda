package feed

import (
	"encoding/binary"
	"errors"
	"io"
)

// readFrame reads the next packet of a stream, which follows its length as u32, into buf, which it makes larger for a larger packet. The
// result is empty where the client is gone.
func readFrame(stream io.Reader, buf []byte, most int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(stream, head[:]); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	switch {
	case n > most:
		return nil, tooLong(n, most)
	case n > cap(buf):
		buf = make([]byte, n)
	}
	if _, err := io.ReadFull(stream, buf[:n]); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return buf[:n], nil
}

// frame is a packet after its length.
func frame(p []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(p)), uint32(len(p))), p...)
}
