package layout

import "slices"

// All fragments are made of one thing, the core matrix: 8 rows of 16 bytes. Four lanes share a row, each with the 4
// bytes of one register, and eight such quads have the rows. An operand's other registers, and a warpgroup's other
// warps, repeat the core matrix along an axis.

// core is a core matrix whose registers hold e elements: [8, 4e].
func core(e int) *Dist {
	return &Dist{Shape: []int{8, 4 * e}, Thread: []Mode{{4, 1, e}, {8, 0, 1}}, Value: normal(Mode{e, 1, 1})}
}

// repeat continues d n times along axis in further values of the same threads.
func (d *Dist) repeat(axis, n int) *Dist {
	d.Value = append(d.Value, normal(Mode{n, axis, d.Shape[axis]})...)
	d.Shape[axis] *= n
	return d
}

// stack continues d n times along axis in further threads.
func (d *Dist) stack(axis, n int) *Dist {
	d.Thread = append(d.Thread, Mode{n, axis, d.Shape[axis]})
	d.Shape[axis] *= n
	return d
}

// swap exchanges the last two axes.
func (d *Dist) swap() *Dist {
	a, b := len(d.Shape)-2, len(d.Shape)-1
	d.Shape[a], d.Shape[b] = d.Shape[b], d.Shape[a]
	for _, ms := range [][]Mode{d.Thread, d.Value} {
		for i, m := range ms {
			switch m.Axis {
			case a:
				ms[i].Axis = b
			case b:
				ms[i].Axis = a
			}
		}
	}
	return d
}

// checkMMA holds k and the bits of an element against the shapes of mma.sync: a row of A is one or two registers of
// each of its four lanes.
func checkMMA(k, bits int) error {
	switch bits {
	case 4, 8, 16, 32:
		if k == 128/bits || k == 256/bits {
			return nil
		}
		return fail(ErrInvalid, "mma.sync m16n8k%d of elements of %d bits: k is 128 or 256 bits; use k%d or k%d", k, bits, 128/bits, 256/bits)
	}
	return fail(ErrInvalid, "mma.sync of elements of %d bits: the fragments are those of 32 (tf32), 16, 8 and 4 bits", bits)
}

// MMASyncA is operand A of mma.sync m16n8k, [m, k] = [16, k], 32 threads. With e = 32/bits elements a register, lane l
// has in value i
//
//	m = l/4 + 8*(i/e%2)
//	k = e*(l%4) + i%e + 4e*(i/2e)
//
// bits is 32 (tf32), 16 (f16, bf16), 8 (s8, u8, e4m3, e5m2; other formats that lie in a byte each) or 4 (s4, u4; e2m1 of
// k64), and k is 128/bits or 256/bits: k8 and k16 for 16 bits, k16 and k32 for 8. Other shapes are errors.
// PTX ISA, "Matrix Fragments for mma.m16n8k8", and those for m16n8k16, m16n8k32 and m16n8k64.
func MMASyncA(k, bits int) (*Dist, error) {
	if err := checkMMA(k, bits); err != nil {
		return nil, err
	}
	return fragmentA(k, bits), nil
}

func fragmentA(k, bits int) *Dist { return core(32/bits).repeat(0, 2).repeat(1, k*bits/128) }

// MMASyncB is operand B of mma.sync m16n8k, [k, n] = [k, 8], 32 threads: what A is, of n in place of m, without the
// lower half. With e = 32/bits elements a register, lane l has in value i
//
//	k = e*(l%4) + i%e + 4e*(i/e)
//	n = l/4
//
// bits and k are those of MMASyncA.
// PTX ISA, "Matrix Fragments for mma.m16n8k8", and those for m16n8k16, m16n8k32 and m16n8k64.
func MMASyncB(k, bits int) (*Dist, error) {
	if err := checkMMA(k, bits); err != nil {
		return nil, err
	}
	return core(32/bits).repeat(1, k*bits/128).swap(), nil
}

// MMASyncC is the accumulator, C and D, of every mma.sync m16n8k, [m, n] = [16, 8], 32 threads, whether f32, s32 or, in
// pairs, f16: lane l has in value i
//
//	m = l/4 + 8*(i/2)
//	n = 2*(l%4) + i%2
//
// PTX ISA, "Matrix Fragments for mma.m16n8k8", and those for m16n8k16, m16n8k32 and m16n8k64.
func MMASyncC() *Dist { return core(2).repeat(0, 2) }

