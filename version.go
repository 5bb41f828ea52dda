package graphmill

import (
	"runtime/debug"
	"strings"
)

// release names the release that this source becomes.
const release = "0.1.0"

// Version is the version of the module, such as "0.1.0". Outputs name it in what they were made by.
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
