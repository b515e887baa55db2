package worker

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/gotile/gotile/internal/printed"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/viz"
	"github.com/gotile/gotile/internal/wholefile"
	"github.com/gotile/gotile/tile"
)

// VizKernel is what gotile viz kernel does inside a package. It is no command of its own, so the table has not got it.
var VizKernel = &Command{
	Name:  "viz",
	Short: "draw the shared memory of one kernel",
	Long:  "The part of gotile viz kernel that is done inside the package; see gotile viz -h.",
	flags: func(f *flag.FlagSet, o *Options) {
		f.StringVar(&o.Run, "kernel", "", "the `name` of the kernel")
		f.StringVar(&o.Target, "target", "", "`target` to lower for: "+strings.Join(target.Names(), ", ")+"; default: the first one that the kernel claims")
		f.StringVar(&o.Out, "out", "", "write an SVG into `file`, - for standard output")
		f.IntVar(&o.Columns, "columns", TextColumns, "width of the text")
	},
}

func init() {
	VizKernel.do = func(_ context.Context, j *job) error { return j.viz() }
}

// TextColumns is how wide text is drawn where nothing else is said.
const TextColumns = 120

func (j *job) viz() error {
	k, err := j.kernel(j.Options.Run)
	if err != nil {
		return err
	}
	if j.Target == "" {
		j.Target = printed.Claims(k.IR())[0]
	}
	t, err := target.Lookup(j.Target)
	if err != nil {
		return err
	}
	low, err := k.Lower(j.Target)
	if err != nil {
		return err
	}
	p, err := viz.DrawPlan(viz.PlanOf(low, t.Shared))
	if err != nil {
		return err
	}
	return Show(p, j.Out, j.Columns, j.printf)
}

// someNames is how many names an error lists.
const someNames = 20

// kernel builds the kernel of a name; where the package has one alone it need not be named.
func (p *Package) kernel(name string) (*tile.Kernel, error) {
	set := p.Kernels()
	names := set.Names()
	if name == "" && len(names) == 1 {
		name = names[0]
	}
	if slices.Contains(names, name) {
		return built(set.Build, name)
	}
	like := slices.DeleteFunc(names, func(n string) bool { return !strings.Contains(n, name) })
	list := strings.Join(like[:min(len(like), someNames)], "\n\t")
	if len(like) > someNames {
		list += fmt.Sprintf("\n\tand %d more; a part of a name lists those that have it", len(like)-someNames)
	}
	switch {
	case len(like) == 0:
		return nil, fmt.Errorf("no kernel has %q in its name; leave it out to see the names", name)
	case name == "":
		return nil, fmt.Errorf("which kernel? Name one after the package:\n\t%s", list)
	}
	return nil, fmt.Errorf("no kernel is named %q; these have it in their names:\n\t%s", name, list)
}

// Show writes a picture as SVG into a file, or prints it: as text where out is empty, as SVG where it is -.
func Show(p *viz.Picture, out string, columns int, printf func(string, ...any)) error {
	switch out {
	case "":
		printf("%s", p.Text(columns))
		return nil
	case "-":
		printf("%s", p.SVG())
		return nil
	}
	if err := wholefile.Write(out, []byte(p.SVG())); err != nil {
		return err
	}
	printf("wrote %s\n", out)
	return nil
}
