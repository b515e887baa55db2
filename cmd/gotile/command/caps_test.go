package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gotile/gotile/internal/target"
)

func TestCaps(t *testing.T) {
	out := mustRun(t, "caps")
	for _, name := range target.Names() {
		if !strings.Contains(strings.SplitN(out, "\n", 2)[0], name) {
			t.Errorf("no column of %s", name)
		}
	}
	cells := map[string][]string{}
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) == len(target.Names())+1 {
			cells[f[0]] = f[1:]
		}
	}
	for _, f := range target.Features() {
		if cells[string(f)] == nil {
			t.Errorf("no row of %s", f)
		}
	}
	// sm_80, sm_90a, sm_120a: below all, above the proxy's own.
	for f, want := range map[string][3]string{"atomics": {"lowered", "verified", "proxy"}, "wgmma": {"-", "verified", "-"}} {
		if row := cells[f]; row == nil || row[0] != want[0] || row[3] != want[1] || row[6] != want[2] {
			t.Errorf("%s: %v, want %v on sm_80, sm_90a and sm_120a", f, row, want)
		}
	}

	if row := cells["tcgen05"]; row[4] != "hardware" {
		t.Errorf("tcgen05: %v, want hardware on sm_100a", row)
	}

	out = mustRun(t, "caps", "-target", "sm_120a")
	for _, words := range []string{
		"sm_120a: compute capability 12.0, 99 KB of shared memory a block, 1536 threads an SM, clusters of up to 8 blocks\n",
		"cluster: by proxy, as sm_90a-as-120: ", " cases of internal/optest op/cluster_* on NVIDIA H200\n",
		"tma-multicast: not used, slow",
	} {
		if !strings.Contains(out, words) {
			t.Errorf("caps of sm_120a lacks %q:\n%s", words, out)
		}
	}
	if out := mustRun(t, "caps", "-target", "sm_90a-as-120"); !strings.Contains(out, "stands in for sm_120a") {
		t.Errorf("the proxy does not say what it is:\n%s", out)
	}
	var rows []struct {
		Feature, Target   string
		Hardware, Lowered bool
		Verified          []struct{ GPU, Test string }
	}
	if err := json.Unmarshal([]byte(mustRun(t, "caps", "-json")), &rows); err != nil || len(rows) != len(target.Names())*len(target.Features()) {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	mustFail(t, 2, `unknown target "sm_90"; have sm_80`, "caps", "-target", "sm_90")
	mustFail(t, 2, `unexpected argument "x"; run gotile caps -h`, "caps", "x")
}
