package drivertest

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

//go:embed testdata/loopback.c
var loopbackSource []byte

// Loopback compiles a stand-in for libcuda, and gives the path of the library: two devices whose memory is the host's,
// and which run the kernels of the tests on the host. Its name is that of the driver's library, so it can be opened by
// path, or found in LD_LIBRARY_PATH by a program that links with libcuda. The test is skipped where there is no C
// compiler.
func Loopback(t *testing.T) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler (cc) to build the stand-in for libcuda with")
	}
	dir := t.TempDir()
	source, so := filepath.Join(dir, "loopback.c"), filepath.Join(dir, "libcuda.so.1")
	if err := os.WriteFile(source, loopbackSource, 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-shared", "-fPIC", "-O1", "-Wl,-soname,libcuda.so.1", "-o", so, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return so
}
