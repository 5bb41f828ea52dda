package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// ErrWhole is the kind of an error after which the output is whole under its name: Verify accepts it, and nothing of it has
// to be made again. A later step failed, which the text names.
var ErrWhole = errors.New("the output is complete")

// Publish renames a sealed folder to its name, and makes the name durable. With an error of the kind ErrWhole, the output
// has its name. With any other error it has not: the folder is still partial.
func (w *Writer) Publish() error {
	if !w.sealed {
		return fmt.Errorf("%s: publish before seal", w.out)
	}
	if err := replaceable(w.fs, w.out, w.force); err != nil {
		return err
	}
	lists, err := w.forget()
	replaced := false
	if err == nil {
		replaced, err = w.rename()
	}
	if !w.published {
		return errors.Join(err, w.remember(lists))
	}
	if err == nil {
		err = w.settle(replaced)
	}
	return w.End(err)
}

// rename gives the folder its name, and says whether w.dir is now an output that it replaced. It sets w.published.
func (w *Writer) rename() (replaced bool, err error) {
	mine, err := w.fs.Lstat(w.dir)
	if err != nil {
		return false, err
	}
	_, err = w.fs.Lstat(w.out)
	switch {
	case err == nil:
		replaced, err = true, w.fs.Exchange(w.dir, w.out)
	case errors.Is(err, fs.ErrNotExist):
		err = w.fs.Rename(w.dir, w.out)
	default:
		return false, err
	}
	w.published = err == nil
	if err != nil {
		// A file system can fail a call that it has done, such as NFS when it asks again.
		there, statErr := w.fs.Lstat(w.out)
		w.published = statErr == nil && os.SameFile(mine, there)
	}
	return replaced, err
}

// settle makes the name durable, and removes the output that was replaced. That goes last, because a power failure can undo
// an exchange that is not durable.
func (w *Writer) settle(replaced bool) error {
	err := w.fs.SyncDir(filepath.Dir(w.out))
	if err != nil {
		err = fmt.Errorf("a power failure may undo its name: %w", err)
	} else if replaced {
		err = w.removeDir()
	}
	if err != nil && replaced {
		err = fmt.Errorf("%w; the output that it replaced is left in %s, which the next run for %s removes", err, w.dir, w.out)
	}
	return err
}

// End ends the output of a run that returns err, and returns err together with what it says about the disk:
//
//	on the disk                                      error
//	the output is whole and has its name             nil, or of the kind ErrWhole
//	nothing                                          err alone
//	a partial folder that Resume or Continue takes   err alone; Resumable says so beforehand
//	a partial folder that could not be removed       names that folder; the next run for the output removes it
//
// Calling End again adds these words to an error of a later step.
func (w *Writer) End(err error) error {
	if !w.published {
		return errors.Join(err, w.Abort())
	}
	return Whole(w.out, errors.Join(err, w.Leave()))
}

// Whole returns an error of a step after the output out got its name, as one of the kind ErrWhole; nil for none.
func Whole(out string, err error) error {
	if err == nil || errors.Is(err, ErrWhole) {
		return err
	}
	return tagged.Errorf(ErrWhole, "%s: the output is complete, but %w", out, err)
}

// Published says whether the output has its name.
func (w *Writer) Published() bool { return w.published }

// Resumable says whether the partial folder has a checkpoint or a list of kept files, from which a later run continues. It
// looks at the disk.
func (w *Writer) Resumable() (bool, error) {
	if w.published || w.resume == nil && !w.checkpoints.there {
		return false, nil
	}
	for _, name := range []string{resumeFile, checkpointFile} {
		if _, err := w.fs.Lstat(filepath.Join(w.dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
	}
	return false, nil
}

// Abort removes the files, unless a later run can resume from them. It does nothing after the end.
func (w *Writer) Abort() error {
	if w.unlock == nil {
		return nil
	}
	keep, err := w.Resumable()
	if !keep && err == nil {
		err = w.removeDir()
	}
	if err != nil {
		err = fmt.Errorf("the unfinished output is left in %s: %w; the next run for %s removes it, or continues from it", w.dir, err, w.out)
	}
	return errors.Join(err, w.Leave())
}

// removeDir removes the partial folder, or the output that was replaced. On Windows files stay that a program has open, such as a loader or this run
// itself, which may still map the store that it replaces. The next run for the output removes them.
func (w *Writer) removeDir() error {
	err := w.fs.RemoveAll(w.dir)
	if vfs.InUse(err) {
		return nil
	}
	return err
}

// Leave ends a Writer and leaves its files. It does nothing after the end.
func (w *Writer) Leave() error {
	if w.unlock == nil {
		return nil
	}
	err := w.unlock()
	w.unlock = nil
	return err
}

// forget removes the lists of kept files and checkpoints, and returns their texts by name.
func (w *Writer) forget() (map[string][]byte, error) {
	lists := map[string][]byte{}
	for name, there := range map[string]bool{resumeFile: w.resume != nil, checkpointFile: w.checkpoints.there} {
		if !there {
			continue
		}
		path := filepath.Join(w.dir, name)
		b, err := vfs.ReadFile(w.fs, path, maxMeta)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = w.fs.Remove(path)
		}
		if err != nil {
			return lists, err
		}
		lists[name] = b
	}
	return lists, nil
}

// remember writes what forget removed, because the folder did not get its name.
func (w *Writer) remember(lists map[string][]byte) error {
	for name, b := range lists {
		if err := vfs.WriteFile(w.fs, filepath.Join(w.dir, name), b); err != nil {
			return err
		}
	}
	return nil
}
