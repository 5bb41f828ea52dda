//go:build !linux

package extsort

func adviseHuge([]byte) {}
