package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// begin refuses to work beside another submitter, or a job of an earlier one.
func (r *Run) begin(ctx context.Context) (err error) {
	if r.release, err = workfolder.Hold(r.FS, r.Dir); err != nil {
		return err
	}
	for _, job := range []Job{Measure, Look, Build} {
		if err := r.Engine.Free(ctx, r.jobDir(job)); err != nil {
			return err
		}
	}
	return nil
}

// End removes the work folder after the output was published, or err is why it was not. After an error it keeps finished pieces from
// which a run can resume, and the folder of a job that may still run, and says so.
func (r *Run) End(err error) (kept bool, ended error) {
	if r.release == nil { // another run has the folder
		return false, nil
	}
	defer func() { ended = errors.Join(ended, r.release()) }()
	if err != nil && !r.useless {
		if kept, unknown := keeps(r.FS, r.Dir); kept || unknown != nil {
			return kept, unknown
		}
	}
	return false, workfolder.RemoveAll(r.FS, r.Dir)
}

// jobDir is the folder of a job.
func (r *Run) jobDir(job Job) string {
	if job == Build {
		return r.Dir
	}
	return filepath.Join(r.Dir, string(job))
}

// keeps says whether a work folder has something that a later run needs: finished pieces, or a job that may still run.
func keeps(fsys vfs.FS, dir string) (bool, error) {
	n, err := finishedPieces(fsys, dir)
	for _, job := range []string{"", string(Measure), string(Look)} {
		busy, unknown := workfolder.Busy(fsys, filepath.Join(dir, job))
		if err = errors.Join(err, unknown); busy {
			n++
		}
	}
	return n > 0, err
}

// finishedPieces is the number of finished pieces in a work folder.
func finishedPieces(fsys vfs.FS, dir string) (n int, err error) {
	for _, job := range []string{"", string(Measure), string(Look)} {
		whole, unknown := stages.Finished(fsys, filepath.Join(dir, job), recordsDir)
		n, err = n+whole, errors.Join(err, unknown)
	}
	return n, err
}

// prepare makes the folders of a Work and saves it. It keeps the pieces of the same Work.
func (r *Run) prepare(site *Site) error {
	same, differ, err := r.same(site)
	if err != nil {
		return err
	}
	if !same {
		if err := r.clear(site, differ); err != nil {
			return err
		}
	}
	if err := r.FS.MkdirAll(site.Dir); err != nil {
		return err
	}
	if err := workfolder.Reset(r.FS, site.Dir); err != nil {
		return err
	}
	for _, f := range site.folders() {
		if err := r.FS.MkdirAll(filepath.Join(site.Dir, f)); err != nil {
			return err
		}
	}
	if err := site.job.Prepare(); err != nil {
		return err
	}
	return site.Work.save(r.FS, site.Dir)
}

// clear removes what another Work left in the folder of a job. differ names the fields in which it differs.
func (r *Run) clear(site *Site, differ []string) error {
	there, err := vfs.Exists(r.FS, filepath.Join(site.Dir, workFile))
	if err != nil || !there {
		return err
	}
	if !r.Overwrite {
		n, err := finishedPieces(r.FS, r.Dir)
		if err == nil && n > 0 {
			err = workfolder.Kept(n, "pieces", r.Dir, differ)
		}
		if err != nil {
			return err
		}
	}
	for _, f := range append(site.folders(), recordsDir, workFile) {
		if err := workfolder.RemoveAll(r.FS, filepath.Join(site.Dir, f)); err != nil {
			return err
		}
	}
	return nil
}

// same says whether the folder of a job has the same Work, and else in what they differ.
func (r *Run) same(site *Site) (same bool, differ []string, err error) {
	there, err := vfs.Exists(r.FS, filepath.Join(site.Dir, workFile))
	if err != nil || !there {
		return false, nil, err
	}
	old, err := readWork(r.FS, site.Dir)
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return false, nil, err
	} else if err != nil { // no whole work
		return false, []string{"the version"}, nil
	}
	w := *site.Work
	w.Format = format
	x, err := json.Marshal(&w)
	y, err2 := json.Marshal(old)
	return bytes.Equal(x, y), workfolder.Differences(x, y), errors.Join(err, err2)
}

// run runs the job Build, unless an earlier run did.
func (r *Run) run(ctx context.Context) error {
	r.Work.Job = Build
	site, err := newSite(r.FS, r.Dir, &r.Work, r.Source)
	if err != nil {
		return err
	}
	if err := r.prepare(site); err != nil {
		return err
	}
	if whole, err := site.job.Whole(len(site.job.Stages) - 1); whole || err != nil {
		return err
	}
	if err := r.foresee(site); err != nil {
		return err
	}
	return r.engine(ctx, site)
}

// foresee refuses a job that cannot run. An edge is about 6 bytes of records on its way to a range, and 8 of a piece in each direction: its far end and its id. The
// records are gone when the pieces are joined.
func (r *Run) foresee(site *Site) error {
	const recordBytes, pieceBytes = 6, 8
	edges, directions := int64(0), int64(1)
	for _, rows := range site.share.GroupRows() {
		edges += int64(min(rows, 1<<50))
	}
	if r.Work.Rules.Both {
		directions = 2
	}
	pieces, records := pieceBytes*directions*edges, recordBytes*edges
	warning, err := stages.Foresee(r.FS, []string{r.Dir}, site.job.Stages, stages.Need{Records: records, Pieces: pieces, Output: max(pieces-records, 0)}, 0)
	if warning != "" && r.Warn != nil {
		r.Warn(warning)
	}
	return err
}
