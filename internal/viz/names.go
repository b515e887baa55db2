package viz

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gotile/gotile/layout"
)

// FragmentNames is the list of what [Named] reads.
const FragmentNames = `  mma.m16n8kK.TYPE.A      operand A of mma.sync, [m,k]; K and TYPE: k4 k8 tf32, k8 k16 f16 bf16,
  mma.m16n8kK.TYPE.B      k16 k32 s8 u8 e4m3 e5m2, k32 k64 s4 u4, k64 e2m1; B is [k,n]. Without a TYPE it is that
                          of k8 tf32, k16 f16, k32 s8, k64 e2m1
  mma.m16n8kK.C           accumulator of mma.sync, [m,n]; D is the same
  wgmma.m64nN.D           accumulator of wgmma, [m,n]; N: 8, 16, ... 256
  wgmma.m64kK.A           operand A of wgmma from registers, [m,k]; k8 tf32, k16 f16 bf16, k32 8-bit
  ldmatrix.xN             what lanes get of N = 1, 2 or 4 matrices, [matrix,row,column]; also ldmatrix.xN.trans
  ldmatrix.xN.rows        which lane gives the address of which row, [matrix,row]
  ldmatrix.xN.source      the 16 bytes that each lane points to in a tile of 16-bit elements, matrices down first
  stmatrix.xN             as ldmatrix, reversed; also .trans, .rows
  striped(T,N,V)          a vector of N elements over T threads, V neighbours each
  striped2(T,A,R,C,V)     a tile of RxC over T threads, A of them across, V neighbours each`

// Fragment is a thread-value map with its name and the names of its axes.
type Fragment struct {
	Name string
	Axes []string
	Dist *layout.Dist
	Bits int // of an element, where the name says so or one is usual
}

// bitsOf are the element types of MMA operands.
var bitsOf = map[string]int{
	"tf32": 32, "f16": 16, "bf16": 16, "s8": 8, "u8": 8, "e4m3": 8, "e5m2": 8, "s4": 4, "u4": 4, "e2m1": 4,
}

// Named finds a thread-value map by a name of the list FragmentNames.
func Named(name string) (*Fragment, error) {
	d, axes, bits, err := named(name)
	if err != nil {
		return nil, err
	}
	return &Fragment{name, axes, d, bits}, nil
}

func named(name string) (d *layout.Dist, axes []string, bits int, err error) {
	parts := strings.Split(name, ".")
	switch op := parts[0]; {
	case op == "mma" && len(parts) > 2:
		return mma(name, parts[1:])
	case op == "wgmma" && len(parts) > 2:
		return wgmma(name, parts[1:])
	case (op == "ldmatrix" || op == "stmatrix") && len(parts) > 1 && len(parts) < 4:
		d, axes, err = matrices(name, parts)
		return d, axes, 16, err
	case strings.HasPrefix(op, "striped"):
		d, axes, err = striped(name)
		return d, axes, 32, err
	}
	return nil, nil, 0, unknown(name)
}

func unknown(name string) error {
	return fmt.Errorf("unknown fragment %q; have\n%s", name, FragmentNames)
}

// after is the number that follows a prefix; ok says that this is all there is.
func after(s, prefix string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil
}

