package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/gotile/gotile/cmd/gotile/command/worker"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/viz"
	"github.com/gotile/gotile/layout"
)

// layoutGrammar says how a layout is written.
const layoutGrammar = "a layout is shape:stride, nested alike, the first mode down and the others across: 8:1, (8,4):(4,1), (8,(2,4)):(4,(1,32))"

var vizCommand = &local{
	name:  "viz",
	short: "draw a layout, a fragment, a swizzle, bank conflicts or a kernel's shared memory",
	args:  "what ...",
	mixes: true,
	long: `
Viz draws, as text, or with -o as an SVG for light and dark pages:

  layout LAYOUT           the offset at each coordinate, coloured by bank
  fragment NAME           which thread holds each element of a fragment, as which of its values
  swizzle S               what a swizzle makes of the rows of a tile: 32, 64 or 128 bytes, or Sw<bits,base,shift>
  banks FRAGMENT LAYOUT   how a warp's accesses to shared memory spread over the banks, if it holds FRAGMENT and the
                          tile lies there as LAYOUT says; conflicts are outlined, in text marked by !
  banks LAYOUT            the same of one access, LAYOUT being the map from lane to byte address
  kernel PACKAGE [NAME]   what lies where in a kernel's shared memory, and when it is needed

A layout is shape:stride, nested alike, the first mode down and the others across. The fragments are:

` + viz.FragmentNames + `

Examples:

	gotile viz layout '(8,(2,4)):(4,(1,32))'
	gotile viz fragment mma.m16n8k16.A
	gotile viz swizzle 128 -o swizzle.svg
	gotile viz banks ldmatrix.x4.source '(16,64):(64,1)'
	gotile viz banks ldmatrix.x4.source '(16,64):(64,1)' -swizzle 128
	gotile viz banks 32:128 -width 4
	gotile viz kernel ./kernels/rmsnorm rmsnorm_bwd_bf16_bf16_c1024_v`,
	setup: func(f *flag.FlagSet) func(context.Context, []string, io.Writer, io.Writer) error {
		v := &vizFlags{}
		f.StringVar(&v.out, "o", "", "write an SVG into `file`, - for standard output")
		f.IntVar(&v.columns, "columns", worker.TextColumns, "width of the text")
		f.IntVar(&v.elem, "elem", 0, "layout, banks: bytes of an element; default: the fragment's, 4 of a LAYOUT alone")
		f.IntVar(&v.width, "width", 0, "banks: bytes that a lane accesses at once; default: 4 of a LAYOUT alone, else as many as lie together, up to 16")
		f.StringVar(&v.swizzle, "swizzle", "none", "layout, banks: swizzle of byte addresses: none, 32, 64, 128 or Sw<bits,base,shift>")
		f.StringVar(&v.target, "target", "", "kernel: `target` to lower for: "+strings.Join(target.Names(), ", ")+"; default: the first one that the kernel claims")
		f.StringVar(&v.tags, "tags", "", "kernel: comma-separated build `tags`, as for go build")
		return func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
			args, err := interspersed(f, args)
			if errors.Is(err, flag.ErrHelp) {
				return err
			} else if err != nil {
				return usageError{err}
			}
			if len(args) > 0 && args[0] == "kernel" {
				return v.kernel(ctx, args[1:], stdout, stderr)
			}
			p, err := v.draw(args)
			if err != nil {
				return usageError{err}
			}
			return worker.Show(p, v.out, v.columns, func(format string, args ...any) { fmt.Fprintf(stdout, format, args...) })
		}
	},
}

// interspersed parses flags that stand among and after the arguments, too.
func interspersed(f *flag.FlagSet, args []string) ([]string, error) {
	var out []string
	for len(args) > 0 {
		out = append(out, args[0])
		if err := f.Parse(args[1:]); err != nil {
			return nil, fmt.Errorf("%w; run gotile viz -h", err)
		}
		args = f.Args()
	}
	return out, nil
}

type vizFlags struct {
	out, swizzle, target, tags string
	columns, elem, width       int
}

// draw makes the picture of all but kernels.
func (v *vizFlags) draw(args []string) (*viz.Picture, error) {
	what, args := "", args
	if len(args) > 0 {
		what, args = args[0], args[1:]
	}
	s, err := readSwizzle(v.swizzle)
	if err != nil {
		return nil, fmt.Errorf("-swizzle: %w", err)
	}
	switch {
	case what == "layout" && len(args) == 1:
		l, err := readLayout(args[0])
		if err != nil {
			return nil, err
		}
		elem, err := v.elemOf(32)
		if err != nil {
			return nil, err
		}
		return viz.DrawLayout(l, s, elem)
	case what == "fragment" && len(args) == 1:
		f, err := viz.Named(args[0])
		if err != nil {
			return nil, err
		}
		return viz.DrawFragment(f)
	case what == "swizzle" && len(args) == 1:
		s, err := readSwizzle(args[0])
		if err != nil {
			return nil, err
		}
		return viz.DrawSwizzle(s)
	case what == "banks" && len(args) == 1:
		return v.lanes(args[0], s)
	case what == "banks" && len(args) == 2:
		return v.fragment(args[0], args[1], s)
	}
	return nil, fmt.Errorf("%q: want layout LAYOUT, fragment NAME, swizzle S, banks [FRAGMENT] LAYOUT or kernel PACKAGE [NAME]; run gotile viz -h",
		strings.Join(append([]string{what}, args...), " "))
}

