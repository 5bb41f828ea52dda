package extsort

import "golang.org/x/sys/unix"

func adviseHuge(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) } // a hint: without huge pages the memory is only slower
