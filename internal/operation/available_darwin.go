package operation

import (
	"golang.org/x/sys/unix"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Available returns the bytes of memory that can be taken without harm to other programs: the free pages, and those that
// hold parts of files, which the system drops when memory is short. macOS has no control groups. 0 means unknown.
func Available(vfs.FS) int64 {
	page, err := unix.SysctlUint32("vm.pagesize")
	if err != nil {
		return 0
	}
	var pages int64
	for _, name := range []string{"vm.page_free_count", "vm.page_pageable_external_count"} {
		n, err := unix.SysctlUint32(name)
		if err != nil {
			return 0
		}
		pages += int64(n)
	}
	total, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return min(pages*int64(page), int64(total)) //nolint:gosec // no machine has 2^63 bytes
}
