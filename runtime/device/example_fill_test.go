package device_test

import (
	"fmt"
	"os"

	"github.com/gotile/gotile/runtime/device"
)

// What is compiled here, where NVRTC is and no GPU, is found where the directory goes.
func ExampleFillCache() {
	os.Setenv("GOTILE_CACHE", "off") // a directory, as a rule
	defer os.Unsetenv("GOTILE_CACHE")
	fill, err := device.FillCache("sm_90a")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, k := range []*device.Kernel{{Name: "k", Source: `extern "C" __global__ void k() {}`}} {
		if err := fill(k); err != nil {
			fmt.Println(err)
		}
	}
	// Output: there is no cache to fill: set GOTILE_CACHE to a directory
}
