package command

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gotile/gotile/internal/wholefile"
)

var initCommand = &local{
	name:  "init",
	args:  "DIR",
	short: "write a package of kernels to start from",
	long: `
Init writes a package with a kernel, its test cases, a benchmark and the go:generate line into DIR, which must be new or
empty, generates it, and says what to run next. The package is called as DIR is. Where DIR is in no Go module it
becomes one, which requires this gotile; in a module that has no gotile yet, gotile is added.

Examples:

	gotile init kernels
	gotile init -name attention -module example.com/fast/attention my-kernels`,
	setup: func(f *flag.FlagSet) func(context.Context, []string, io.Writer, io.Writer) error {
		s := &starter{}
		f.StringVar(&s.name, "name", "", "`name` of the package, where that of DIR will not do")
		f.StringVar(&s.module, "module", "", "`path` of the new module; default: example.com/ and the package's name")
		f.StringVar(&s.replace, "replace", "", "clone of gotile, as a `directory`, that the module is to use instead of a release")
		return func(ctx context.Context, args []string, stdout, _ io.Writer) error {
			if len(args) != 1 {
				return usageError{fmt.Errorf("name one directory for the package; run gotile init -h")}
			}
			return s.write(ctx, args[0], stdout)
		}
	},
}

//go:embed starter/*.txt
var starterFiles embed.FS

// starter is a package to be written.
type starter struct {
	name, module, replace string // flags
	dir                   string // absolute
}

func (s *starter) write(ctx context.Context, dir string, stdout io.Writer) error {
	var err error
	if s.dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if err := s.check(dir); err != nil {
		return usageError{err}
	}
	mod, err := findModule(ctx, s.dir)
	if err != nil {
		return err
	}
	if mod.file != "" && s.module != "" {
		return usageError{fmt.Errorf("-module: %s is in module %s already, of %s; leave the flag out, or name a directory outside", dir, mod.path, mod.file)}
	}
	use, err := s.gotile(mod)
	if err != nil {
		return err
	}
	if err := s.files(mod, stdout); err != nil {
		return err
	}
	if mod.file == "" {
		text := fmt.Sprintf("module %s\n\ngo 1.26.0\n", s.module)
		if err := wholefile.Write(filepath.Join(s.dir, "go.mod"), []byte(text)); err != nil {
			return err
		}
	}
	steps := append(use, []string{"generate"})
	for i, args := range steps {
		fmt.Fprintf(stdout, "go %s\n", strings.Join(args, " "))
		if err := goIn(ctx, s.dir, args...); err != nil {
			rest := ""
			for _, args := range steps[i:] {
				rest += "\n\tgo " + strings.Join(args, " ")
			}
			return fmt.Errorf("%w\nthe files are written; when that is mended, run in %s:%s", err, dir, rest)
		}
	}
	fmt.Fprintf(stdout, "\nPackage %s is ready. Next, in %s:\n\n\tgo test               # the cases, on the simulator or the GPU\n"+
		"\tgo generate           # after each change of a kernel\n\t%-21s # compile it for every target\n", s.name, dir, mod.command()+" check")
	return nil
}

// check refuses names and directories that would not do, before anything is written.
func (s *starter) check(dir string) error {
	if s.name == "" {
		s.name = filepath.Base(s.dir)
		if err := packageName(s.name); err != nil {
			return fmt.Errorf("%w; choose another: gotile init -name kernels %s", err, dir)
		}
	} else if err := packageName(s.name); err != nil {
		return fmt.Errorf("-name: %w", err)
	}
	if s.module == "" {
		// decided when it is known that there is no module
	} else if strings.ContainsAny(s.module, " \t\\\"") || strings.HasPrefix(s.module, "/") || strings.HasSuffix(s.module, "/") {
		return fmt.Errorf("-module: %q is no module path, such as example.com/%s", s.module, s.name)
	}
	if base := filepath.Base(s.dir); base == "vendor" || base == "testdata" || strings.HasPrefix(base, "_") || strings.HasPrefix(base, ".") {
		return fmt.Errorf("the go command ignores directories called %s; choose another", base)
	}
	held, err := os.ReadDir(s.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(held) > 0:
		return fmt.Errorf("%s is not empty (it holds %s); name a new directory", dir, held[0].Name())
	}
	return nil
}

// packageName says why a name cannot be a package's that others import.
func packageName(name string) error {
	switch {
	case !token.IsIdentifier(name) || name == "_":
		return fmt.Errorf("%q is not a Go package name: letters and digits, and no keyword", name)
	case name == "main" || name == "init" || strings.HasSuffix(name, "_test"):
		return fmt.Errorf("a package called %s cannot be imported", name)
	}
	return nil
}

// files writes the package, but for what is generated.
func (s *starter) files(mod userModule, stdout io.Writer) error {
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return err
	}
	entries, err := fs.ReadDir(starterFiles, "starter")
	if err != nil {
		return err
	}
	fill := strings.NewReplacer("PACKAGE", s.name, "GENERATE", mod.command())
	for _, e := range entries {
		text, err := fs.ReadFile(starterFiles, "starter/"+e.Name())
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(e.Name(), ".txt")
		if name == "gitattributes" {
			name = ".gitattributes"
		}
		if err := wholefile.Write(filepath.Join(s.dir, name), []byte(fill.Replace(string(text)))); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "wrote %s\n", name)
	}
	return nil
}

// gotile gives the go commands that make the module use gotile.
func (s *starter) gotile(mod userModule) ([][]string, error) {
	if mod.path == modulePath || slices.Contains(mod.tools, toolPath) && s.replace == "" {
		return nil, nil
	}
	if mod.file == "" && s.module == "" {
		s.module = "example.com/" + s.name
	}
	if mod.requires && s.replace == "" {
		return addTool(), nil
	}
	version, clone := ownVersion()
	if s.replace != "" {
		abs, err := filepath.Abs(s.replace)
		if err != nil {
			return nil, err
		}
		if !isClone(abs) {
			return nil, usageError{fmt.Errorf("-replace: %s is no clone of gotile: its go.mod is not that of %s", s.replace, modulePath)}
		}
		version, clone = "", abs
	}
	switch {
	case version != "":
		return [][]string{{"get", "-tool", toolPath + "@" + version}}, nil
	case clone != "":
		return addTool("-require="+modulePath+"@v0.0.0", "-replace="+modulePath+"="+clone), nil
	}
	return nil, fmt.Errorf("this gotile was built from a work tree that is not here; say with -replace which clone of gotile the module is to use")
}

// addTool gives the go commands that make gotile a tool of a module that requires it. "go get -tool" would not do where
// gotile is replaced by a clone: it asks the network whether a module cmd/gotile exists, even so.
func addTool(edits ...string) [][]string {
	return [][]string{append(append([]string{"mod", "edit"}, edits...), "-tool="+toolPath), {"list", "-mod=mod", "-deps", "tool"}}
}
