package command

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/gotile/gotile/internal/caps"
	"github.com/gotile/gotile/internal/target"
)

var capsCommand = &local{
	name:  "caps",
	short: "show what each GPU target has, what gotile emits for it, and what was verified",
	long: `
Caps prints the capability table: for each target and feature whether the hardware has it, whether gotile lowers it
(emits its instructions), and whether it was verified: by which cases, on which GPU. The last column is counted from
the receipts of gotile's own cases; "by proxy" is a run of the same text on another chip. With -target it is one target
in full, otherwise all in one word a cell.

Examples:

	gotile caps
	gotile caps -target sm_120a`,
	setup: func(f *flag.FlagSet) func(context.Context, []string, io.Writer, io.Writer) error {
		name := f.String("target", "", "show one `target` in full: "+strings.Join(target.Names(), ", "))
		asJSON := f.Bool("json", false, "print an array of objects, one a target and feature")
		return func(_ context.Context, _ []string, stdout, _ io.Writer) error {
			names := target.Names()
			if *name != "" {
				names = []string{*name}
			}
			var all [][]caps.Row
			for _, n := range names {
				rows, err := caps.Of(n)
				if err != nil {
					return usageError{err}
				}
				all = append(all, rows)
			}
			switch {
			case *asJSON:
				return capsJSON(stdout, all)
			case *name != "":
				return capsOf(stdout, *name, all[0])
			}
			return capsTable(stdout, names, all)
		}
	},
}

func capsJSON(w io.Writer, all [][]caps.Row) error {
	var flat []caps.Row
	for _, rows := range all {
		flat = append(flat, rows...)
	}
	return printJSON(w, flat)
}

// capsTable prints all targets: their numbers, then a word for each feature.
func capsTable(out io.Writer, names []string, all [][]caps.Row) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	line := func(head string, cell func(t *target.Target) string) {
		fmt.Fprint(w, head)
		for _, n := range names {
			t, err := target.Lookup(n)
			if err != nil { // names come from the table
				panic(err)
			}
			fmt.Fprintf(w, "\t%s", cell(t))
		}
		fmt.Fprintln(w)
	}
	line("", func(t *target.Target) string { return t.Name })
	line("compute capability", func(t *target.Target) string { return capability(t) })
	line("shared memory a block", func(t *target.Target) string { return fmt.Sprintf("%d KB", t.Shared>>10) })
	line("threads an SM", func(t *target.Target) string { return fmt.Sprint(t.Threads) })
	line("blocks a cluster", func(t *target.Target) string { return fmt.Sprint(t.Cluster) })
	for i, r := range all[0] {
		fmt.Fprint(w, r.Feature)
		for _, rows := range all {
			fmt.Fprintf(w, "\t%s", rows[i].Cell())
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(out, `
verified  gotile emits it, and cases with it ran on this target
proxy     gotile emits it, and the same text ran on another chip
lowered   gotile emits it and NVRTC compiles it; nothing ran
hardware  the chip has it; gotile does not emit it yet
avoided   the chip has it; gotile will not use it (gotile caps -target says why)
-         the chip has not got it
`)
	return err
}

func capability(t *target.Target) string { return fmt.Sprintf("%d.%d", t.CC/10, t.CC%10) }

// capsOf prints one target in full.
func capsOf(out io.Writer, name string, rows []caps.Row) error {
	t, err := target.Lookup(name)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: compute capability %s, %d KB of shared memory a block, %d threads an SM, ", t.Name, capability(t), t.Shared>>10, t.Threads)
	if t.Cluster > 1 {
		fmt.Fprintf(out, "clusters of up to %d blocks\n", t.Cluster)
	} else {
		fmt.Fprintln(out, "no clusters")
	}
	if t.Proxy != "" {
		fmt.Fprintf(out, "It stands in for %s: kernels of that target, compiled for %s.\n", t.Proxy, t.Arch)
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "feature\thardware\tlowered\tverified\twhat it is")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.Feature, yes(r.Hardware), lowered(r), short(r), r.Feature.Doc())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	head := "\n"
	for _, r := range rows {
		if r.Avoided != "" {
			fmt.Fprintf(out, "%s%s: not used, %s\n", head, r.Feature, r.Avoided)
			head = ""
		}
		for _, e := range r.Verified {
			fmt.Fprintf(out, "%s%s: %s\n", head, r.Feature, e)
			head = ""
		}
	}
	return nil
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func lowered(r caps.Row) string {
	switch {
	case !r.Hardware:
		return "-"
	case r.Avoided != "":
		return "avoided"
	}
	return yes(r.Lowered)
}

// short is the third column.
func short(r caps.Row) string {
	switch c := r.Cell(); {
	case c == "verified":
		return r.Verified[0].GPU
	case c == "proxy":
		return "by proxy"
	case r.Lowered:
		return "no"
	}
	return "-"
}