// mma reads m16n8kK[.TYPE].OPERAND.
func mma(name string, parts []string) (*layout.Dist, []string, int, error) {
	k, ok := after(parts[0], "m16n8k")
	operand := parts[len(parts)-1]
	if !ok || k < 1 || len(parts) > 3 {
		return nil, nil, 0, unknown(name)
	}
	bits := 256 / k // a row of A is 32 bytes
	switch {
	case len(parts) == 3:
		if bits, ok = bitsOf[parts[1]]; !ok {
			return nil, nil, 0, unknown(name)
		}
		if parts[1] == "e2m1" && k != 64 {
			return nil, nil, 0, fmt.Errorf("%s: e2m1 has 4 bits in k64; in k32 each lies in a byte: use mma.m16n8k32.e4m3.%s", name, operand)
		}
	case k != 8 && k != 16 && k != 32 && k != 64:
		return nil, nil, 0, fmt.Errorf("%s: k%d is not the k8 of tf32, k16 of f16, k32 of s8 or k64 of e2m1; name one of these, or the type, such as mma.m16n8k8.f16.A", name, k)
	}
	switch operand {
	case "A":
		d, err := layout.MMASyncA(k, bits)
		return d, []string{"m", "k"}, bits, err
	case "B":
		d, err := layout.MMASyncB(k, bits)
		return d, []string{"k", "n"}, bits, err
	case "C", "D":
		if _, err := layout.MMASyncA(k, bits); err != nil { // there is no such instruction
			return nil, nil, 0, err
		}
		return layout.MMASyncC(), []string{"m", "n"}, 32, nil
	}
	return nil, nil, 0, unknown(name)
}

// wgmma reads m64nN.D and m64kK[.TYPE].A.
func wgmma(name string, parts []string) (*layout.Dist, []string, int, error) {
	if n, ok := after(parts[0], "m64n"); ok && len(parts) == 2 && parts[1] == "D" {
		d, err := layout.WGMMAD(n)
		return d, []string{"m", "n"}, 32, err
	}
	k, ok := after(parts[0], "m64k")
	if !ok || k < 1 || len(parts) > 3 || parts[len(parts)-1] != "A" {
		return nil, nil, 0, unknown(name)
	}
	bits := 256 / k
	if len(parts) == 3 && bitsOf[parts[1]] != bits || bits*k != 256 {
		return nil, nil, 0, fmt.Errorf("%s: k is 32 bytes: k8 of tf32, k16 of f16 or bf16, k32 of 8-bit elements", name)
	}
	d, err := layout.WGMMAA(bits)
	return d, []string{"m", "k"}, bits, err
}

// matrices reads ldmatrix.xN and stmatrix.xN with what may follow.
func matrices(name string, parts []string) (d *layout.Dist, axes []string, err error) {
	x, ok := after(parts[1], "x")
	if !ok {
		return nil, nil, unknown(name)
	}
	move, rows := layout.Ldmatrix, layout.LdmatrixRows
	if parts[0] == "stmatrix" {
		move, rows = layout.Stmatrix, layout.StmatrixRows
	}
	switch form := slices.Concat(parts, []string{""})[2]; form {
	case "", "trans":
		d, err = move(x, form == "trans")
		return d, []string{"matrix", "row", "column"}, err
	case "rows":
		d, err = rows(x)
		return d, []string{"matrix", "row"}, err
	case "source":
		d, err = layout.LdmatrixSource(x)
		return d, []string{"row", "column"}, err
	}
	return nil, nil, unknown(name)
}

// striped reads striped(threads,n,vec) and striped2(threads,across,rows,cols,vec).
func striped(name string) (*layout.Dist, []string, error) {
	op, list, ok := strings.Cut(strings.ReplaceAll(name, " ", ""), "(")
	list, closed := strings.CutSuffix(list, ")")
	want := map[string]int{"striped": 3, "striped2": 5}[op]
	var n []int
	for _, s := range strings.Split(list, ",") {
		i, err := strconv.Atoi(s)
		if err != nil || i < 1 || i > MaxCells {
			ok = false
			break
		}
		n = append(n, i)
	}
	if !ok || !closed || len(n) != want {
		return nil, nil, fmt.Errorf("%s: it is striped(threads,n,vec) or striped2(threads,across,rows,cols,vec) of numbers from 1 to %d", name, MaxCells)
	}
	if op == "striped" {
		return layout.Striped(n[0], n[1], n[2]), []string{"element"}, nil
	}
	if n[0]%n[1] != 0 {
		return nil, nil, fmt.Errorf("%s: %d threads across do not divide %d threads", name, n[1], n[0])
	}
	return layout.Striped2(n[0], n[1], n[2], n[3], n[4]), []string{"row", "column"}, nil
}
