package autodiff

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gotile/gotile/internal/env"
)

// registry has every op of the program. New runs in package initialisation, so it reports nothing: NewTape does.
var registry struct {
	sync.Mutex
	names map[string]bool
	errs  []error
}

func register(c *core) {
	registry.Lock()
	defer registry.Unlock()
	if registry.names == nil {
		registry.names = map[string]bool{}
	}
	switch {
	case c.name == "" || strings.ContainsAny(c.name, " ,=/|\t\n"):
		c.err = &Error{Op: c.name, At: c.at.String(), Err: ErrSpec, Text: fmt.Sprintf("the op's name %q: a name is not empty and holds no blank, comma, slash, bar or equals sign, since ledgers and GOTILE_OFF list names", c.name)}
	case registry.names[c.name]:
		c.err = &Error{Op: c.name, At: c.at.String(), Err: ErrSpec, Text: "another op has this name, under which both would be counted; choose another"}
	}
	registry.names[c.name] = true
	env.AddOp(c.name)
	if c.err != nil {
		registry.errs = append(registry.errs, c.err)
	}
}

// Ops lists the names of the ops of the program, sorted.
func Ops() []string {
	registry.Lock()
	defer registry.Unlock()
	var out []string
	for name := range registry.names {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// registered is what is wrong with the program's ops.
func registered() error {
	registry.Lock()
	defer registry.Unlock()
	return errors.Join(registry.errs...)
}

// switchedOff reads GOTILE_OFF and the names of options.
func switchedOff(names []string) (map[string]bool, error) {
	off := map[string]bool{}
	names = append(env.SwitchedOff(), names...)
	if len(names) == 0 {
		return off, nil
	}
	all := Ops()
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, &Error{Op: "NewTape", Err: ErrUnknownOp, Text: fmt.Sprintf("%s or Off names the op %q; the program has %s", env.Off, name, strings.Join(all, ", "))}
		}
		off[name] = true
	}
	return off, nil
}
