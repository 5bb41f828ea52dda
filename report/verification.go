package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/graphmill/graphmill/internal/human"
)

// Verification is the result of Verify. Its JSON is what the command verify prints with --json.
type Verification struct {
	Folder string `json:"folder"`
	OK     bool   `json:"ok"` // no damage was found, and no file that is not in the manifest
	// Verified is the comparison with the manifest; nil if the folder has none.
	*Verified
	// Partition is the check of the parts of a graph; nil for any other folder.
	Partition *PartsCheck `json:"partition,omitempty"`
	// PartsHere lists the parts in a folder that holds only some parts of a graph, as on each machine of a cluster.
	PartsHere []int `json:"parts_here,omitempty"`
	// Compared is the comparison of subgraphs with a store; nil without one.
	Compared *Compared `json:"compared,omitempty"`
	Seconds  float64   `json:"seconds"` // elapsed time
}

// Warnings lists findings that are not damage, such as types of which a part owns nothing.
func (v *Verification) Warnings() (list []string) {
	if v.Partition != nil {
		for _, n := range v.Partition.Notes {
			list = append(list, fmt.Sprintf("%s: %s", v.Folder, n))
		}
	}
	return list
}

// Text writes the verification in words.
func (v *Verification) Text(out io.Writer) error {
	var b strings.Builder
	if x := v.Verified; x != nil {
		for _, d := range x.Damage {
			fmt.Fprintf(&b, "damaged  %s: found %s\n", human.Printable(d.File), human.Printable(d.Found))
		}
		for _, u := range x.Unknown {
			fmt.Fprintf(&b, "unknown  %s: not in the manifest, so graphmill did not write it\n", human.Printable(u))
		}
		if len(x.Damage) > 0 {
			fmt.Fprintf(&b, "%s: %s damaged; make the folder again\n", v.Folder, human.Counted(int64(len(x.Damage)), "file"))
		}
		if len(x.Unknown) > 0 {
			fmt.Fprintf(&b, "%s: %s not in the manifest; move what is yours to another folder\n", v.Folder, human.Counted(int64(len(x.Unknown)), "path"))
		}
		if len(x.Damage)+len(x.Unknown) > 0 {
			// The folder is not whole.
		} else if c := v.Compared; c != nil && c.Fault != "" {
			fmt.Fprintf(&b, "wrong  %s\n%s: the subgraphs were not drawn from %s as it is now; sample them again\n", human.Printable(c.Fault), v.Folder, c.Store)
		} else if v.PartsHere != nil {
			fmt.Fprintf(&b, "%s: whole (parts %s of a graph, %d files, %s); only checksums were compared, because the other parts are elsewhere\n",
				v.Folder, strings.Trim(fmt.Sprint(v.PartsHere), "[]"), x.Files, human.Bytes(x.Bytes))
		} else if v.Partition == nil {
			fmt.Fprintf(&b, "%s: whole (%d files, %s, %s%s)\n", v.Folder, x.Files, human.Bytes(x.Bytes), human.Rate(x.Bytes, human.Seconds(v.Seconds), "bytes"), v.Compared.text())
		}
	}
	if p := v.Partition; p != nil {
		compared := ""
		if p.ComparedEdges > 0 || p.ComparedRows > 0 {
			compared = fmt.Sprintf("; %s edges and %s rows of features compared with the store", human.Exact(p.ComparedEdges), human.Exact(p.ComparedRows))
		}
		switch {
		case p.Fault != nil:
			fmt.Fprintf(&b, "wrong  %s\n%s: the parts are not whole; make them again\n", human.Printable(p.Fault.Error()), v.Folder)
		case v.Verified == nil || len(v.Damage)+len(v.Unknown) == 0:
			fmt.Fprintf(&b, "%s: whole (%d parts, %s nodes, %s edges, halo_hops %d%s)\n", v.Folder, p.Parts, human.Exact(p.Nodes), human.Exact(p.Edges), p.HaloHops, compared)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// Compared is what Verify found of subgraphs that it compared with the store that they were sampled from.
type Compared struct {
	Store   string `json:"store"`
	Edges   int64  `json:"edges,omitempty"`   // of a collection: compared with the edges of the store that have their ids
	Records int64  `json:"records,omitempty"` // of TFRecords: compared with those that are drawn anew
	Fault   string `json:"fault,omitempty"`   // the first difference; empty: none
}

// text is the end of the sentence about a whole folder.
func (c *Compared) text() string {
	switch {
	case c == nil:
		return ""
	case c.Records > 0:
		return fmt.Sprintf("; %s compared with what is drawn from the store", human.Counted(c.Records, "record"))
	}
	return fmt.Sprintf("; the ends of %s compared with the store", human.Counted(c.Edges, "edge"))
}
