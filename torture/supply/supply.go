package supply

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Module is a module that is linked into a program.
type Module struct{ Path, Version, Dir string }

// Linked is the modules whose packages a program has, by their paths, without the product's own. dir is the folder of the program's
// module.
func Linked(dir, program string) ([]Module, error) {
	cmd := exec.Command("go", "-C", dir, "list", "-deps", "-f", "{{with .Module}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}", program)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: go list: %w", program, err)
	}
	var all []Module
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) == 3 && !strings.HasPrefix(f[0], "github.com/graphmill/graphmill") {
			all = append(all, Module{f[0], f[1], f[2]})
		}
	}
	slices.SortFunc(all, func(a, b Module) int { return cmp.Compare(a.Path, b.Path) })
	return slices.Compact(all), nil
}

// licences are known by sentences that each of them has.
var licences = []struct {
	name string
	has  []string
	not  string
}{
	{"Apache-2.0", []string{"Apache License", "Version 2.0"}, ""},
	{"MIT", []string{"Permission is hereby granted, free of charge"}, ""},
	{"BSD-3-Clause", []string{"Redistribution and use in source and binary forms", "to endorse or promote products"}, ""},
	{"BSD-2-Clause", []string{"Redistribution and use in source and binary forms"}, "to endorse or promote products"},
	{"ISC", []string{"Permission to use, copy, modify, and"}, ""},
	{"MPL-2.0", []string{"Mozilla Public License Version 2.0"}, ""},
}

// licenceFiles are the paths of the files with the licences and notices of a folder.
func licenceFiles(dir string) (paths []string, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		name := strings.ToUpper(f.Name())
		if !f.IsDir() && (strings.HasPrefix(name, "LICEN") || strings.HasPrefix(name, "COPYING") || strings.HasPrefix(name, "NOTICE") || strings.HasPrefix(name, "PATENTS")) {
			paths = append(paths, filepath.Join(dir, f.Name()))
		}
	}
	return paths, nil
}

// Notices is the text of the licences and notices of the modules that are linked into a program, and of Go, which those who hand on the
// program must add. dir is the folder of the program's module.
func Notices(dir, program string) ([]byte, error) {
	modules, err := Linked(dir, program)
	if err != nil {
		return nil, err
	}
	out, err := exec.Command("go", "-C", dir, "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	modules = append([]Module{{"The Go standard library and runtime", "", strings.TrimSpace(string(out))}}, modules...)
	var b strings.Builder
	b.WriteString("The graphmill command has code of others in it. These are their licences and notices.\n")
	for _, m := range modules {
		files, err := licenceFiles(m.Dir)
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("%s %s: found no licence in %s", m.Path, m.Version, m.Dir)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, "\n%s\n%s, %s\n\n%s\n", strings.Repeat("=", 80), strings.TrimSpace(m.Path+" "+m.Version), filepath.Base(name), strings.TrimSpace(string(text)))
		}
	}
	return []byte(b.String()), nil
}

// Licence is the licences in the files of a module, as an SPDX expression. A module without a known one is an error.
func Licence(m Module) (string, error) {
	files, err := os.ReadDir(m.Dir)
	if err != nil {
		return "", err
	}
	found := map[string]bool{}
	for _, f := range files {
		name := strings.ToUpper(f.Name())
		if f.IsDir() || !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(m.Dir, f.Name()))
		if err != nil {
			return "", err
		}
		text := strings.Join(strings.Fields(string(b)), " ")
		for _, l := range licences {
			if !slices.ContainsFunc(l.has, func(s string) bool { return !strings.Contains(text, s) }) && (l.not == "" || !strings.Contains(text, l.not)) {
				found[l.name] = true
			}
		}
		if strings.Contains(text, "GNU ") && strings.Contains(text, "GENERAL PUBLIC LICENSE") && !found["MPL-2.0"] {
			return "", fmt.Errorf("%s %s: found a licence of the GNU family in %s, expected one without conditions on other code", m.Path, m.Version, f.Name())
		}
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%s %s: found no known licence in %s", m.Path, m.Version, m.Dir)
	}
	var names []string
	for n := range found {
		names = append(names, n)
	}
	slices.Sort(names)
	return strings.Join(names, " AND "), nil
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	URL        string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Bill is the bill of materials of a program, in CycloneDX 1.5: the modules that Go has written into it, with their sums. It depends on the
// program alone, so it has no time and no serial number.
func Bill(program string) ([]byte, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	part := func(kind, path, version, sum string) component {
		c := component{Type: kind, Name: path, Version: version, URL: "pkg:golang/" + path + "@" + version}
		c.Ref = c.URL
		if sum != "" {
			c.Properties = []property{{"go:sum", sum}}
		}
		return c
	}
	main := part("application", info.Main.Path, cmp.Or(info.Main.Version, "(devel)"), info.Main.Sum)
	components := []component{part("library", "std", strings.TrimPrefix(info.GoVersion, "go"), "")}
	for _, m := range info.Deps {
		sum := m.Sum
		if m.Replace != nil {
			sum = m.Replace.Sum
		}
		components = append(components, part("library", m.Path, m.Version, sum))
	}
	b, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata": map[string]any{"component": main}, "components": components,
	}, "", " ")
	return append(b, '\n'), err
}
