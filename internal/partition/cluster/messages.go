package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"

	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/vfs"
)

// message is the file in which a task tells all workers what it found.
type message struct {
	// read counts the neighbours that were read, and sent the bytes of messages to one worker.
	read, sent int64
	body       []byte
}

// messages are the messages to all workers, in a folder per stage with a file per task. They stay until the end of the run: what all workers know is a function of them.
//
// A file has read and sent (8 bytes each, little-endian), the body, and the CRC-32C of these.
type messages struct {
	fs  vfs.FS
	dir string
}

const (
	messageHead = 16
	messageTail = 4
	maxMessage  = 1 << 40
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (m *messages) file(stage string, task int) string {
	return filepath.Join(m.dir, stage, fmt.Sprintf("%08d", task))
}

// write saves the message of a task. A task that runs twice writes the same bytes.
func (m *messages) write(stage string, task int, x message) error {
	b := make([]byte, messageHead, messageHead+len(x.body)+messageTail)
	binary.LittleEndian.PutUint64(b, uint64(x.read))
	binary.LittleEndian.PutUint64(b[8:], uint64(x.sent))
	b = append(b, x.body...)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	return vfs.WriteWhole(m.fs, m.file(stage, task), func(f vfs.File) error {
		_, err := f.Write(b)
		return err
	})
}

// read reads the message of a task.
func (m *messages) read(stage string, task int) (x message, err error) {
	name := m.file(stage, task)
	b, err := vfs.ReadFile(m.fs, name, maxMessage)
	if errors.Is(err, fs.ErrNotExist) {
		return x, fmt.Errorf("found no message of task %d of stage %s: %w; run all tasks of that stage first", task, stage, stages.ErrNotWhole)
	}
	if err != nil {
		return x, err
	}
	at := len(b) - messageTail
	if at < messageHead || crc32.Checksum(b[:at], castagnoli) != binary.LittleEndian.Uint32(b[at:]) {
		return x, fmt.Errorf("%s: found a damaged message, expected one that another worker wrote; remove the work folder, and give the same command again", name)
	}
	return message{int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:])), b[messageHead:at]}, nil
}

// each calls fn with the messages of a stage, in the order of its tasks.
func (m *messages) each(ctx context.Context, stage string, tasks int, fn func(x message) error) error {
	for task := range tasks {
		if err := ctx.Err(); err != nil {
			return err
		}
		x, err := m.read(stage, task)
		if err != nil {
			return err
		}
		if err := fn(x); err != nil {
			return fmt.Errorf("%s: %w", m.file(stage, task), err)
		}
	}
	return nil
}

// number is a body of one number.
func number(x int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(x)) }

var errNumber = errors.New("found a message that is too short, expected 8 bytes or more; use the same version on all machines")

// numberOf reads the number at the start of a body, and returns what follows it.
func numberOf(b []byte) (x int64, rest []byte, err error) {
	if len(b) < 8 {
		return 0, nil, errNumber
	}
	return int64(binary.LittleEndian.Uint64(b)), b[8:], nil
}