// elemOf is the size of an element, in bytes.
func (v *vizFlags) elemOf(bits int) (int, error) {
	switch {
	case v.elem != 0:
		return v.elem, nil
	case bits%8 != 0:
		return 0, fmt.Errorf("elements of %d bits: banks are counted of whole bytes", bits)
	}
	return bits / 8, nil
}

// lanes draws one access whose lanes' byte addresses a layout gives.
func (v *vizFlags) lanes(text string, s layout.Swizzle) (*viz.Picture, error) {
	l, err := readLayout(text)
	if err != nil {
		return nil, err
	}
	if n := l.Size(); n > layout.WarpSize {
		return nil, fmt.Errorf("%s has %d lanes; a warp has %d: the layout is the map from lane to byte address", l, n, layout.WarpSize)
	}
	width := v.width
	if width == 0 {
		width = layout.BankWord
	}
	var a layout.WarpAccess
	for _, addr := range l.Offsets() {
		a.Addr = append(a.Addr, s.Apply(addr))
	}
	if a.Cost, err = layout.CountBanks(a.Addr, width); err != nil {
		return nil, err
	}
	return viz.DrawBanks("lane l at byte "+l.String()+with(s), []layout.WarpAccess{a}, width)
}

// fragment draws the accesses of a fragment's warps to a tile.
func (v *vizFlags) fragment(name, text string, s layout.Swizzle) (*viz.Picture, error) {
	f, err := viz.Named(name)
	if err != nil {
		return nil, err
	}
	l, err := readLayout(text)
	if err != nil {
		return nil, err
	}
	elem, err := v.elemOf(f.Bits)
	if err != nil {
		return nil, err
	}
	elements, err := s.Elements(elem)
	if err != nil {
		return nil, err
	}
	tile, err := elements.Compose(0, l)
	if err != nil {
		return nil, err
	}
	width := v.width
	if width == 0 {
		width = min(16, f.Dist.Vec()*elem)
	}
	all, err := f.Dist.Accesses(tile, elem, width)
	if err != nil {
		return nil, err
	}
	return viz.DrawBanks(fmt.Sprintf("%s in %s%s, %d-byte elements", name, l, with(s), elem), all, width)
}

func with(s layout.Swizzle) string {
	if s.Bits() == 0 {
		return ""
	}
	return " with " + s.String()
}

// kernel draws the shared memory of a kernel, by a program built for its package.
func (v *vizFlags) kernel(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) < 1 || len(args) > 2 {
		return usageError{errors.New("want kernel PACKAGE [NAME], such as kernel ./kernels/rmsnorm rmsnorm_fwd_bf16_bf16_c4096_v")}
	}
	if v.target != "" {
		if _, err := target.Lookup(v.target); err != nil {
			return usageError{err}
		}
	}
	inv := invocation{command: worker.VizKernel, tags: v.tags, stdout: stdout, stderr: stderr}
	out := v.out
	if out != "-" {
		out = fromHere(out, false)
	}
	inv.flags = []string{"-target=" + v.target, "-out=" + out, fmt.Sprintf("-columns=%d", v.columns)}
	if len(args) == 2 {
		inv.flags = append(inv.flags, "-kernel="+args[1])
	}
	if inv.run(ctx, args[:1]) != exitOK {
		return errSaid
	}
	return nil
}

func readLayout(text string) (layout.Layout, error) {
	l, err := layout.Parse(text)
	if err != nil {
		return l, fmt.Errorf("%w; %s", err, layoutGrammar)
	}
	return l, nil
}

// readSwizzle reads a swizzle by the length of its rows in bytes, or in CuTe's form.
func readSwizzle(text string) (layout.Swizzle, error) {
	switch text {
	case "none", "0":
		return layout.NoSwizzle, nil
	case "32":
		return layout.Swizzle32, nil
	case "64":
		return layout.Swizzle64, nil
	case "128":
		return layout.Swizzle128, nil
	}
	s, err := layout.ParseSwizzle(text)
	if err != nil {
		return s, fmt.Errorf("%w; a swizzle is 32, 64, 128 (bytes a row), none, or Sw<bits,base,shift> such as Sw<3,4,3>", err)
	}
	return s, nil
}
