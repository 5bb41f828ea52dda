package transport

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestReadIPConfig(t *testing.T) {
	name := filepath.Join(t.TempDir(), "ip_config.txt")
	writeFile(t, name, []byte("# two machines\n172.31.40.143\n\n  node-2.cluster\t20090 \r\nfe80::1"))
	got, err := ReadIPConfig(vfs.OS, name)
	want := []Machine{{Host: "172.31.40.143", Line: 2}, {Host: "node-2.cluster", Port: 20090, Line: 4}, {Host: "fe80::1", Line: 5}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	if _, err := ReadIPConfig(vfs.OS, name+".none"); err == nil {
		t.Error("a missing file was read")
	}
	for text, want := range map[string]string{
		"":                       "f: found no machine",
		"# none\n":               "f: found no machine",
		"a\nb 1 2\n":             "f:2: found 3 words",
		"a 0":                    `f:1: found port "0"`,
		"a 65536":                `f:1: found port "65536"`,
		"a -1":                   `f:1: found port "-1"`,
		"a ssh":                  `f:1: found port "ssh"`,
		"me@a":                   `f:1: found "me@a", expected an address or the name of a machine; the user`,
		"10.0.0.1:22":            `f:1: found "10.0.0.1:22"`,
		"-oProxyCommand=x":       `f:1: found "-oProxyCommand=x"`,
		"$(reboot)":              "f:1: found",
		"a\x00b":                 "f:1: found",
		strings.Repeat("a", 300): "f:1: found",
	} {
		if m, err := parseIPConfig("f", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, %v, want %q", text, m, err, want)
		}
	}
}

func FuzzIPConfig(f *testing.F) {
	f.Add([]byte("172.31.40.143 30050\n# b\n\nnode-2\n"))
	f.Add([]byte("fe80::1%eth0 1\r\na 65536"))
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			machines, err := parseIPConfig("f", b)
			if (err == nil) != (len(machines) > 0) {
				t.Fatalf("%v, %v", machines, err)
			}
			for _, m := range machines {
				if m.Port < 0 || m.Port > 65535 || m.Host == "" || strings.ContainsAny(m.Host, "@/ $`;\n\x00") || m.Host[0] == '-' || m.Line < 1 {
					t.Fatalf("found %+v", m)
				}
			}
		})
	})
}
