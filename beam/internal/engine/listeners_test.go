//go:build cluster

package engine_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// children are the processes that a process has started and that run.
func children(pid string) ([]int, error) {
	// They are listed under the thread that started them.
	threads, err := filepath.Glob("/proc/" + pid + "/task/*/children")
	if err != nil {
		return nil, err
	}
	var list []int
	for _, name := range threads {
		b, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, child := range strings.Fields(string(b)) {
			pid, err := strconv.Atoi(child)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			list = append(list, pid)
		}
	}
	return list, nil
}

// loopback are the addresses of loopback as /proc/net has them.
var loopback = map[string]bool{"0100007F": true, strings.Repeat("0", 24) + "01000000": true, "0000000000000000FFFF00000100007F": true}

// onLoopback fails where a process that a script has started, or a child of one, listens beyond loopback.
func onLoopback(dir string) error {
	processes, err := os.ReadFile(filepath.Join(dir, "processes"))
	if err != nil {
		return err
	}
	open := map[string]string{} // addresses of listeners, by the names of their sockets
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		b, err := os.ReadFile(table)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); f[3] == "0A" { // listens
				open["socket:["+f[9]+"]"] = f[1]
			}
		}
	}
	found := 0
	for line := range strings.Lines(string(processes)) {
		f := strings.Fields(line)
		below, err := children(f[1])
		if err != nil {
			return err
		}
		pids := []string{f[1]}
		for _, pid := range below {
			pids = append(pids, strconv.Itoa(pid))
		}
		for _, pid := range pids {
			files, err := filepath.Glob("/proc/" + pid + "/fd/*")
			if err != nil {
				return err
			}
			for _, file := range files {
				socket, err := os.Readlink(file)
				if err != nil {
					continue // closed by now
				}
				address, listens := open[socket]
				if !listens {
					continue
				}
				found++
				if at, _, _ := strings.Cut(address, ":"); !loopback[at] {
					return fmt.Errorf("found %s, process %s, that listens at %s, expected loopback", f[0], pid, address)
				}
			}
		}
	}
	if found == 0 {
		return errors.New("found no listener, expected those of the job server")
	}
	return nil
}
