package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/vfs"
)

// The versions of manifest.json: of a folder, and of one in which files are stored in shards.
const (
	ManifestFormat        = 1
	ShardedManifestFormat = 2
)

// Manifest is manifest.json: every file of the folder except the manifest, its checksum and the report.
type Manifest struct {
	Format int                    `json:"format"`
	Files  map[string]ManifestFor `json:"files"`
}

// ManifestFor is the entry of a file in the manifest.
type ManifestFor struct {
	Bytes int64  `json:"bytes"`
	XXH3  string `json:"xxh3"`
}

// ErrDamaged is the error of a folder whose bytes differ from those that were written.
var ErrDamaged = errors.New("damaged")

// maxMeta bounds the metadata files.
const maxMeta = 256 << 20

func sum(b []byte) string { return fmt.Sprintf("%016x", xxh3.Hash(b)) }

// sumLine is a line of a .xxh3 file, in the format of the xxhsum program.
func sumLine(b []byte, name string) string { return sum(b) + "  " + name + "\n" }

// hashFile reads a file once.
func hashFile(ctx context.Context, fsys vfs.FS, name string, buf []byte) (entry ManifestFor, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return entry, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return hashFrom(ctx, f, buf)
}

// hashOpen reads an open file from its start.
func hashOpen(ctx context.Context, f vfs.File, buf []byte) (entry ManifestFor, err error) {
	info, err := f.Stat()
	if err != nil {
		return entry, err
	}
	return hashFrom(ctx, io.NewSectionReader(f, 0, info.Size()), buf)
}

func hashFrom(ctx context.Context, f io.Reader, buf []byte) (entry ManifestFor, err error) {
	h := xxh3.New()
	for {
		if err := ctx.Err(); err != nil {
			return entry, err
		}
		n, err := f.Read(buf)
		_, _ = h.Write(buf[:n]) // a hash never fails
		entry.Bytes += int64(n)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return entry, err
		}
	}
	entry.XXH3 = fmt.Sprintf("%016x", h.Sum64())
	return entry, nil
}

// hashBuffer fits a cache.
const hashBuffer = 256 << 10