// WGMMAA is operand A of wgmma.mma_async m64 from registers, [m, k] = [64, 256/bits], 128 threads: each warp of the
// warpgroup has the A of an mma.sync of as many k. With e = 32/bits elements a register, thread t has in value i
//
//	m = 16*(t/32) + t%32/4 + 8*(i/e%2)
//	k = e*(t%4) + i%e + 4e*(i/2e)
//
// bits is 32 (tf32), 16 (f16, bf16) or 8 (s8, u8, e4m3, e5m2); others are errors. That of 16 bits is WGMMAD(16), so an
// accumulator rounded to 16 bits is the A operand of the next MMA; that of 8 bits is no accumulator's.
// PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16", and those for m64nNk8 and m64nNk32.
func WGMMAA(bits int) (*Dist, error) {
	if bits != 32 && bits != 16 && bits != 8 {
		return nil, fail(ErrInvalid, "wgmma with A of %d bits: A is of 32 (tf32), 16 or 8 bits", bits)
	}
	return fragmentA(256/bits, bits).stack(0, 4), nil
}

// WGMMAD is the accumulator of wgmma.mma_async m64nN, [m, n] = [64, n], 128 threads, whether f32, s32 or, in pairs, f16:
// thread t has in value i
//
//	m = 16*(t/32) + t%32/4 + 8*(i/2%2)
//	n = 2*(t%4) + i%2 + 8*(i/4)
//
// n is a multiple of 8 from 8 to 256; others are errors.
// PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16".
func WGMMAD(n int) (*Dist, error) {
	if n < 8 || n > 256 || n%8 != 0 {
		return nil, fail(ErrInvalid, "wgmma m64n%d: n is a multiple of 8 from 8 to 256", n)
	}
	return MMASyncC().repeat(1, n/8).stack(0, 4), nil
}

// Fragment is a tile of [m, n] over warps warps, 1 or 4 (a warpgroup), in the form of the accumulators of mma.sync and
// wgmma: warp w has m/warps rows, 16 of every 16*warps, as tiles of MMASyncC one beside the other, then one below the
// other. With two elements a register thread t has in value i
//
//	m = 16*(t/32) + t%32/4 + 8*(i/2%2) + 16*warps*(i/(n/2))
//	n = 2*(t%4) + i%2 + 8*(i/4%(n/8))
//
// Of 16-bit elements its registers are also those of operand A, [m, k], and, with m for n, of operand B, [n, k]: so an
// accumulator rounded to 16 bits is an operand as it is. m is a multiple of 16*warps, n of 8; others are errors.
// PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type" and "Register Fragments for
// wgmma.mma_async.m64nNk16".
func Fragment(m, n, warps int) (*Dist, error) {
	if warps != 1 && warps != 4 {
		return nil, fail(ErrInvalid, "a fragment over %d warps: it is a warp's, or a warpgroup's of 4", warps)
	}
	if m < 1 || m%(16*warps) != 0 || n < 1 || n%8 != 0 {
		return nil, fail(ErrInvalid, "a fragment of %dx%d over %d warps: the rows are a multiple of %d, the columns of 8", m, n, warps, 16*warps)
	}
	d := MMASyncC().repeat(1, n/8)
	if warps > 1 {
		d.stack(0, warps)
	}
	return d.repeat(0, m/d.Shape[0]), nil
}

// FragmentTF32 is a tile of [m, k] of f32 over a warpgroup, in the form of operand A of wgmma m64nNk8: tiles of WGMMAA(32)
// one beside the other, then one below the other. With k/2 elements of a thread in each 64 rows thread t has in value i
//
//	m = 16*(t/32) + t%32/4 + 8*(i%2) + 64*(i/(k/2))
//	k = t%4 + 4*(i/2%2) + 8*(i/4%(k/8))
//
// m is a multiple of 64, k of 8; others are errors.
// PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk8".
func FragmentTF32(m, k int) (*Dist, error) {
	if m < 1 || m%64 != 0 || k < 1 || k%8 != 0 {
		return nil, fail(ErrInvalid, "a fragment of tf32 of %dx%d: the rows are a multiple of 64, the columns of 8", m, k)
	}
	return fragmentA(8, 32).repeat(1, k/8).stack(0, 4).repeat(0, m/64), nil
}

// Transpose is the distribution with its last two axes exchanged: the transpose of a tile, in the same registers of the
// same threads. Dists of rank 1 have none.
func (d *Dist) Transpose() (*Dist, error) {
	if d.Rank() < 2 {
		return nil, fail(ErrInvalid, "the transpose of a distribution of rank %d: it has two axes at least", d.Rank())
	}
	t := &Dist{Shape: slices.Clone(d.Shape), Thread: slices.Clone(d.Thread), Value: slices.Clone(d.Value)}
	return t.swap(), nil
}
