package graphmill

import (
	"runtime/debug"
	"strings"
)

// release is the version of the release that this source will become.
const release = "0.1.0"

// Version returns the version of the module, such as "0.1.0". Outputs record the version that made them.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release
	}
	const path = "github.com/graphmill/graphmill"
	version := ""
	if info.Main.Path == path {
		version = info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == path && m.Replace == nil {
			version = m.Version
		}
	}
	if version == "" || version == "(devel)" {
		return release
	}
	return strings.TrimPrefix(version, "v")
}
