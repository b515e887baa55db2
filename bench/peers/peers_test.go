package peers

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the worker needs of torch where nothing is launched: this stands in for it.
const torch = `
import contextlib
__version__ = "0"
class cuda:
    Stream, stream = object, contextlib.nullcontext
    set_device = empty_cache = synchronize = staticmethod(lambda *a: None)
bfloat16, float16, float32 = "bf16", "f16", "f32"
`

// A suite of one arm, which prints and then fails.
const suite = `
def arm(case):
    raise ValueError(f"no rows of {case.n}\nand more")
def load(family):
    print("loading", family)
    if family != "fam":
        raise ImportError("no module " + family)
    return ["lib 1"], {"arm": arm}
`

// talk runs the worker and gives its answers to some messages.
func talk(t *testing.T, family string, messages ...string) []map[string]any {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, Files); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"torch.py": torch, "suite_test.py": suite} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(python, "-u", filepath.Join(dir, Main), "test", family, "0")
	cmd.Stdin = strings.NewReader(strings.Join(messages, "\n"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers []map[string]any
	for s := bufio.NewScanner(strings.NewReader(string(out))); s.Scan(); {
		var a map[string]any
		if err := json.Unmarshal(s.Bytes(), &a); err != nil {
			t.Errorf("%q: %v", s.Text(), err)
		}
		answers = append(answers, a)
	}
	return answers
}

// The worker answers each message once, with its number, whatever goes wrong, and prints nothing else.
func TestWorkerAnswers(t *testing.T) {
	type object = map[string]any
	got := talk(t, "fam",
		`{"id":1,"op":"prepare","case":{"n":5,"dtype":"bf16"},"groups":2}`,
		`{"id":2,"op":"replay","arm":"arm","count":3}`,
		`{"id":3,"op":"dance"}`,
		`{"id":4,"op":"prepare","case":{"n":5,"dtype":"f8"},"groups":2}`,
		`{"id":5,"op":"free"}`,
		`{"id":6,"op":"prepare","case":{"n":5,"dtype":"CUDA error"},"groups":2}`, // stands for one
		`{"id":7,"op":"free"}`)
	want := []object{
		{"versions": "torch 0, lib 1"},
		{"id": 1.0, "arms": object{"arm": object{"error": "ValueError: no rows of 5"}}},
		{"id": 2.0, "error": "KeyError: 'arm'"}, // it was not prepared
		{"id": 3.0, "error": "AttributeError: 'Worker' object has no attribute 'dance'"},
		{"id": 4.0, "error": "KeyError: 'f8'"},
		{"id": 5.0},
		{"id": 6.0, "error": "KeyError: 'CUDA error'"},
		{"id": 7.0, "error": "RuntimeError: a kernel failed before"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]object{{"error": "ImportError: no module other"}}, talk(t, "other")); d != "" {
		t.Error(d)
	}
}
