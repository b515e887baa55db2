//go:build !gotilegen

package worker

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/runtime/device"
)

// What a receipt must hold follows from its GPU, so records that were removed are missed: with the GPU's name in the
// file, and in a file of an older version without it.
func TestVerifyCheckMissesRecords(t *testing.T) {
	for _, own := range []string{"sm_90a", ""} {
		for _, gone := range []string{"sm_90a", "sm_90a-as-120"} {
			p := fixture(t)
			mustVerify(t, p)
			r := receiptOf(t, p)
			if r.Target != "sm_90a" {
				t.Fatalf("the receipt's target is %q", r.Target)
			}
			r.Target = own
			r.Kernels = slices.DeleteFunc(r.Kernels, func(k Record) bool { return k.Target == gone })
			if err := r.write(filepath.Join(p.Dir, "receipts", "sim.json")); err != nil {
				t.Fatal(err)
			}
			mustFail(t, 1, "RED  sum_f32_c512 (sum_f32_c512.cu): "+gone+": no receipt in sim.json\n", p, "verify", "-check")
			mustFail(t, 1, "5 kernels without a fresh receipt", p, "verify", "-check")
		}
	}
}

// Each file vouches for its own GPU: another's records do not stand in.
func TestVerifyCheckDemandsOfEachFile(t *testing.T) {
	p := fixture(t)
	mustVerify(t, p)
	r := receiptOf(t, p)
	r.drop("sum_f32_c512", "sm_90a")
	if err := r.write(filepath.Join(p.Dir, "receipts", "other.json")); err != nil {
		t.Fatal(err)
	}
	mustFail(t, 1, "RED  sum_f32_c512 (sum_f32_c512.cu): sm_90a: no receipt in other.json\n", p, "verify", "-check")
	// A GPU that stands for nothing else is not asked for more.
	r.Target, r.Kernels = "sm_80", nil
	for _, k := range receiptOf(t, p).Kernels {
		if k.Target == "sm_90a" {
			k.Target = "sm_80"
			r.put(k)
		}
	}
	if err := r.write(filepath.Join(p.Dir, "receipts", "other.json")); err != nil {
		t.Fatal(err)
	}
	if out := mustRun(t, p, "verify", "-check"); out != "15 fresh receipts (other.json, sim.json)\n" {
		t.Errorf("got %q", out)
	}
}

// A file that verify has not written whole is refused with the reason, and left alone.
func TestVerifyRefusesOtherFiles(t *testing.T) {
	p := fixture(t)
	mustVerify(t, p)
	path := filepath.Join(p.Dir, "receipts", "sim.json")
	whole := read(t, path)
	for _, c := range []struct{ text, want string }{
		{"", "it is empty"},
		{whole[:len(whole)/2], "it is cut off"},
		{whole + whole, "something follows its end"},
		{"<<<<<<< ours\n" + whole, "invalid character '<'"},
		{"[]", "cannot unmarshal array"},
		{"{}", "it names no device"},
		{`{"device": "x"}`, "it has no list of kernels"},
		{`{"suite": "rmsnorm", "device": "x"}`, `unknown field "suite"`},
		{strings.Replace(whole, `"sm_90a"`, `"sm_42"`, 1), `unknown target "sm_42"`},
		{strings.Replace(whole, `"cu_sha256": "`, `"cu_sha256": "", "ignored": "`, 1), `unknown field "ignored"`},
		{strings.Replace(whole, `"name": "axpy_f32_c64"`, `"name": ""`, 1), "lacks a name or a hash"},
	} {
		write(t, c.text, path)
		mustFail(t, 1, c.want, p, "verify", "-check")
		if _, err := verifyOn(t, t.Context(), p, "-f"); err == nil || !strings.Contains(err.Error(), "sim.json is not a receipt") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: verify: %v", c.want, err)
		}
		if read(t, path) != c.text {
			t.Errorf("%s: the file was overwritten", c.want)
		}
	}
	// Receipts are written by way of another file, of which nothing stays.
	write(t, whole, path)
	mustVerify(t, p, "-f")
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("got %v, %v", left, err)
	}
}

// A program of another binding says so in its receipt, and the command has its tags.
func TestReceiptOfABinding(t *testing.T) {
	own, err := target.Lookup("sm_90a")
	if err != nil {
		t.Fatal(err)
	}
	r := &Receipt{Kernels: []Record{}}
	r.ranOn(device.Info{Name: "NVIDIA H200", GPU: "h200", Driver: "580.1", NVRTC: "13.0", Binding: "gorgonia"}, own)
	path := filepath.Join(t.TempDir(), "h200-gorgonia.json")
	if err := r.write(path); err != nil {
		t.Fatal(err)
	}
	again, err := readReceipt(path)
	if err != nil || again.Binding != "gorgonia" || again.Device != "NVIDIA H200" || again.Target != "sm_90a" || again.Driver != "580.1" || again.NVRTC != "13.0" {
		t.Errorf("%+v, %v", again, err)
	}
	j := &job{Package: Package{Path: "example.com/axpy", Tags: "gorgonia"}}
	if got := j.command(); got != "gotile verify -tags gorgonia example.com/axpy" {
		t.Errorf("command %q", got)
	}
}
