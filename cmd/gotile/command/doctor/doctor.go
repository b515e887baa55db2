// Package doctor looks at what gotile needs on a machine and says what is there, what is not, and the one command that
// brings each thing that is missing. It changes nothing.
package doctor

import (
	"context"
	"slices"
	"strings"
)

// State is how a thing stands.
type State string

// The states. A Problem is there, but of no use as it is.
const (
	OK      State = "ok"
	Missing State = "missing"
	Problem State = "problem"
)

// Check is what every part of a report begins with.
type Check struct {
	State   State  `json:"state"`
	Why     string `json:"why,omitempty"`     // what is wrong
	Command string `json:"command,omitempty"` // what mends it
}

// Report is what was found.
type Report struct {
	Go        Go        `json:"go"`
	Module    Module    `json:"module"`
	Driver    Driver    `json:"driver"`
	GPUs      []GPU     `json:"gpus"`
	NVRTC     NVRTC     `json:"nvrtc"`
	Cache     Cache     `json:"cache"`
	Headers   Headers   `json:"headers"`
	Variables Variables `json:"variables"`
	Commands  []Command `json:"commands"`
}

// Command says whether a command of gotile works here.
type Command struct {
	Name  string `json:"name"`
	Works bool   `json:"works"`
	Needs string `json:"needs,omitempty"` // what it lacks
}

// Examine looks at a machine.
func Examine(ctx context.Context, m *Machine) *Report {
	r := &Report{Go: m.goCommand(ctx), Cache: m.cache()}
	r.Module = m.module(ctx, r.Go)
	r.Driver, r.GPUs = m.driver(ctx)
	r.Variables = m.variables(r.GPUs)
	r.NVRTC = m.nvrtc(r.Driver, r.GPUs)
	r.Headers = m.headers(r.Module)
	r.Commands = r.commands()
	return r
}

// MainJob reports whether kernels can be generated and simulated here, which takes Go alone.
func (r *Report) MainJob() bool { return r.Go.State == OK && r.Module.State != Problem }

// commands says what works, and of what does not, what it lacks.
func (r *Report) commands() []Command {
	var lacks []string // for the commands from the first to the last
	add := func(missing bool, what string) {
		if missing {
			lacks = append(lacks, what)
		}
	}
	command := func(name string) Command {
		return Command{Name: name, Works: len(lacks) == 0, Needs: strings.Join(lacks, ", ")}
	}
	add(r.Go.State != OK, "Go")
	add(r.Module.State == Problem, "gotile in the module")
	out := []Command{command("gen"), command("sim")}
	add(r.NVRTC.State != OK, "NVRTC")
	out = append(out, command("check"))
	usable := slices.ContainsFunc(r.GPUs, func(g GPU) bool { return g.State == OK })
	add(!usable, "a GPU")
	return append(out, command("verify"), command("bench"))
}
