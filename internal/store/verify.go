package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// verifier collects what Verify finds.
type verifier struct{ *report.Verified }

// Verify reads every file of an output folder and compares it with the manifest. It finds a flipped bit, and a file
// that was cut, removed or replaced. It also runs Check on a store. The error is for files that could not be read;
// damage is in the result. progress, which may be nil, is called with bytes that were read.
func Verify(ctx context.Context, fsys vfs.FS, dir string, threads int, progress func(bytes int64)) (*report.Verified, error) {
	v := verifier{&report.Verified{}}
	fsys = vfs.Confine(fsys, dir)
	names, folders, err := list(fsys, dir)
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	for _, n := range names {
		have[n] = true
	}
	if !have[ManifestFile] && !have[ManifestSumFile] && !have[MetaFile] {
		return nil, fmt.Errorf("%s: found no %s, so it is no output folder of graphmill", dir, ManifestFile)
	}
	v.Unknown = append(v.Unknown, folders...)
	v.reports(fsys, dir, have)
	m, err := ReadManifest(fsys, dir)
	switch {
	case errors.Is(err, ErrDamaged):
		v.add(ManifestFile, err.Error())
		return v.Verified, nil
	case errors.Is(err, fs.ErrNotExist):
		v.add(ManifestFile, "missing, or its checksum is missing: "+err.Error())
		return v.Verified, nil
	case err != nil:
		return nil, err
	}
	for _, n := range names {
		if _, ok := m.Files[n]; !ok && !outside(n) && !slices.Contains(halfWritten, n) {
			v.Unknown = append(v.Unknown, n)
		}
	}
	sort.Strings(v.Unknown)
	var present []string
	for n := range m.Files {
		if have[n] {
			present = append(present, n)
		} else {
			v.add(n, "missing")
		}
	}
	sort.Strings(present)
	found := make([]string, len(present))
	sizes := make([]int64, len(present))
	err = hashAll(ctx, fsys, dir, present, threads, func(i int, got ManifestFor, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		want := m.Files[present[i]]
		switch {
		case err != nil:
			found[i] = err.Error()
		case got.Bytes != want.Bytes:
			found[i] = fmt.Sprintf("%d bytes, expected %d", got.Bytes, want.Bytes)
		case got != want:
			found[i] = fmt.Sprintf("checksum %s, expected %s", got.XXH3, want.XXH3)
		}
		sizes[i] = got.Bytes
		if progress != nil {
			progress(got.Bytes)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, n := range present {
		v.Files++
		v.Bytes += sizes[i]
		if found[i] != "" {
			v.add(n, found[i])
		}
	}
	if len(v.Damage) == 0 && have[MetaFile] {
		if err := v.check(ctx, fsys, dir); err != nil {
			return nil, err
		}
	}
	sort.Slice(v.Damage, func(i, j int) bool { return v.Damage[i].File < v.Damage[j].File })
	return v.Verified, nil
}

func (v verifier) add(file, found string) {
	v.Damage = append(v.Damage, report.Damage{File: file, Found: found})
}

// check runs Check on a folder whose bytes are as written.
func (v verifier) check(ctx context.Context, fsys vfs.FS, dir string) error {
	s, err := OpenMerged(fsys, dir, -1)
	if err != nil {
		v.add(MetaFile, err.Error())
		return nil
	}
	if err := s.Check(ctx); errors.Is(err, ErrDamaged) {
		v.add(MetaFile, err.Error())
	} else if err != nil {
		return errors.Join(err, s.Close())
	}
	return s.Close()
}

// reports compares the files of the report with their checksums. A folder without a report is whole. More lines than one per
// file are left by WriteReport where it failed.
func (v verifier) reports(fsys vfs.FS, dir string, have map[string]bool) {
	if !have[reportSumFile] && !have[ReportHTMLFile] && !have[ReportJSONFile] {
		return
	}
	b, err := vfs.ReadFile(fsys, filepath.Join(dir, reportSumFile), mostSums*64)
	if err != nil {
		v.add(reportSumFile, err.Error())
		return
	}
	sums := slices.Collect(strings.Lines(string(b)))
	for _, name := range []string{ReportHTMLFile, ReportJSONFile} {
		b, err := vfs.ReadFile(fsys, filepath.Join(dir, name), maxMeta)
		if err != nil {
			v.add(name, err.Error())
			return
		}
		v.Files++
		v.Bytes += int64(len(b))
		if line := sumLine(b, name); !slices.Contains(sums, line) {
			v.add(name, "checksum "+strings.Fields(line)[0]+", expected that of "+reportSumFile)
		}
	}
	if len(v.Damage) == 0 && slices.ContainsFunc(sums, func(line string) bool { return !isReportSum(line) }) {
		v.add(reportSumFile, "text that is not the checksums of the report")
	}
}
