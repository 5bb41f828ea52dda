package lake

import (
	"strconv"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/isotime"
)

// Ref names a version of a table. The zero value is the newest one.
type Ref struct {
	// Version is the number of a commit, or the id of a snapshot, if HasVersion says so.
	Version    int64
	HasVersion bool
	// Time asks for the version that the table had then; the zero time: not asked for.
	Time time.Time
	// Name is the name of a branch or a tag; empty: not asked for.
	Name string
}

// CutRef cuts a version off the name of a table: "sales@version=12", "sales@time=2026-02-28T12:00:00Z", "sales@ref=audit". A
// name without one is returned whole.
func CutRef(name string) (table string, ref Ref, err error) {
	at := strings.LastIndex(name, "@")
	if at < 0 || strings.ContainsRune(name[at:], '/') {
		return name, ref, nil
	}
	if text, ok := strings.CutPrefix(name[at+1:], "version="); ok {
		ref.Version, err = strconv.ParseInt(text, 10, 64)
		if err != nil || ref.Version < 0 {
			return "", ref, Badf("%s: found the version %q, expected a whole number; give the number of a version of the table, or @time=2026-02-28T12:00:00Z", name, text)
		}
		ref.HasVersion = true
		return name[:at], ref, nil
	}
	if text, ok := strings.CutPrefix(name[at+1:], "time="); ok {
		t, ok := isotime.Parse([]byte(text))
		if !ok {
			return "", ref, Badf("%s: found the time %q, expected ISO 8601, such as 2026-02-28T12:00:00Z; correct it", name, text)
		}
		ref.Time = time.Unix(t.Seconds, int64(t.Nanos)).UTC()
		return name[:at], ref, nil
	}
	if text, ok := strings.CutPrefix(name[at+1:], "ref="); ok && text != "" {
		ref.Name = text
		return name[:at], ref, nil
	}
	return name, ref, nil
}

// String is the text that CutRef cuts off, with the @; empty for the newest version.
func (r Ref) String() string {
	switch {
	case r.HasVersion:
		return "@version=" + strconv.FormatInt(r.Version, 10)
	case !r.Time.IsZero():
		return "@time=" + r.Time.Format(time.RFC3339Nano)
	case r.Name != "":
		return "@ref=" + r.Name
	}
	return ""
}
