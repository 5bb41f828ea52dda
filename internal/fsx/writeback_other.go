//go:build !linux

package fsx

import "os"

func startWriteback(*os.File) {}
