package gemm

import "github.com/gotile/gotile/tile"

// Form says which operands are given transposed: N as it is multiplied, T transposed, A first. Matrices are row-major.
type Form uint8

// The forms.
const (
	NN Form = iota // A of m x k, B of k x n
	NT             // A of m x k, B of n x k
	TN             // A of k x m, B of k x n
	TT             // A of k x m, B of n x k
)

// Forms are all forms.
var Forms = [...]Form{NN, NT, TN, TT}

// TransA reports whether A is given transposed, as k x m.
func (f Form) TransA() bool { return f == TN || f == TT }

// TransB reports whether B is given transposed, as n x k.
func (f Form) TransB() bool { return f == NT || f == TT }

// String is the form's name: NT.
func (f Form) String() string {
	if int(f) < len(Forms) {
		return [...]string{"NN", "NT", "TN", "TT"}[f]
	}
	return "unknown form"
}

// known reports whether the form is one of Forms.
func (f Form) known() bool { return int(f) < len(Forms) }

// mma is the form of the tiles' products.
func (f Form) mma() tile.Form { return [...]tile.Form{tile.AB, tile.ABt, tile.AtB, tile.AtBt}[f] }
