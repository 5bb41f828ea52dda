package vfs

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ErrLocked is returned by FS.Lock for a folder that another process holds.
var ErrLocked = errors.New("held by another process")

// ErrLockFile is an ErrLocked of LockFile.
var ErrLockFile = fmt.Errorf("%w", ErrLocked)

// LockSuffix ends the name of the file, or the key of the object, that is the lock of a folder.
const LockSuffix = ".lock"

// holder is the text of a lock file: what names a process. Only pid and host are set where the system does not tell the rest.
type holder struct {
	pid  int
	host string
	// place is the running system and the namespaces in which pid means the process: the identifier of this boot, which no other
	// machine has, and the namespaces of processes and of the network. Two processes of one place see the same processes, and the
	// same abstract sockets.
	place string
	// start is the time at which the process began, in ticks since the boot. A later process of the same pid has another one.
	start string
	// nonce differs between any two locks.
	nonce string
}

func (h holder) String() string {
	if h.place == "" {
		return fmt.Sprintf("%d %s", h.pid, h.host)
	}
	return fmt.Sprintf("%d %s %s %s %s", h.pid, h.host, h.place, h.start, h.nonce)
}

// self is a holder for a new lock of this process.
func self() (holder, error) {
	host, err := os.Hostname()
	if err != nil {
		return holder{}, err
	}
	h := holder{pid: os.Getpid(), host: host}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	pids, err2 := os.Readlink("/proc/self/ns/pid")
	nets, err3 := os.Readlink("/proc/self/ns/net")
	seen, err4 := os.Readlink("/proc/self")
	start, err5 := started(h.pid)
	if errors.Join(err, err2, err3, err4, err5) != nil || seen != strconv.Itoa(h.pid) { // no /proc, or the /proc of another namespace
		return h, nil
	}
	h.place, h.start, h.nonce = strings.TrimSpace(string(boot))+","+pids+","+nets, start, rand.Text()
	return h, nil
}

// started is the time at which a process began, as /proc has it.
func started(pid int) (string, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// The name of the program, in parentheses, may hold anything. The state after it is field 3, the start is field 22.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 20 {
		return "", fmt.Errorf("/proc/%d/stat: found %d fields, expected more", pid, len(fields)+2)
	}
	return fields[19], nil
}

// readHolder reads a lock file.
func readHolder(name string) (h holder, err error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return h, err
	}
	return parseHolder(string(b))
}

// parseHolder reads the text of a lock.
func parseHolder(text string) (h holder, err error) {
	fields := strings.Fields(text)
	switch len(fields) {
	case 5:
		h.place, h.start, h.nonce = fields[2], fields[3], fields[4]
	case 2:
	default:
		return h, fmt.Errorf("found %d words, expected 2 or 5", len(fields))
	}
	h.host = fields[1]
	if h.pid, err = strconv.Atoi(fields[0]); err == nil && h.pid <= 0 {
		err = fmt.Errorf("found process %d", h.pid)
	}
	return h, err
}

// ended says whether the process of the lock h is known to have ended. It is not known where h has another place than me: the boot may
// differ because the machine started anew, or because it is another machine with the same name.
func (h holder) ended(me holder) bool {
	if me.place == "" || h.place != me.place || h.host != me.host {
		return false
	}
	if gone(h.pid) {
		return true
	}
	start, err := started(h.pid)
	return err == nil && start != h.start
}

// Process is a text that names this process in a lock, and differs between any two locks.
func Process() (string, error) {
	me, err := self()
	return me.String(), err
}

// ProcessOf describes the process that a text of Process names. ended says that it is known to have ended.
func ProcessOf(text string) (who string, ended bool, err error) {
	h, err := parseHolder(text)
	if err != nil {
		return "", false, err
	}
	me, err := self()
	if err != nil {
		return "", false, err
	}
	return fmt.Sprintf("process %d on %s", h.pid, h.host), h.ended(me), nil
}
