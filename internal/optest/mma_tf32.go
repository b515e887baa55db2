package optest

import "github.com/gotile/gotile/tile"

// mmaTF32Args: the products of A and B, given as the four forms take them, as TF32 and TF32x3: D[0] to D[3] and D[4] to
// D[7], with operands in shared memory; D[8] to D[11] and D[12] to D[15] with A, B, both and none of them in registers.
type mmaTF32Args struct {
	A tile.Global[tile.F32] `tile:"16,16"`
	B tile.Global[tile.F32] `tile:"16,16"`
	D tile.Global[tile.F32] `tile:"16,16,16"`
}

const tf32Side = 16

var (
	tf32Forms      = []tile.Form{tile.AB, tile.ABt, tile.AtB, tile.AtBt}
	tf32Accuracies = []tile.Accuracy{tile.TF32, tile.TF32x3}
)

func mmaTF32(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a mmaTF32Args) {
		warp := k.Warp()
		sa, sb := mmaTile(k, a.A, tf32Side, tf32Side), mmaTile(k, a.B, tf32Side, tf32Side)
		acc := tile.NewAcc[tile.F32](warp, tf32Side, tf32Side)
		plain := warp.Fragment(tf32Side, tf32Side)
		for i, accuracy := range tf32Accuracies {
			for j, form := range tf32Forms {
				tile.MMA(acc, sa, sb, form, accuracy, tile.Overwrite)
				tile.Store(warp, a.D.At(4*i+j), acc.Get())
				ra, rb := tile.Load(warp, a.A, mmaSpanOf(plain, transposedA(form))), tile.Load(warp, a.B, mmaSpanOf(plain, !transposedB(form)))
				switch j {
				case 0:
					tile.MMA(acc, ra, sb, form, accuracy, tile.Overwrite)
				case 1:
					tile.MMA(acc, sa, rb, form, accuracy, tile.Overwrite)
				case 2:
					tile.MMA(acc, ra, rb, form, accuracy, tile.Overwrite)
				default: // in two halves of k, the second of which adds
					tile.MMA(acc, sa.At(0, 0).Matrix(tf32Side/2, tf32Side), sb.At(0, 0).Matrix(tf32Side, tf32Side/2), form, accuracy, tile.Overwrite)
					tile.MMA(acc, sa.At(tf32Side/2, 0).Matrix(tf32Side/2, tf32Side), sb.At(0, tf32Side/2).Matrix(tf32Side, tf32Side/2), form, accuracy)
				}
				tile.Store(warp, a.D.At(8+4*i+j), acc.Get())
			}
		}
	}, tile.Threads(32), tile.Doc("Products of f32 by tensor cores, with tf32."))
}

func transposedA(f tile.Form) bool { return f == tile.AtB || f == tile.AtBt }
func transposedB(f tile.Form) bool { return f == tile.ABt || f == tile.AtBt }

func mmaSpanOf(s tile.Span, trans bool) tile.Span {
	if trans {
		return s.Transpose()
	}
	return s
}
