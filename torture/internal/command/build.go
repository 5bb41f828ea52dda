package command

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// folders are the folders of the programs, as the module and the package in it.
var folders = map[string][2]string{
	"graphmill":        {".", "./cmd/graphmill"},
	"graphmill-flight": {"flight", "./cmd/graphmill-flight"},
	"graphmill-beam":   {"beam", "./cmd/graphmill-beam"},
}

var built sync.Map // name and tags to func() (string, error)

// Build is the path of a program of the product: graphmill, graphmill-flight or graphmill-beam, built with the tags.
func Build(tb testing.TB, program string, tags ...string) string {
	tb.Helper()
	if _, has := folders[program]; !has {
		tb.Fatalf("found program %q, expected graphmill, graphmill-flight or graphmill-beam", program)
	}
	key := strings.Join(append([]string{program}, tags...), "-")
	f, _ := built.LoadOrStore(key, sync.OnceValues(func() (string, error) { return build(program, key, tags) }))
	path, err := f.(func() (string, error))()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// Root is the folder of the repository.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		b, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil && strings.HasPrefix(string(b), "module github.com/graphmill/graphmill\n") {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", &os.PathError{Op: "find the repository above", Path: dir, Err: os.ErrNotExist}
		}
	}
}

func build(program, name string, tags []string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(root))
	dir := filepath.Join(cache, "graphmill", "torture", hex.EncodeToString(sum[:4]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lock, err := os.Create(filepath.Join(dir, name+".lock"))
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", &os.PathError{Op: "lock", Path: lock.Name(), Err: err}
	}
	path := filepath.Join(dir, name)
	module, pkg := folders[program][0], folders[program][1]
	// Without the state of the version control, the program is linked again only after a change of the source.
	linked := path + ".linked"
	cmd := exec.Command("go", "-C", filepath.Join(root, module), "build", "-buildvcs=false", "-tags", strings.Join(tags, ","), "-o", linked, pkg)
	cmd.Env = append(os.Environ(), "GOTMPDIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", &os.PathError{Op: "build", Path: pkg, Err: &buildError{err, string(out)}}
	}
	return path, install(linked, path)
}

// install copies a program that was linked to its path, unless it is there, and makes the system forget its bytes: it reads them again. Some
// systems keep what was just written in large pieces, and map these whole, so that each process has up to 20 MiB more resident.
func install(linked, path string) error {
	from, err := os.Stat(linked)
	if err != nil {
		return err
	}
	if to, err := os.Stat(path); err == nil && !to.ModTime().Before(from.ModTime()) {
		return nil
	}
	// A program that another test runs cannot be written to, but another one can get its name. The bytes are not held here: the peak of a
	// process includes the memory of the process that starts it.
	in, err := os.Open(linked)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{out}, struct{ io.Reader }{in}, make([]byte, 1<<20))
	if err = errors.Join(err, out.Sync()); err == nil {
		err = unix.Fadvise(int(out.Fd()), 0, 0, unix.FADV_DONTNEED)
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

type buildError struct {
	err error
	out string
}

func (e *buildError) Error() string { return e.err.Error() + "\n" + e.out }
func (e *buildError) Unwrap() error { return e.err }
