package doctor_test

import (
	"context"
	"fmt"

	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/codegen/tool/doctor"
)

// A machine without NVRTC, whatever this one has: the report says so, and what brings it.
func ExampleExamine() {
	m := doctor.This()
	m.NVRTC = func() (doctor.Compiler, error) { return nil, nvrtc.ErrNotFound }
	r := doctor.Examine(context.Background(), m)
	fmt.Println(r.NVRTC.State)
	fmt.Println(r.NVRTC.Command)
	fmt.Println("kernels can be generated and simulated:", r.MainJob())
	// Output:
	// missing
	// python3 -m pip install --upgrade --target ~/.local/share/gotile/nvrtc 'nvidia-cuda-nvrtc==13.0.*'
	// kernels can be generated and simulated: true
}
