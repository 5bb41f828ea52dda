package delta

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/vfs"
)

// action is a line of a commit, or a row of a checkpoint. Kinds that are not here change no rows.
type action struct {
	Add        *fileAction     `json:"add"`
	Remove     *fileAction     `json:"remove"`
	MetaData   *metadataAction `json:"metaData"`
	Protocol   *protocolAction `json:"protocol"`
	Sidecar    *sidecarAction  `json:"sidecar"`
	CommitInfo *commitInfo     `json:"commitInfo"`
}

// fileAction adds a file to the table, or removes it.
type fileAction struct {
	Path            string             `json:"path"`
	PartitionValues map[string]*string `json:"partitionValues"`
	DeletionVector  *deletionVector    `json:"deletionVector"`
	DataChange      bool               `json:"dataChange"`
	Size            int64              `json:"size"`
}

// key identifies a file among those of a table.
func (f *fileAction) key() string {
	if f.DeletionVector == nil {
		return f.Path
	}
	return f.Path + "\x00" + f.DeletionVector.id()
}

type metadataAction struct {
	ID     string `json:"id"`
	Format struct {
		Provider string `json:"provider"`
	} `json:"format"`
	SchemaString     string            `json:"schemaString"`
	PartitionColumns []string          `json:"partitionColumns"`
	Configuration    map[string]string `json:"configuration"`
}

type protocolAction struct {
	MinReaderVersion int      `json:"minReaderVersion"`
	ReaderFeatures   []string `json:"readerFeatures"`
}

type sidecarAction struct {
	Path string `json:"path"`
}

type commitInfo struct {
	InCommitTimestamp *int64 `json:"inCommitTimestamp"` // ms since 1970
}

// maxAction bounds the bytes of a line of a commit.
const maxAction = 256 << 20

// eachLine calls fn for the actions of a file of JSON lines.
func eachLine(fsys vfs.FS, path string, fn func(*action) error) (err error) {
	info, err := vfs.Regular(fsys, path)
	if err != nil {
		return err
	}
	f, err := fsys.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := bufio.NewScanner(io.NewSectionReader(f, 0, info.Size()))
	lines.Buffer(nil, maxAction)
	number, some := 0, false
	for lines.Scan() {
		number++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		some = true
		var a action
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			return lake.Badf("%s:%d: found a line that is no action of Delta Lake, expected JSON of one; the log is damaged: %w", path, number, err)
		}
		if err := fn(&a); err != nil {
			return fmt.Errorf("%s:%d: %w", path, number, err)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return lake.Badf("%s:%d: found a line of more than %d bytes, expected fewer; the log is damaged", path, number+1, maxAction)
	}
	if lines.Err() == nil && !some {
		return lake.Badf("%s: found a commit without a line, expected its actions; copy the file again", path)
	}
	return lines.Err()
}
