package command

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"

	"github.com/gotile/gotile/bench/report"
	"github.com/gotile/gotile/internal/wholefile"
)

// ownResults is where bench -out puts results by the documentation's example.
const ownResults = "bench/results"

var reportCommand = &local{
	name:  "report",
	short: "show results of bench as an HTML page",
	args:  "[results]",
	long: `
Report writes one HTML page of results that gotile bench has written: files, or folders with such files; with none
named it is ` + ownResults + `. Bars show every contender of every shape beside the plain copy that bounds them, with the
spread of the rounds; the same figures stand in tables to copy. The page needs no network and nothing beside it.

Example:

	gotile report -o h200.html bench/results/h200/rmsnorm.json`,
	setup: func(f *flag.FlagSet) func(context.Context, []string, io.Writer, io.Writer) error {
		out := f.String("o", "report.html", "`file` of the page; - for standard output")
		return func(_ context.Context, args []string, stdout, _ io.Writer) error {
			return writeReport(*out, args, stdout)
		}
	},
}

func writeReport(out string, paths []string, stdout io.Writer) error {
	if len(paths) == 0 {
		paths = []string{ownResults}
	}
	files, err := report.Load(paths)
	if errors.Is(err, fs.ErrNotExist) {
		return usageError{fmt.Errorf("%w; name files that gotile bench -out has written, or their folder", err)}
	} else if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := report.Write(&text, files); err != nil {
		return err
	}
	if out == "-" {
		_, err := text.WriteTo(stdout)
		return err
	}
	if err := wholefile.Write(out, text.Bytes()); err != nil {
		return err
	}
	fmt.Fprintln(stdout, "wrote", out)
	return nil
}
