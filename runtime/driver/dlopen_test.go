//go:build linux && (amd64 || arm64) && !nocuda

package driver_test

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/drivertest"
)

func loopback(t *testing.T) driver.Driver {
	t.Helper()
	d, err := driver.OpenLibrary(drivertest.Loopback(t))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSuite(t *testing.T) {
	d := loopback(t)
	drivertest.Run(t, drivertest.Machine{Driver: d, Image: drivertest.Image(d), Transparent: true})
}

// The same on the GPU of this machine.
func TestSuiteOnGPU(t *testing.T) {
	d, err := driver.Open()
	if err != nil {
		t.Skip("no GPU: ", err)
	}
	drivertest.Run(t, drivertest.Machine{Driver: d, Image: drivertest.Image(d), Transparent: drivertest.IsLoopback(t, d)})
}

// A code that neither side knows is passed on.
func TestUnknownCode(t *testing.T) {
	d := loopback(t)
	c, err := d.Retain(1)
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.LoadModule(drivertest.Image(d)(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.Function(m, drivertest.ReportKernel)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Alloc(4 * drivertest.ReportWords)
	if err != nil {
		t.Fatal(err)
	}
	config := driver.LaunchConfig{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{1, 1, 1}}
	err = c.Launch(f, config, unsafe.Pointer(&drivertest.ReportArgs{Out: p, Number: 4242}))
	if err == nil || err.Error() != "cuLaunchKernelEx: CUresult(4242)" {
		t.Errorf("%v", err)
	}
}

func TestNoLibrary(t *testing.T) {
	_, err := driver.OpenLibrary("libcuda-which-is-not-there.so.1")
	if !errors.Is(err, driver.ErrNoLibrary) || !strings.Contains(err.Error(), "libcuda-which-is-not-there.so.1") {
		t.Errorf("%v", err)
	}
}

// dlerror's text is of the thread that failed; a goroutine that changed threads in between would find none. More
// goroutines than processors make it change often.
func TestReasonIsNeverEmpty(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for range 500 {
				for file, want := range map[string]string{"libcuda-which-is-not-there.so.1": "libcuda-which-is-not-there.so.1: ", "libc.so.6": "undefined symbol"} {
					if _, err := driver.OpenLibrary(file); err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%s: the reason in %v lacks %q", file, err, want)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestOldLibrary(t *testing.T) {
	_, err := driver.OpenLibrary("libc.so.6")
	if err == nil || !strings.Contains(err.Error(), "lacks cuInit") || !strings.Contains(err.Error(), "11.8") {
		t.Errorf("a library without the functions: %v", err)
	}
}
