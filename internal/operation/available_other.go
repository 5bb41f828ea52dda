//go:build !linux && !darwin

package operation

import "github.com/graphmill/graphmill/internal/vfs"

// available is 0 here, which means that the available memory is unknown.
func available(vfs.FS) int64 { return 0 }
