package surveying

import (
	"context"
	"io"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/internal/ingest/records"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/recordfiles"
	"github.com/graphmill/graphmill/internal/survey"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// NextRecord returns one record after the other, then io.EOF.
type NextRecord func() ([]byte, recordfiles.Place, error)

// OpenRecords reads the records of files: paths, globs, base@N for N shards, or "-" alone for stdin. warn is called with what is odd
// about the names. The caller calls closing at the end.
func OpenRecords(files []string, stdin io.Reader, warn func(text string)) (next NextRecord, closing func() error, err error) {
	if len(files) == 1 && files[0] == "-" {
		r, err := tfrecord.Open(stdin, "standard input", -1)
		if err != nil {
			return nil, nil, err
		}
		number := uint64(0)
		return func() ([]byte, recordfiles.Place, error) {
			record, err := r.Next()
			number++
			return record, recordfiles.Place{File: "standard input", Number: number - 1, Offset: r.Offset()}, err
		}, func() error { return nil }, nil
	}
	names, warnings, err := records.Files(vfs.OS, files)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range warnings {
		warn(w)
	}
	list := recordfiles.New(vfs.OS, names, nil)
	return list.Next, list.Close, nil
}

// ValidExamples is what ValidateExamples found.
type ValidExamples struct {
	Valid    uint64   `json:"valid"`
	Refused  uint64   `json:"refused"`
	Refusals []string `json:"refusals"` // the first
	// UnknownKeys lists keys that the schema does not have. TF-GNN ignores them.
	UnknownKeys []string `json:"unknown_keys"`
}

// maxRefusals is the most broken Examples that are listed.
const maxRefusals = 20

// ValidateExamples reads the Examples of files, and lists those that are no GraphTensors of a schema.
func ValidateExamples(ctx context.Context, schema *tfgnnpb.GraphSchema, files []string, o option.Run) (*ValidExamples, error) {
	if err := operation.CheckRun(&o); err != nil {
		return nil, err
	}
	names, warnings, err := records.Files(vfs.OS, files)
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		operation.Warn(&o, "%s", w)
	}
	line := operation.NewMeter(&o, "validate", 0, "bytes")
	s, err := survey.Take(ctx, vfs.OS, names, survey.Options{Schema: schema, Refusals: maxRefusals, Threads: o.Threads, Progress: line.Add})
	line.End()
	if err != nil {
		return nil, err
	}
	v := &ValidExamples{Valid: s.Examples, Refused: s.Refused, Refusals: []string{}, UnknownKeys: append([]string{}, s.UnknownKeys...)}
	for _, r := range s.Refusals {
		v.Refusals = append(v.Refusals, r.Error())
	}
	return v, nil
}
