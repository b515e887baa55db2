package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// gotile is the module's path, and tool the command's package.
const (
	gotile = "github.com/gotile/gotile"
	tool   = gotile + "/cmd/gotile"
)

// Go is the go command.
type Go struct {
	Check
	Version string `json:"version,omitempty"` // go1.26.0
}

func (m *Machine) goCommand(ctx context.Context) Go {
	out, err := m.Output(ctx, "go", "env", "GOVERSION")
	if err != nil {
		return Go{Check: Check{Missing, "the go command does not run: " + message(err), "open https://go.dev/dl and install Go 1.26 or newer"}}
	}
	g := Go{Check: Check{State: OK}, Version: strings.TrimSpace(string(out))}
	var major, minor int
	if n, _ := fmt.Sscanf(g.Version, "go%d.%d", &major, &minor); n == 2 && (major < 1 || major == 1 && minor < 26) {
		g.Check = Check{Problem, g.Version + " is too old: gotile needs Go 1.26", "go env -w GOTOOLCHAIN=go1.26.0+auto"}
	}
	return g
}

// Module is the Go module of the current directory. That there is none is no fault.
type Module struct {
	Check
	Path    string `json:"path,omitempty"`
	Version string `json:"gotile,omitempty"` // of gotile, or where it is replaced by
}

func (m *Machine) module(ctx context.Context, g Go) Module {
	if g.State != OK {
		return Module{Check: Check{State: Missing, Why: "unknown without Go"}}
	}
	out, err := m.Output(ctx, "go", "list", "-m")
	path := strings.TrimSpace(string(out))
	if err != nil || path == "" || path == "command-line-arguments" {
		return Module{Check: Check{Missing, "the current directory is in no Go module", "gotile init DIR"}}
	}
	path, _, _ = strings.Cut(path, "\n") // of a workspace
	mod := Module{Check: Check{State: OK}, Path: path}
	if path == gotile {
		return mod
	}
	out, err = m.Output(ctx, "go", "list", "-m", "-json", gotile)
	var found struct {
		Version string
		Replace *struct{ Path, Version string }
	}
	if err != nil || json.Unmarshal(out, &found) != nil {
		mod.Check = Check{Problem, "module " + path + " does not require gotile", "go get -tool " + tool}
		return mod
	}
	if mod.Version = found.Version; found.Replace != nil {
		mod.Version = strings.TrimSpace(found.Replace.Path + " " + found.Replace.Version)
	}
	return mod
}

// message is an error in one line.
func message(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return firstLine(string(exit.Stderr))
	}
	return strings.TrimPrefix(firstLine(err.Error()), "driver: ")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
