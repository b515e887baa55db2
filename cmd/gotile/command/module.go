package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

const (
	modulePath = "github.com/gotile/gotile"
	toolPath   = modulePath + "/cmd/gotile"
)

// userModule is the module that a directory is in. Without a file there is none.
type userModule struct {
	file     string // go.mod
	path     string
	requires bool     // gotile
	tools    []string // of its tool lines
}

// command is how gotile is called in the module.
func (m userModule) command() string {
	if m.path == modulePath {
		return "go run " + toolPath
	}
	return "go tool gotile"
}

// findModule looks for the module of a directory that may not exist yet.
func findModule(ctx context.Context, dir string) (userModule, error) {
	for {
		_, err := os.Stat(dir)
		if err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || parent == dir {
			return userModule{}, err
		}
		dir = parent
	}
	g := &goCommand{}
	out, err := g.output(ctx, dir, "env", "GOMOD")
	if err != nil {
		return userModule{}, err
	}
	m := userModule{file: strings.TrimSpace(string(out))}
	if m.file == "" || m.file == os.DevNull {
		return userModule{}, nil
	}
	if out, err = g.output(ctx, dir, "mod", "edit", "-json", m.file); err != nil {
		return m, err
	}
	var text struct {
		Module  struct{ Path string }
		Require []struct{ Path string }
		Tool    []struct{ Path string }
	}
	if err := json.Unmarshal(out, &text); err != nil {
		return m, fmt.Errorf("reading %s: %w", m.file, err)
	}
	m.path = text.Module.Path
	for _, r := range text.Require {
		m.requires = m.requires || r.Path == modulePath
	}
	for _, t := range text.Tool {
		m.tools = append(m.tools, t.Path)
	}
	return m, nil
}

// ownVersion is the release that this program was built from, or else the clone.
func ownVersion() (version, clone string) {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(info.Deps, &info.Main) {
			if m.Path == modulePath && m.Replace == nil && m.Sum != "" { // what is built in a clone has no sum
				return m.Version, ""
			}
		}
	}
	if _, file, _, ok := runtime.Caller(0); ok {
		if dir := filepath.Join(filepath.Dir(file), "..", "..", ".."); isClone(dir) {
			return "", dir
		}
	}
	return "", ""
}

// isClone reports whether a directory holds gotile's module.
func isClone(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	first, _, _ := strings.Cut(string(text), "\n")
	return err == nil && strings.TrimSpace(first) == "module "+modulePath
}

// goIn runs the go command in a directory. Its error is what it printed.
func goIn(ctx context.Context, dir string, args ...string) error {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, strings.TrimSpace(out.String()))
	}
	return nil
}
