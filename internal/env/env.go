// Package env is the table of the environment variables that gotile reads. Nothing here runs in an init function:
// commands and tapes ask for Unknown when they start.
package env

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// The variables.
const (
	NVRTC       = "GOTILE_NVRTC"
	Cache       = "GOTILE_CACHE"
	Device      = "GOTILE_DEVICE"
	Dump        = "GOTILE_DUMP"
	Lines       = "GOTILE_LINES"
	Conformance = "GOTILE_CONFORMANCE"
	Off         = "GOTILE_OFF"
	Watchdog    = "GOTILE_WATCHDOG"
)

// prefix is what all of them begin with.
const prefix = "GOTILE_"

// Var is one row of the table.
type Var struct {
	Name string
	Doc  string // one line, without a full stop
}

var table = []Var{
	{Cache, "directory of compiled kernels, or off; default: gotile in the user's cache directory"},
	{Conformance, "directory with inputs and results of reference implementations, for the tests that compare with them"},
	{Device, "device that programs use when none is named: sim, cuda:0, cuda:1, ...; default: cuda:0 if there is one, else sim"},
	{Dump, "directory into which the IR of every kernel is written after every pass"},
	{Lines, "1 compiles kernels with the lines of their Go source, for compute-sanitizer, ncu and other tools; see docs/debugging.md"},
	{NVRTC, "path of libnvrtc; default: the system's, a toolkit's or a pip wheel's"},
	{Off, "comma-separated operations that take their reference path instead of the fused kernel, such as rmsnorm,rmsnorm_add"},
	{Watchdog, "longest that a warp of a GPU kernel may wait, such as 2s; then the kernel ends and the error says who waits for whom; see docs/debugging.md"},
}

// All lists the variables by name.
func All() []Var { return slices.Clone(table) }

// Get is a variable's value without surrounding blanks; empty where it is not set. The name must be in the table.
func Get(name string) string {
	if !known(name) {
		panic("env: " + name + " is not in the table")
	}
	return strings.TrimSpace(os.Getenv(name))
}

// On reports whether a variable that is a switch is set, to anything but 0.
func On(name string) bool {
	v := Get(name)
	return v != "" && v != "0"
}

func known(name string) bool {
	return slices.ContainsFunc(table, func(v Var) bool { return v.Name == name })
}

// Unknown lists the GOTILE_* names that are set and not in the table, sorted.
func Unknown() []string { return unknown(os.Environ()) }

func unknown(environ []string) []string {
	var out []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, prefix) && !known(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Check returns an error that names the unknown variables and lists the known ones; nil where there are none.
func Check() error {
	names := Unknown()
	if len(names) == 0 {
		return nil
	}
	var all []string
	for _, v := range table {
		all = append(all, v.Name)
	}
	return fmt.Errorf("unknown environment variable %s; gotile knows %s", strings.Join(names, ", "), strings.Join(all, ", "))
}

// Help is the table as text, one variable a line, for the help of commands.
func Help() string {
	var b strings.Builder
	for _, v := range table {
		fmt.Fprintf(&b, "  %-18s  %s\n", v.Name, v.Doc)
	}
	return b.String()
}