// hashAll hashes files with several workers.
func hashAll(ctx context.Context, fsys vfs.FS, dir string, names []string, threads int, each func(i int, entry ManifestFor, err error) error) error {
	threads = max(1, min(threads, len(names)))
	g, ctx := guard.WithContext(ctx)
	for w := range threads {
		g.Go(func() error {
			buf := make([]byte, hashBuffer)
			for i := w; i < len(names); i += threads {
				entry, err := hashFile(ctx, fsys, filepath.Join(dir, filepath.FromSlash(names[i])), buf)
				if err := each(i, entry, err); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// SumFiles is the manifest of files of a folder, which are given with '/' between elements. It reads them.
func SumFiles(ctx context.Context, fsys vfs.FS, dir string, names []string, threads int) (*Manifest, error) {
	entries := make([]ManifestFor, len(names))
	if err := hashAll(ctx, fsys, dir, names, threads, func(i int, e ManifestFor, err error) error {
		entries[i] = e
		return err
	}); err != nil {
		return nil, err
	}
	m := &Manifest{Format: ManifestFormat, Files: map[string]ManifestFor{}}
	for i, name := range names {
		m.Files[name] = entries[i]
	}
	return m, nil
}

// Encode is the text of ManifestFile and the text of ManifestSumFile.
func (m *Manifest) Encode() (text, sum []byte, err error) {
	b, err := EncodeJSON(Manifest{m.format(), m.Files})
	if err != nil {
		return nil, nil, err
	}
	return b, []byte(sumLine(b, ManifestFile)), nil
}

// list is every file and link below dir and, apart from them, every empty folder, in byte order, with '/' between elements. The
// names of folders end in '/'.
func list(fsys vfs.FS, dir string) (names, empty []string, err error) {
	var walk func(rel string) error
	walk = func(rel string) error {
		entries, err := fsys.ReadDir(filepath.Join(dir, filepath.FromSlash(rel)))
		if err != nil {
			return err
		}
		if len(entries) == 0 && rel != "" {
			empty = append(empty, rel+"/")
		}
		for _, e := range entries {
			name := path.Join(rel, e.Name())
			if e.IsDir() {
				if err := walk(name); err != nil {
					return err
				}
				continue
			}
			names = append(names, name)
		}
		return nil
	}
	if err := walk(""); err != nil {
		return nil, nil, err
	}
	sort.Strings(names)
	sort.Strings(empty)
	return names, empty, nil
}

// outside says whether the manifest leaves the file out.
func outside(name string) bool {
	return slices.Contains([]string{ManifestFile, ManifestSumFile, HistoryFile, ReportHTMLFile, ReportJSONFile, reportSumFile}, name)
}

// halfWritten are the files that a report leaves beside the files of outside if the process dies while it writes them.
var halfWritten = []string{vfs.Beside(HistoryFile), vfs.Beside(ReportHTMLFile), vfs.Beside(ReportJSONFile), vfs.Beside(reportSumFile)}

// checkLocal refuses a path of a metadata file that leads out of its folder.
func checkLocal(name string) error {
	if !fs.ValidPath(name) || name == "." || strings.Contains(name, `\`) {
		return fmt.Errorf("found file name %q, expected a path inside the folder", name)
	}
	return nil
}

// ReadManifest reads the manifest of an output folder and compares it with its checksum. The error of a folder without
// a manifest is fs.ErrNotExist.
func ReadManifest(fsys vfs.FS, dir string) (*Manifest, error) {
	fsys = vfs.Confine(fsys, dir)
	file := filepath.Join(dir, ManifestFile)
	b, err := vfs.ReadFile(fsys, file, maxMeta)
	if err != nil {
		return nil, err
	}
	want, err := vfs.ReadFile(fsys, filepath.Join(dir, ManifestSumFile), 4096)
	if err != nil {
		return nil, err
	}
	if got := sumLine(b, ManifestFile); got != string(want) {
		return nil, fmt.Errorf("%s: %w: found checksum %q, expected %q of %s", file, ErrDamaged, strings.TrimSpace(got), strings.TrimSpace(string(want)), ManifestSumFile)
	}
	var m Manifest
	if err := DecodeJSON(b, &m); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", file, ErrDamaged, err)
	}
	if m.Format != ManifestFormat && m.Format != ShardedManifestFormat {
		return nil, fmt.Errorf("%s: found format %d, expected %d or %d; use a newer graphmill", file, m.Format, ManifestFormat, ShardedManifestFormat)
	}
	for name := range m.Files {
		if err := checkLocal(name); err != nil {
			return nil, fmt.Errorf("%s: %w: %w", file, ErrDamaged, err)
		}
	}
	return &m, nil
}

// Sum is the checksum of the manifest of a folder, which identifies the content of all its files.
func Sum(fsys vfs.FS, dir string) (string, error) {
	b, err := vfs.ReadFile(vfs.Confine(fsys, dir), filepath.Join(dir, ManifestSumFile), 4096)
	if err != nil {
		return "", err
	}
	hex, _, ok := bytes.Cut(b, []byte("  "))
	if !ok || len(hex) != 16 {
		return "", fmt.Errorf("%s: %w: found %q, expected a checksum and a name", filepath.Join(dir, ManifestSumFile), ErrDamaged, b)
	}
	return "xxh3:" + string(hex), nil
}

// sampledAbove is the size above which Fingerprint reads only a part of a file.
const sampledAbove = 64 << 20

// Fingerprint identifies an input file: "xxh3:SUM:BYTES" of the whole file up to 64 MiB, and "xxh3-sampled:SUM:BYTES"
// of 64 blocks of 64 KiB at equal distances above that, so that it never costs a second read of a large file.
func Fingerprint(ctx context.Context, fsys vfs.FS, name string) (_ string, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if info.Size() <= sampledAbove {
		buf := make([]byte, min(hashBuffer, info.Size()+1))
		entry, err := hashFile(ctx, fsys, name, buf)
		return fmt.Sprintf("xxh3:%s:%d", entry.XXH3, entry.Bytes), err
	}
	const blocks, block = 64, 64 << 10
	h, buf := xxh3.New(), make([]byte, block)
	for i := range int64(blocks) {
		if _, err := f.ReadAt(buf, (info.Size()-block)/(blocks-1)*i); err != nil {
			return "", err
		}
		_, _ = h.Write(buf) // a hash never fails
	}
	return fmt.Sprintf("xxh3-sampled:%016x:%d", h.Sum64(), info.Size()), nil
}

// Size is the sum of the sizes of all files in the manifest.
func Size(fsys vfs.FS, dir string) (int64, error) {
	m, err := ReadManifest(fsys, dir)
	if err != nil {
		return 0, err
	}
	var n int64
	for _, f := range m.Files {
		n += f.Bytes
	}
	return n, nil
}
