package matrix
import ("testing";"fmt";"time";"os";"github.com/gotile/gotile/codegen/nvrtc";"github.com/gotile/gotile/internal/printed";"syscall";"strings")
func cpu() time.Duration { var r syscall.Rusage; syscall.Getrusage(0,&r); return time.Duration(r.Utime.Nano()) }
func TestTime(t *testing.T) {
	lib, err := nvrtc.Open(os.Getenv("GOTILE_NVRTC"))
	if err != nil { t.Fatal(err) }
	tot := 0.0
	for _, m := range modules() {
		n := m.KernelName()
		if !(strings.HasSuffix(n, "f32_warp") && m.dt.String()=="f32" || strings.HasSuffix(n, "f32_block2") && (m.family.name=="scan_rows"||m.family.name=="map") || strings.HasSuffix(n,"bf16_warp_ab")|| strings.HasSuffix(n,"_bf16_warp1_swizzle64")||strings.HasSuffix(n,"global_bf16_warp")||strings.HasSuffix(n,"matrix_movmatrix_bf16_warp")) { continue }
		c0 := cpu()
		k, err := m.define()
		if err != nil { t.Fatal(err) }
		s, err := printed.Sources(k)
		if err != nil { t.Fatal(err) }
		c1 := cpu()
		r, err := lib.Compile(s[0].Text, "x.cu", nvrtc.Options{Arch: "sm_90a"})
		if err != nil { t.Fatal(err) }
		d := (cpu()-c1).Seconds()
		tot += d
		fmt.Printf("%-40s texts %d print %.2f nvrtc %.2f bodies %d per %.3f regs %d spill %d len %d cubin %d shared %d\n", n, len(s), (c1-c0).Seconds(), d, len(m.bodies()), d/float64(len(m.bodies())), r.Registers, r.Spill, len(s[0].Text), len(r.CUBIN), s[0].Kernel.SharedBytes)
	}
	fmt.Println(tot)
}
