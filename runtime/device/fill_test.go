package device

import (
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/gotile/gotile/codegen/nvrtc"
	entries "github.com/gotile/gotile/internal/cache"
	"github.com/gotile/gotile/internal/env"
)

// What FillCache has compiled is what a device looks for: under the same key, once.
func TestFillCache(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(env.Cache, dir)
	fill, err := FillCache("sm_90a")
	if errors.Is(err, nvrtc.ErrNotFound) || errors.Is(err, errors.ErrUnsupported) {
		t.Skip("needs NVRTC: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	k := &Kernel{Name: "k", Source: "extern \"C\" __global__ void k() {}\n"}
	for range 2 {
		if err := fill(k); err != nil {
			t.Fatal(err)
		}
	}
	n, err := openNVRTC()
	if err != nil {
		t.Fatal(err)
	}
	key, l := lookup(n, k, "sm_90a")
	if files, _ := filepath.Glob(filepath.Join(dir, "*"+entries.Suffix)); len(files) != 1 || filepath.Base(files[0]) != key+entries.Suffix {
		t.Errorf("the cache has %q, want %s", files, key)
	}
	if _, err := openCache(slog.Default()).get(key, l, func() ([]byte, error) { return nil, errors.New("compiled again") }); err != nil {
		t.Error(err)
	}
	if err := fill(&Kernel{Name: "k", Source: "not C"}); err == nil {
		t.Error("a text that does not compile fills the cache")
	}
	t.Setenv(env.Cache, "off")
	if _, err := FillCache("sm_90a"); err == nil {
		t.Error("no cache is filled")
	}
}
