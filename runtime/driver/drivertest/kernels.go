package drivertest

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/runtime/driver"
)

// ReportKernel is the name of the kernel of the tests.
const ReportKernel = "report"

// ReportArgs is its argument struct. The first thread writes ReportWords words to Out: grid, block and cluster (x, y, z
// each), bytes of dynamic shared memory, Number. Before that it waits for so many nanoseconds.
type ReportArgs struct {
	Out    driver.Ptr
	Number uint32
	Wait   uint32
}

// ReportVariable is the name of a variable of the kernel's module, of 8 bytes, 0 at first.
const ReportVariable = "report_variable"

// ReportWords is the number of 32-bit words that the kernel writes.
const ReportWords = 11

const reportSource = `typedef unsigned int u32;
typedef unsigned long long u64;

struct arguments {
  u32* out;
  u32 number, wait;
};

__device__ u64 nanoseconds() {
  u64 t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

extern "C" {
__device__ u64 report_variable;
}

extern "C" __global__ void report(const __grid_constant__ arguments a) {
  if ((blockIdx.x | blockIdx.y | blockIdx.z | threadIdx.x | threadIdx.y | threadIdx.z) != 0) return;
  u64 start = nanoseconds();
  while (nanoseconds() - start < a.wait) {
  }
  u32 shared, x = 1, y = 1, z = 1;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(shared));
#if __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(x));
  asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(y));
  asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(z));
#endif
  u32 words[] = {gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y, blockDim.z, x, y, z, shared, a.number};
  for (int i = 0; i < 11; i++) a.out[i] = words[i];
}
`

// Image is a Machine's Image for a driver of libcuda: what Loopback takes where that is the library, else the kernel,
// compiled by NVRTC for the device.
func Image(d driver.Driver) func(t *testing.T, dev int) []byte {
	return func(t *testing.T, dev int) []byte {
		t.Helper()
		if IsLoopback(t, d) {
			return []byte("\x7fELF " + ReportKernel + " " + ReportVariable + "\x00")
		}
		lib, err := nvrtc.Open("")
		if err != nil {
			t.Fatal(err)
		}
		major := must[int](t)(d.DeviceAttribute(dev, driver.ComputeCapabilityMajor))
		minor := must[int](t)(d.DeviceAttribute(dev, driver.ComputeCapabilityMinor))
		r, err := lib.Compile(reportSource, "report.cu", nvrtc.Options{Arch: fmt.Sprintf("sm_%d%d", major, minor)})
		if err != nil {
			t.Fatal(err)
		}
		return r.CUBIN
	}
}

// IsLoopback reports whether the driver's library is Loopback's.
func IsLoopback(t *testing.T, d driver.Driver) bool {
	t.Helper()
	return strings.HasPrefix(must[string](t)(d.DeviceName(0)), "Loopback GPU")
}

// report loads the kernel.
func (t *tester) report() driver.Function {
	t.Helper()
	m := must[driver.Module](t.T)(t.c.LoadModule(t.Image(t.T, 0)))
	return must[driver.Function](t.T)(t.c.Function(m, ReportKernel))
}

// launch starts the kernel.
func (t *tester) launch(f driver.Function, c driver.LaunchConfig, a *ReportArgs) error {
	return t.c.Launch(f, c, unsafe.Pointer(a))
}

// words reads what the kernel wrote.
func words(b []byte) (out [ReportWords]uint32) {
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out
}
