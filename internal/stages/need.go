package stages

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Limits of a job. A folder of more files makes listing it, and removing it, a job of its own; and tasks of a stage that make more reads than
// this do little else.
const (
	mostFiles = 1 << 22 // of a stage
	mostReads = 1 << 32 // of a stage: its tasks x the files that each reads
)

// ErrTooMany is the kind of the error of a job with too many tasks.
var ErrTooMany = errors.New("too many tasks")

// Need is about what a job takes, as far as it is known before it starts.
type Need struct {
	// Records are the bytes of the records that are in the work folder at the same time, at most, without their indexes. Pieces and Output are the bytes of what
	// workers make there and of the output, on the same disk.
	Records, Pieces, Output int64
	// Memory is the bytes that a worker holds for one task, beside its program and the mapped store.
	Memory int64
	// Divide names the options that make the job smaller, such as "take a share of the seeds by `Rank`"; empty for none.
	Divide string
}

// certain is the share of a forecast that a job takes in any case: it depends on edges that nobody has counted.
const certain = 0.5

// Foresee refuses a job that cannot run: with too many tasks, on a disk that is too small for the folders, or with less memory for a worker than memory, which is 0
// where it is not known. What the folders hold already counts, since a run goes on from it. The text warns of a disk that is small, and where it is small by less than a
// forecast is sure of, nothing is refused.
func Foresee(fsys vfs.FS, folders []string, list []Stage, need Need, memory int64) (warning string, err error) {
	mend := ""
	if need.Divide != "" {
		mend = ", or " + need.Divide
	}
	j := &Job{Stages: list}
	indexes := int64(0)
	for n, s := range list {
		if s.Tasks > mostFiles {
			return "", tagged.Errorf(ErrTooMany, "stage %s: found %s tasks, expected at most %s, because each has a file in one folder; give less work at a time%s", s.Name, human.Count(s.Tasks), human.Count(mostFiles), mend)
		}
		segments := j.segments(n)
		indexes += s.Tasks * (segments.count + 1) * indexBytes
		reads := int64(0)
		for _, in := range s.Inputs {
			reads += list[in.From].Tasks * s.Tasks
		}
		if reads > mostReads {
			return "", tagged.Errorf(ErrTooMany, "stage %s: found %s reads of files, %s tasks of the files of the tasks before, expected at most %s; give less work at a time%s", s.Name, human.Count(reads), human.Count(s.Tasks), human.Count(mostReads), mend)
		}
	}
	if memory > 0 && need.Memory > memory {
		return "", tagged.Errorf(limits.ErrMemory, "found a memory bound of %s, expected at least %s for a task of a worker; give more `Memory`%s", human.Bytes(memory), human.Bytes(need.Memory), mend)
	}
	disk := need.Records + need.Pieces + need.Output + indexes
	free, err := fsys.Free(folders[0])
	if err != nil || disk <= free {
		return "", err
	}
	for _, dir := range folders {
		there, err := sizeOf(fsys, dir)
		if err != nil {
			return "", err
		}
		free += there
	}
	if disk <= free {
		return "", nil
	}
	text := fmt.Sprintf("%s: found %s free, expected about %s for the records of stages (%s), the pieces and the output", folders[0], human.Bytes(free), human.Bytes(disk), human.Bytes(need.Records+indexes))
	if certain*float64(disk) > float64(free) {
		return "", tagged.Errorf(vfs.ErrSpace, "%s; make room, choose another `Out`%s", text, mend)
	}
	return text + "; the job may end with a full disk, and then goes on from what is whole", nil
}

// sizeOf is the bytes of the files below a folder.
func sizeOf(fsys vfs.FS, dir string) (size int64, err error) {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if e.IsDir() {
			below, unknown := sizeOf(fsys, name)
			size, err = size+below, errors.Join(err, unknown)
			continue
		}
		info, unknown := fsys.Stat(name)
		if errors.Is(unknown, fs.ErrNotExist) {
			continue
		}
		if unknown != nil {
			return size, errors.Join(err, unknown)
		}
		size += info.Size()
	}
	return size, err
}

// Held is the bytes that a task holds of the records that it reads and gives: as many as come on average to each of a number of tasks, and at most what a Job
// sorts in memory; and as much again, while buffers grow.
func Held(bytes, tasks int64) int64 {
	return 2 * min(bytes/max(tasks, 1), defaultMemory)
}
