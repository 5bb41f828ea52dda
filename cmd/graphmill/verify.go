package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/fsx"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/store"
)

func newVerify(t *terminal) *cobra.Command {
	var c common
	cmd := &cobra.Command{
		Use:   "verify FOLDER",
		Short: "Find any flipped bit, cut or missing file of an output folder",
		Long: `Reads every file of an output folder and compares it with the manifest. Of a
store or collection it also checks that the arrays mean a graph: offsets
ascend, ids are in range, the id index finds every id.`,
		Example: `  graphmill verify g.store
  graphmill verify samples --json`,
		Args: oneArg("one FOLDER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(); err != nil {
				return err
			}
			start := time.Now()
			total, _ := store.Size(fsx.OS, args[0]) // of a damaged folder it is unknown
			line := t.progress("verify", total, "bytes")
			v, err := store.Verify(cmd.Context(), fsx.OS, args[0], c.threads, func(n int64) { line.Add(n) })
			line.Done()
			if err != nil {
				return err
			}
			if err := t.printVerified(args[0], v, c.json, time.Since(start)); err != nil {
				return err
			}
			if len(v.Damage) > 0 {
				return errDamage
			}
			return nil
		},
	}
	c.addThreads(cmd)
	return cmd
}

func (t *terminal) printVerified(dir string, v *store.Verified, asJSON bool, d time.Duration) error {
	if asJSON {
		e := json.NewEncoder(t.stdout)
		e.SetIndent("", " ")
		return e.Encode(struct {
			Folder string `json:"folder"`
			OK     bool   `json:"ok"`
			*store.Verified
			Seconds float64 `json:"seconds"`
		}{dir, len(v.Damage) == 0, v, d.Seconds()})
	}
	for _, u := range v.Unknown {
		t.warn("%s: %s is not in the manifest; it was not written by graphmill", dir, human.Printable(u))
	}
	for _, x := range v.Damage {
		fmt.Fprintf(t.stdout, "damaged  %s: found %s\n", human.Printable(x.File), human.Printable(x.Found))
	}
	if len(v.Damage) > 0 {
		fmt.Fprintf(t.stdout, "%s: %d damaged; make it again\n", dir, len(v.Damage))
		return nil
	}
	fmt.Fprintf(t.stdout, "%s: whole (%d files, %s, %s)\n", dir, v.Files, human.Bytes(v.Bytes), human.Rate(v.Bytes, d, "bytes"))
	return nil
}
