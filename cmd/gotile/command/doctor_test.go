package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gotile/gotile/cmd/gotile/command/doctor"
	"github.com/gotile/gotile/internal/cache"
	"github.com/gotile/gotile/internal/env"
)

// The exit code is 0 here, where kernels can be generated, whatever else is missing; variables that gotile does not have
// are reported once.
func TestDoctor(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(env.Cache, dir)
	t.Setenv("GOTILE_TYPO", "1")
	code, out, errs := run(t, "doctor")
	if code != 0 || errs != "" || strings.Count(out, "GOTILE_TYPO: gotile has no such variable") != 1 || !strings.Contains(out, "\nworks      gen, sim") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	var report struct {
		Go       struct{ State string }
		NVRTC    struct{ State, Command string }
		Commands []struct {
			Name  string
			Works bool
		}
	}
	if err := json.Unmarshal([]byte(mustRun(t, "doctor", "-json")), &report); err != nil || report.Go.State != "ok" || len(report.Commands) != 5 || !report.Commands[0].Works {
		t.Errorf("%+v, %v", report, err)
	}
	mustFail(t, 1, "not asked for a kernel softmax that it remembers", "doctor", "-why", "softmax")
	if err := cache.Note(dir, cache.Lookup{Time: time.Now(), Outcome: cache.Miss, Key: "k", Kernel: "softmax", Arch: "sm_90a", NVRTC: "13.0"}); err != nil {
		t.Fatal(err)
	}
	if out := mustRun(t, "doctor", "-why", "softmax"); !strings.HasSuffix(out, "softmax for sm_90a by NVRTC 13.0: miss, it had not been compiled before\n") {
		t.Errorf("got %q", out)
	}
	if out := mustRun(t, "doctor", "-why", "softmax", "-json"); !strings.Contains(out, `"why": "it had not been compiled before"`) {
		t.Errorf("got %q", out)
	}
}

// Without Go the main job does not work: the report says so, and the command fails without another word.
func TestDoctorFails(t *testing.T) {
	m := doctor.This()
	m.Output = func(context.Context, string, ...string) ([]byte, error) { return nil, errors.New("not found") }
	var out bytes.Buffer
	if err := examine(t.Context(), m, &out, false); !errors.Is(err, errSaid) || !strings.Contains(out.String(), "does not   gen (needs Go)") {
		t.Errorf("%v\n%s", err, out.String())
	}
}
