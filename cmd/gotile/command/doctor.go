package command

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"

	"github.com/gotile/gotile/cmd/gotile/command/doctor"
)

var doctorCommand = &local{
	name:  "doctor",
	short: "say what gotile finds on this machine, and how to get what is missing",
	long: `
Doctor looks for what gotile can use: Go and the module, the driver and its GPUs, NVRTC, the cache of compiled kernels,
the headers for -tags gorgonia, and environment variables. For each thing that is missing it prints the one command
that brings it. The exit code is 0 where kernels can be generated and simulated, which takes Go alone. It changes
nothing.

With -why it shows the lookups of one kernel in the cache, and why each that missed did: the kernel was compiled then.

Examples:

	gotile doctor
	gotile doctor -why softmax_bf16_c4096`,
	warns: true,
	setup: func(f *flag.FlagSet) func(context.Context, []string, io.Writer, io.Writer) error {
		asJSON := f.Bool("json", false, "print one object for programs")
		why := f.String("why", "", "show the lookups of one `kernel` in the cache instead")
		return func(ctx context.Context, _ []string, stdout, _ io.Writer) error {
			if *why != "" {
				return showLookups(stdout, *why, *asJSON)
			}
			return examine(ctx, doctor.This(), stdout, *asJSON)
		}
	},
}

// examine prints a machine's report. What is missing is no failure; that the main job does not work is.
func examine(ctx context.Context, m *doctor.Machine, stdout io.Writer, asJSON bool) error {
	r := doctor.Examine(ctx, m)
	var err error
	if asJSON {
		err = printJSON(stdout, r)
	} else {
		err = r.Text(stdout)
	}
	if err == nil && !r.MainJob() {
		err = errSaid
	}
	return err
}

// maxLookups is how many are shown, the latest.
const maxLookups = 20

func showLookups(stdout io.Writer, kernel string, asJSON bool) error {
	all, err := doctor.Lookups(kernel)
	switch {
	case err != nil:
		return err
	case len(all) == 0:
		return fmt.Errorf("the cache was not asked for a kernel %s that it remembers; kernels are compiled at their first launch on a GPU", kernel)
	}
	all = all[max(0, len(all)-maxLookups):]
	if asJSON {
		return printJSON(stdout, all)
	}
	for _, l := range all {
		fmt.Fprintln(stdout, l)
	}
	return nil
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "\t")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
