package caps

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/internal/target"
)

// probes use each feature in PTX, as the body of a kernel with the shared array s.
var probes = map[target.Feature]string{
	target.Base:       `asm volatile("bar.sync 0;");`,
	target.Atomics:    `atomicAdd(out, 1.0f);`,
	target.CpAsync:    `asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(a), "l"(out));`,
	target.Cluster:    `asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;");`,
	target.TMA:        `asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%0];" :: "r"(a), "l"(out), "r"(0));`,
	target.TMACTA:     `asm volatile("cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%0];" :: "r"(a), "l"(out), "r"(0));`,
	target.Multicast:  `asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2}], [%0], %3;" :: "r"(a), "l"(out), "r"(0), "h"((unsigned short)3));`,
	target.WGMMA:      `asm volatile("wgmma.fence.sync.aligned; wgmma.commit_group.sync.aligned;");`,
	target.MMASync:    `float d[4] = {}; asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a)); *out = d[0];`,
	target.MMAFloat8:  `float d[4] = {}; asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a)); *out = d[0];`,
	target.LdMatrix:   `unsigned r; asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(a)); *out = r;`,
	target.StMatrix:   `asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%0};" :: "r"(a));`,
	target.SetMaxNReg: `asm volatile("setmaxnreg.inc.sync.aligned.u32 64;");`,
	target.Elect:      `asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; }");`,
	target.MBarrier:   `asm volatile("{ .reg .b64 t; mbarrier.init.shared.b64 [%0], 1; mbarrier.arrive.shared.b64 t, [%0]; }" :: "r"(a));`,
	target.MBarrierTx: `asm volatile("{ .reg .b64 t; mbarrier.arrive.expect_tx.shared.b64 t, [%0], 16; }" :: "r"(a));`,
	target.GridDep:    `asm volatile("griddepcontrol.launch_dependents; griddepcontrol.wait;");`,
	target.Bulk:       `asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;" :: "l"(out), "r"(a));`,
	target.TCGen05:    `asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" :: "r"(a));`,
}

// The first column against ptxas: it accepts a feature's instruction for exactly the targets that have it, and warns
// where the table says that it is slow.
func TestHardwareByCompiler(t *testing.T) {
	lib, err := nvrtc.Open("")
	if err != nil {
		if !errors.Is(err, nvrtc.ErrNotFound) && !errors.Is(err, errors.ErrUnsupported) {
			t.Fatal(err)
		}
		t.Skip("needs NVRTC: ", err)
	}
	for _, name := range target.Names() {
		chip, err := target.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if chip.Proxy != "" { // has less than its chip, on purpose
			continue
		}
		if !slices.Contains(lib.Targets(), chip.CC) {
			t.Errorf("NVRTC does not compile for %s", name)
			continue
		}
		compile := func(features ...target.Feature) (*nvrtc.Result, error) {
			src := "extern \"C\" __global__ void __launch_bounds__(128, 1) probe(float* out) {\n" +
				"  __shared__ unsigned s[64];\n  unsigned a = (unsigned)__cvta_generic_to_shared(s);\n"
			for _, f := range features {
				if probes[f] == "" {
					t.Fatalf("no probe of %s", f)
				}
				src += "  { " + probes[f] + " }\n"
			}
			return lib.Compile(src+"  if (a == 1u) *out = 1.0f;\n}\n", "probe.cu", nvrtc.Options{Arch: chip.Arch})
		}
		var has []target.Feature // compiled together; what it has not, one by one, so that each is refused for itself
		avoids := false
		for _, f := range target.Features() {
			if s := chip.Features[f]; s.Hardware {
				has, avoids = append(has, f), avoids || s.Avoided != ""
			} else if _, err := compile(f); err == nil {
				t.Errorf("ptxas compiles %s for %s, which has it not", f, name)
			}
		}
		r, err := compile(has...)
		if err != nil {
			t.Errorf("%s: ptxas refuses one of %s: %v", name, has, err)
		} else if slow := strings.Contains(r.Log, "reduced performance"); slow != avoids {
			t.Errorf("%s avoids a feature: %v, but ptxas says\n%s", name, avoids, r.Log)
		}
	}
}
