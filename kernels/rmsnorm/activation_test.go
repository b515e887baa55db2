//go:build !gotilegen

package rmsnorm

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/runtime/sim"
	"github.com/gotile/gotile/tile"
)

// gateArgs are those of a kernel that is the gate alone.
type gateArgs struct {
	U, Z, Y tile.Global[tile.F32] `tile:"n"`
}

const gateTile = 1024

// gateOf runs u*act(z) as f32 kernels compute it on the simulator. len(u) is a multiple of gateTile.
func gateOf(t *testing.T, act Activation, u, z []float32) []float32 {
	t.Helper()
	c := Config{X: dtype.F32, Act: act}
	k, err := tile.Define("gate", func(k *tile.Builder, a gateArgs) {
		block := k.Block()
		for i := range tile.Persistent(k, a.U.Dim(0), tile.Step(gateTile), tile.OneBlockEach()) {
			span := block.Striped(gateTile, 4)
			load := func(g tile.Global[tile.F32]) tile.Reg[tile.F32] { return tile.Load(block, g.At(i), span) }
			tile.Store(block, a.Y.At(i), c.gated(block, load(a.U), load(a.Z)))
		}
	}, tile.Threads(256))
	if err != nil {
		t.Fatal(err)
	}
	low, err := k.Lower("sm_90a")
	if err != nil {
		t.Fatal(err)
	}
	program, err := sim.Compile(low)
	if err != nil {
		t.Fatal(err)
	}
	mem := sim.NewMemory(false)
	args, bufs := make([]byte, low.ArgBytes), map[string][]byte{}
	for _, a := range low.Args {
		switch a.Kind {
		case thr.ArgPointer:
			addr, err := mem.Alloc(4 * len(u))
			if err != nil {
				t.Fatal(err)
			}
			if bufs[a.Name], err = mem.Bytes(addr, 4*len(u)); err != nil {
				t.Fatal(err)
			}
			binary.LittleEndian.PutUint64(args[a.Offset:], addr)
		case thr.ArgDim:
			binary.LittleEndian.PutUint32(args[a.Offset:], uint32(len(u)))
		default:
			t.Fatalf("argument %s of an unknown kind", a.Name)
		}
	}
	for i := range u {
		binary.LittleEndian.PutUint32(bufs["u"][4*i:], math.Float32bits(u[i]))
		binary.LittleEndian.PutUint32(bufs["z"][4*i:], math.Float32bits(z[i]))
	}
	if _, err := program.Run(t.Context(), mem, len(u)/gateTile, args, sim.Options{}); err != nil {
		t.Fatal(err)
	}
	y := make([]float32, len(u))
	for i := range y {
		y[i] = math.Float32frombits(binary.LittleEndian.Uint32(bufs["y"][4*i:]))
	}
	return y
}

// exact is u*act(z) in float64, with the limit 0 of silu.
func exact(act Activation, u, z float32) float64 {
	z = max(z, -math.MaxFloat32)
	y := float64(u) / (1 + math.Exp(-float64(z)))
	if act == Silu {
		y *= float64(z)
	}
	return y
}

// ulp is the distance of f32 numbers at x.
func ulp(x float64) float64 {
	f := float32(math.Abs(x))
	return float64(math.Nextafter32(f, math.MaxFloat32)) - float64(f)
}

// TestGateRoundsOnce: the error is below 0.52 ulp of the result where e^-z is small, so that its own rounding is lost.
// Elsewhere that adds up to 1, as the simulator rounds it once, and near the least normal number the correction is
// flushed to 0.
func TestGateRoundsOnce(t *testing.T) {
	const n = 256 * gateTile
	for _, act := range []Activation{Silu, Sigmoid} {
		u, z := make([]float32, n), make([]float32, n)
		for i := range u {
			z[i] = -87 + 174*float32(i)/n
			u[i] = (1 + float32(i*7919%n)/n) * float32(1-2*(i%2))
		}
		y := gateOf(t, act, u, z)
		var large, all float64 // in ulp
		for i := range y {
			want := exact(act, u[i], z[i])
			e := math.Abs(float64(y[i])-want) / ulp(want)
			if all = max(all, e); z[i] > 6 {
				large = max(large, e)
			}
			if math.IsNaN(e) {
				t.Fatalf("%v: u = %g, z = %g: %g, want %g", act, u[i], z[i], y[i], want)
			}
		}
		if t.Logf("%v: %.3f ulp where z > 6, %.3f ulp at most", act, large, all); large > 0.52 || all > 2.5 {
			t.Errorf("%v: %.3f ulp where z > 6, %.3f ulp at most", act, large, all)
		}
	}
}

// TestGateExtremes: at the ends of f32 the gate is what the formula says, and a NaN stays one. z below -87 counts as it,
// so there the result is 0 to within 2e-36 of u.
func TestGateExtremes(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	tiny, most := float32(math.SmallestNonzeroFloat32), float32(math.MaxFloat32)
	values := []float32{0, float32(math.Copysign(0, -1)), tiny, -tiny, 1e-38, 1, -1, 87, -87, 88, -88, 89, -89, 104, -104,
		1e30, -1e30, most, -most, inf, -inf, nan}
	for _, act := range []Activation{Silu, Sigmoid} {
		u, z := make([]float32, gateTile), make([]float32, gateTile)
		for i := range u {
			u[i], z[i] = values[i/len(values)%len(values)], values[i%len(values)]
		}
		y := gateOf(t, act, u, z)
		for i := range y {
			want, got := exact(act, u[i], z[i]), float64(y[i])
			product := u[i] // what is divided
			if act == Silu {
				product *= max(z[i], -87)
			}
			switch past := math.IsInf(float64(product), 0); {
			case math.IsNaN(float64(product)) || math.IsNaN(float64(z[i])):
				if !math.IsNaN(got) {
					t.Errorf("%v: u = %g, z = %g: %g, want NaN", act, u[i], z[i], got)
				}
			case past:
				if got != float64(product) {
					t.Errorf("%v: u = %g, z = %g: %g, want %g", act, u[i], z[i], got, product)
				}
			case !(math.Abs(got-want) <= 2*ulp(want)+2e-36*math.Abs(float64(u[i]))):
				t.Errorf("%v: u = %g, z = %g: %g, want %g", act, u[i], z[i], got, want)
			}
		}
	}
}
