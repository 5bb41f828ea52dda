//go:build !linux && !darwin && !windows

package operation

import "github.com/graphmill/graphmill/internal/vfs"

// Available is 0 here, which means that the available memory is unknown.
func Available(vfs.FS) int64 { return 0 }
