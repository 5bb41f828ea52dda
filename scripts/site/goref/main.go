// Command goref writes the reference of a Go package as Markdown: its package comment, and each exported declaration with
// its comment.
//
//	go run ./scripts/site/goref DIR IMPORTPATH
package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintf(os.Stderr, "goref: found %d arguments, expected DIR IMPORTPATH\n", len(os.Args)-1)
		os.Exit(2)
	}
	out := bufio.NewWriter(os.Stdout)
	if err := writePage(out, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "goref:", err)
		os.Exit(1)
	}
	if err := out.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "goref:", err)
		os.Exit(1)
	}
}

// writePage writes the page of the package in dir.
func writePage(out *bufio.Writer, dir, importPath string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		// Where a declaration differs between systems, it is the one for Linux.
		if base := strings.TrimSuffix(filepath.Base(name), ".go"); strings.HasSuffix(base, "_test") || strings.HasSuffix(base, "_other") {
			continue
		}
		files = append(files, f)
	}
	p, err := doc.NewFromFiles(fset, files, importPath)
	if err != nil {
		return err
	}
	w := page{Writer: out, fset: fset, pkg: p}
	w.all()
	return w.err
}

type page struct {
	*bufio.Writer
	fset *token.FileSet
	pkg  *doc.Package
	err  error
}

func (w *page) all() {
	name := w.pkg.Name
	if w.pkg.ImportPath != "github.com/graphmill/graphmill" {
		name = strings.TrimPrefix(w.pkg.ImportPath, "github.com/graphmill/graphmill/")
	}
	fmt.Fprintf(w, "# Package %s\n\n```go\nimport %q\n```\n\n", name, w.pkg.ImportPath)
	w.text(w.pkg.Doc)
	w.values("Constants", w.pkg.Consts)
	w.values("Variables", w.pkg.Vars)
	if len(w.pkg.Funcs) > 0 {
		fmt.Fprint(w, "## Functions\n\n")
		w.funcs(3, w.pkg.Funcs)
	}
	if len(w.pkg.Types) > 0 {
		fmt.Fprint(w, "## Types\n\n")
	}
	for _, t := range w.pkg.Types {
		fmt.Fprintf(w, "### type `%s`\n\n", t.Name)
		w.decl(t.Decl)
		w.text(t.Doc)
		for _, v := range append(t.Consts, t.Vars...) {
			w.decl(v.Decl)
			w.text(v.Doc)
		}
		w.funcs(4, t.Funcs)
		w.funcs(4, t.Methods)
	}
}

func (w *page) values(title string, list []*doc.Value) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "## %s\n\n", title)
	for _, v := range list {
		w.decl(v.Decl)
		w.text(v.Doc)
	}
}

func (w *page) funcs(level int, list []*doc.Func) {
	for _, f := range list {
		name := f.Name
		if f.Recv != "" {
			name = "(" + f.Recv + ") " + f.Name
		}
		fmt.Fprintf(w, "%s func `%s`\n\n", strings.Repeat("#", level), name)
		w.decl(f.Decl)
		w.text(f.Doc)
	}
}

// decl writes a declaration without its comment and its body.
func (w *page) decl(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		d.Body, d.Doc = nil, nil
	case *ast.GenDecl:
		d.Doc = nil
	}
	fmt.Fprint(w, "```go\n")
	if err := format.Node(w, w.fset, d); err != nil && w.err == nil {
		w.err = err
	}
	fmt.Fprint(w, "\n```\n\n")
}

// text writes a comment.
func (w *page) text(s string) {
	p := w.pkg.Printer()
	p.HeadingLevel = 2
	p.HeadingID = func(*comment.Heading) string { return "" }
	fmt.Fprintf(w, "%s\n", p.Markdown(w.pkg.Parser().Parse(s)))
}
