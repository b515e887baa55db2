//go:build gorgonia && linux && (amd64 || arm64) && !nocuda

package driver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"
)

// The layouts and numbers that this package has of its own are those of cuda.h. Only builds with -tags gorgonia have
// the header: its directories are in CGO_CFLAGS.
func TestHeader(t *testing.T) {
	var c strings.Builder
	c.WriteString("#include <cuda.h>\n#include <stddef.h>\n")
	equal := func(name string, v any) { fmt.Fprintf(&c, "_Static_assert(%s == %d, \"%s\");\n", name, v, name) }
	field := func(of, name string, offset, size uintptr) {
		equal(fmt.Sprintf("offsetof(%s, %s)", of, name), offset)
		equal(fmt.Sprintf("sizeof(((%s*)0)->%s)", of, name), size)
	}

	var l launchConfig
	equal("sizeof(CUlaunchConfig)", unsafe.Sizeof(l))
	for i, axis := range []string{"X", "Y", "Z"} {
		field("CUlaunchConfig", "gridDim"+axis, unsafe.Offsetof(l.grid)+4*uintptr(i), 4)
		field("CUlaunchConfig", "blockDim"+axis, unsafe.Offsetof(l.block)+4*uintptr(i), 4)
	}
	field("CUlaunchConfig", "sharedMemBytes", unsafe.Offsetof(l.shared), unsafe.Sizeof(l.shared))
	field("CUlaunchConfig", "hStream", unsafe.Offsetof(l.stream), unsafe.Sizeof(l.stream))
	field("CUlaunchConfig", "attrs", unsafe.Offsetof(l.attrs), unsafe.Sizeof(l.attrs))
	field("CUlaunchConfig", "numAttrs", unsafe.Offsetof(l.numAttrs), unsafe.Sizeof(l.numAttrs))
	var a launchAttribute
	equal("sizeof(CUlaunchAttribute)", unsafe.Sizeof(a))
	field("CUlaunchAttribute", "id", unsafe.Offsetof(a.id), unsafe.Sizeof(a.id))
	for i, axis := range []string{"x", "y", "z"} {
		field("CUlaunchAttribute", "value.clusterDim."+axis, unsafe.Offsetof(a.value)+4*uintptr(i), 4)
	}
	equal("sizeof(CUtensorMap)", unsafe.Sizeof(TensorMap{}))
	fmt.Fprintf(&c, "_Static_assert(_Alignof(CUtensorMap) <= %d, \"alignment of CUtensorMap\");\n", tensorMapAlign)
	equal("sizeof(CUdeviceptr)", unsafe.Sizeof(Ptr(0)))

	for name, v := range map[string]any{
		"CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION": attrCluster,
		"CU_STREAM_NON_BLOCKING":                streamNonBlocking,
		"CU_STREAM_CAPTURE_MODE_THREAD_LOCAL":   captureThreadLocal,

		"CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK":             MaxThreadsPerBlock,
		"CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT":              MultiprocessorCount,
		"CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE":                     L2CacheSize,
		"CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR":    MaxThreadsPerSM,
		"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR":          ComputeCapabilityMajor,
		"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR":          ComputeCapabilityMinor,
		"CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": MaxSharedPerBlockOptin,
		"CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK":               FunctionMaxThreads,
		"CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES":                   FunctionStaticShared,
		"CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES":                    FunctionLocal,
		"CU_FUNC_ATTRIBUTE_NUM_REGS":                            FunctionRegisters,
		"CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES":       MaxDynamicShared,
		"CU_TENSOR_MAP_DATA_TYPE_UINT8":                         TensorU8,
		"CU_TENSOR_MAP_DATA_TYPE_UINT16":                        TensorU16,
		"CU_TENSOR_MAP_DATA_TYPE_UINT32":                        TensorU32,
		"CU_TENSOR_MAP_DATA_TYPE_INT32":                         TensorI32,
		"CU_TENSOR_MAP_DATA_TYPE_UINT64":                        TensorU64,
		"CU_TENSOR_MAP_DATA_TYPE_INT64":                         TensorI64,
		"CU_TENSOR_MAP_DATA_TYPE_FLOAT16":                       TensorF16,
		"CU_TENSOR_MAP_DATA_TYPE_FLOAT32":                       TensorF32,
		"CU_TENSOR_MAP_DATA_TYPE_FLOAT64":                       TensorF64,
		"CU_TENSOR_MAP_DATA_TYPE_BFLOAT16":                      TensorBF16,
		"CU_TENSOR_MAP_DATA_TYPE_TFLOAT32":                      TensorTF32,
		"CU_TENSOR_MAP_SWIZZLE_NONE":                            TensorSwizzleNone,
		"CU_TENSOR_MAP_SWIZZLE_32B":                             TensorSwizzle32,
		"CU_TENSOR_MAP_SWIZZLE_64B":                             TensorSwizzle64,
		"CU_TENSOR_MAP_SWIZZLE_128B":                            TensorSwizzle128,
		"CU_TENSOR_MAP_L2_PROMOTION_NONE":                       L2PromotionNone,
		"CU_TENSOR_MAP_L2_PROMOTION_L2_64B":                     L2Promotion64,
		"CU_TENSOR_MAP_L2_PROMOTION_L2_128B":                    L2Promotion128,
		"CU_TENSOR_MAP_L2_PROMOTION_L2_256B":                    L2Promotion256,
		"CU_TENSOR_MAP_INTERLEAVE_NONE":                         0,
		"CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE":                     0,
	} {
		equal(name, v)
	}
	for code := range results {
		equal(code.String(), code)
	}
	for _, symbol := range symbols { // what dlopen looks up exists
		fmt.Fprintf(&c, "static void *the_%s = (void *)%s;\n", symbol, symbol)
	}
	compile(t, c.String(), "")
	// The test bites.
	compile(t, "#include <cuda.h>\n_Static_assert(sizeof(CUlaunchConfig) == 57, \"57 bytes\");\n", "57 bytes")
}

// compile compiles a file with the header. Where want is set it must fail with that text.
func compile(t *testing.T, text, want string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "header.c")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	args := append(strings.Fields(os.Getenv("CGO_CFLAGS")), "-Wno-unused-variable", "-fsyntax-only", file)
	out, err := exec.Command(cc, args...).CombinedOutput()
	if (err != nil) != (want != "") || !strings.Contains(string(out), want) {
		t.Errorf("%v, want %q; CGO_CFLAGS=%s:\n%s", err, want, os.Getenv("CGO_CFLAGS"), out)
	}
}
