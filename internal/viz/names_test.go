package viz

import (
	"strings"
	"testing"

	"github.com/gotile/gotile/layout"
)

func TestNamed(t *testing.T) {
	for name, want := range map[string]string{
		"mma.m16n8k16.A":          "m,k [16,16] thread (4:2@1,8:1@0) value (2:1@1,2:8@0,2:8@1)",
		"mma.m16n8k16.bf16.A":     "m,k [16,16] thread (4:2@1,8:1@0) value (2:1@1,2:8@0,2:8@1)",
		"mma.m16n8k16.e4m3.A":     "m,k [16,16] thread (4:4@1,8:1@0) value (4:1@1,2:8@0)",
		"mma.m16n8k8.A":           "m,k [16,8] thread (4:1@1,8:1@0) value (2:8@0,2:4@1)",
		"mma.m16n8k8.f16.B":       "k,n [8,8] thread (4:2@0,8:1@1) value (2:1@0)",
		"mma.m16n8k32.B":          "k,n [32,8] thread (4:4@0,8:1@1) value (4:1@0,2:16@0)",
		"mma.m16n8k64.A":          "m,k [16,64] thread (4:8@1,8:1@0) value (8:1@1,2:8@0,2:32@1)",
		"mma.m16n8k32.C":          "m,n [16,8] thread (4:2@1,8:1@0) value (2:1@1,2:8@0)",
		"mma.m16n8k8.f16.D":       "m,n [16,8] thread (4:2@1,8:1@0) value (2:1@1,2:8@0)",
		"wgmma.m64n8.D":           "m,n [64,8] thread (4:2@1,8:1@0,4:16@0) value (2:1@1,2:8@0)",
		"wgmma.m64k32.e4m3.A":     "m,k [64,32] thread (4:4@1,8:1@0,4:16@0) value (4:1@1,2:8@0,2:16@1)",
		"wgmma.m64k16.A":          "m,k [64,16] thread (4:2@1,8:1@0,4:16@0) value (2:1@1,2:8@0,2:8@1)",
		"ldmatrix.x4":             "matrix,row,column [4,8,8] thread (4:2@2,8:1@1) value (2:1@2,4:1@0)",
		"ldmatrix.x1.trans":       "matrix,row,column [1,8,8] thread (4:2@1,8:1@2) value (2:1@1)",
		"stmatrix.x2.rows":        "matrix,row [2,8] thread (8:1@1,2:1@0) value ()",
		"ldmatrix.x4.source":      "row,column [16,16] thread (8:1@0,2:8@0,2:8@1) value (8:1@1)",
		"striped(32,64,2)":        "element [64] thread (32:2@0) value (2:1@0)",
		"striped2(32, 8,4,16, 2)": "row,column [4,16] thread (8:2@1,4:1@0) value (2:1@1)",
	} {
		f, err := Named(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(f.Axes, ",") + " " + f.Dist.String(); got != want || f.Name != name {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
		if _, err := DrawFragment(f); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]string{
		"":                     "unknown fragment",
		"mma":                  "wgmma.m64nN.D",
		"mma.m16n8k16":         "unknown fragment",
		"mma.m16n8k16.E":       "unknown fragment",
		"mma.m16n8kx.A":        "unknown fragment",
		"mma.m16n8k16.f64.A":   "unknown fragment",
		"mma.m16n8k16.f16.x.A": "unknown fragment",
		"mma.m16n8k24.A":       "name one of these, or the type",
		"mma.m16n8k32.f16.A":   "use k8 or k16",
		"mma.m16n8k32.f16.C":   "use k8 or k16",
		"mma.m16n8k32.e2m1.B":  "use mma.m16n8k32.e4m3.B",
		"wgmma.m64n12.D":       "multiple of 8",
		"wgmma.m64n8.A":        "unknown fragment",
		"wgmma.m64k16.f16.D":   "unknown fragment",
		"wgmma.m64k16.tf32.A":  "k is 32 bytes",
		"wgmma.m64k24.A":       "k is 32 bytes",
		"wgmma.m64k64.A":       "A of 4 bits",
		"ldmatrix.x3":          "use x1, x2 or x4",
		"stmatrix.x3.rows":     "use x1, x2 or x4",
		"ldmatrix.x4.down":     "unknown fragment",
		"ldmatrix.4":           "unknown fragment",
		"ldmatrix.x4.trans.b8": "unknown fragment",
		"striped(32,64)":       "striped(threads,n,vec)",
		"striped(32,64,0)":     "striped(threads,n,vec)",
		"striped(32,64,2,x)":   "striped(threads,n,vec)",
		"striped(32,64,2":      "striped(threads,n,vec)",
		"striped3(32,64,2)":    "striped(threads,n,vec)",
		"striped2(32,5,4,8,2)": "do not divide",
	} {
		if f, err := Named(name); err == nil || f != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want an error with %q", name, f, err, want)
		}
	}
}

// What cannot be drawn is an error with the numbers.
func TestNothingToDraw(t *testing.T) {
	for want, draw := range map[string]func() (*Picture, error){
		"1000 x 1000 cells": func() (*Picture, error) {
			return DrawLayout(layout.MustParse("(1000,1000):(1,1000)"), layout.Swizzle{}, 4)
		},
		"elements of 0 bytes": func() (*Picture, error) { return DrawLayout(layout.MustParse("8:1"), layout.Swizzle{}, 0) },
		"65536 cells": func() (*Picture, error) {
			return DrawFragment(&Fragment{"long", []string{"element"}, layout.Striped(32, 65536, 8), 32})
		},
		"90000 x 2 cells": func() (*Picture, error) {
			return DrawFragment(&Fragment{"high", make([]string, 3), &layout.Dist{Shape: []int{300, 300, 2}}, 32})
		},
		"4 axes": func() (*Picture, error) {
			return DrawFragment(&Fragment{"deep", make([]string, 4), &layout.Dist{Shape: []int{1, 1, 1, 1}}, 32})
		},
		"no accesses": func() (*Picture, error) { return DrawBanks("nobody", nil, 4) },
		"8192 x 1024 cells": func() (*Picture, error) {
			s, err := layout.NewSwizzle(10, 4, 13)
			if err != nil {
				return nil, err
			}
			return DrawSwizzle(s)
		},
	} {
		if p, err := draw(); err == nil || p != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v; want an error with %q", p, err, want)
		}
	}
}
