package layout

// Ldmatrix is where ldmatrix .m8n8.xN.b16 puts x matrices of 8x8 16-bit elements, [matrix, row, column] = [x, 8, 8], 32
// threads: lane l has in value i, half i%2 of register i/2,
//
//	matrix = i/2
//	row    = l/4
//	column = 2*(l%4) + i%2
//
// with row and column exchanged where trans. x is 1, 2 or 4; others are errors. Lanes give the addresses of rows:
// LdmatrixRows. Each matrix, without trans, is a core matrix of the 16-bit fragments, so x4 loads the A of an m16n8k16
// if its matrices are, in order, those at (0, 0), (8, 0), (0, 8) and (8, 8).
// PTX ISA, "Warp-level matrix load instruction: ldmatrix".
func Ldmatrix(x int, trans bool) (*Dist, error) {
	if err := checkMatrices("ldmatrix", x); err != nil {
		return nil, err
	}
	return matrices(x, trans), nil
}

// LdmatrixRows is which lane gives ldmatrix the address of which row, [matrix, row] = [x, 8], no values: lane l of the
// first 8*x gives that of row l%8 of matrix l/8; the addresses of lanes from 8*x on are not used. A row is 16 bytes
// at a multiple of 16. It is the same with and without trans. x is 1, 2 or 4; others are errors.
// PTX ISA, "Warp-level matrix load instruction: ldmatrix".
func LdmatrixRows(x int) (*Dist, error) {
	if err := checkMatrices("ldmatrix", x); err != nil {
		return nil, err
	}
	return matrixRows(x), nil
}

// Stmatrix is what stmatrix .m8n8.xN.b16 stores, [matrix, row, column] = [x, 8, 8], 32 threads: it undoes an Ldmatrix
// of the same x and trans, whose map it has, and takes the same rows from the same lanes, StmatrixRows.
// PTX ISA, "Warp-level matrix store instruction: stmatrix".
func Stmatrix(x int, trans bool) (*Dist, error) {
	if err := checkMatrices("stmatrix", x); err != nil {
		return nil, err
	}
	return matrices(x, trans), nil
}

// StmatrixRows is which lane gives stmatrix the address of which row: that of LdmatrixRows.
func StmatrixRows(x int) (*Dist, error) {
	if err := checkMatrices("stmatrix", x); err != nil {
		return nil, err
	}
	return matrixRows(x), nil
}

func checkMatrices(op string, x int) error {
	if x != 1 && x != 2 && x != 4 {
		return fail(ErrInvalid, "%s .x%d: it moves 1, 2 or 4 matrices; use x1, x2 or x4", op, x)
	}
	return nil
}

func matrices(x int, trans bool) *Dist {
	c := core(2)
	if trans {
		c.swap()
	}
	m := &Dist{Shape: append([]int{1}, c.Shape...), Thread: shifted(c.Thread), Value: shifted(c.Value)}
	return m.repeat(0, x)
}

func matrixRows(x int) *Dist {
	return &Dist{Shape: []int{x, 8}, Thread: normal(Mode{8, 1, 1}, Mode{x, 0, 1})}
}

// shifted is modes with one more axis before theirs.
func shifted(ms []Mode) []Mode {
	out := make([]Mode, len(ms))
	for i, m := range ms {
		m.Axis++
		out[i] = m
	}
	return out
}

// LdmatrixSource is the 16 bytes that each lane of ldmatrix .xN, or stmatrix, points to in a tile of 16-bit elements, as
// a distribution: [8, 8], [16, 8] or [16, 16], 8*x threads of 8 values. The matrices lie down first, as A of m16n8k16
// wants them: lane l has row l%16 (l%8 of x1), columns 8*(l/16) to 8*(l/16)+7. Its bank conflicts are the instruction's:
// ldmatrix is served, like an access of 16 bytes a lane, in phases of 8 lanes, a matrix each.
func LdmatrixSource(x int) (*Dist, error) {
	if err := checkMatrices("ldmatrix", x); err != nil {
		return nil, err
	}
	d := &Dist{Shape: []int{8, 8}, Thread: []Mode{{8, 0, 1}}, Value: []Mode{{8, 1, 1}}}
	for axis := 0; x > 1; axis, x = axis+1, x/2 {
		d.stack(axis, 2)
	}
	return d, nil
}
