package sim

import (
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/layout"
)

// The multiply of a warpgroup. Each warp multiplies its own 16 rows of the 64, at some time between the instruction and the
// wait for its group. It reads shared memory then, where the descriptors say, and not where the tile's layout says. Its
// registers are poison until the wait, and no other statement may touch them. A warp's multiplies are one asynchronous
// agent, whose epochs they are: they end in order.

const (
	wgmmaRows  = 64
	groupWarps = 4
	warpRows   = wgmmaRows / groupWarps
)

// multiply is a wgmma instruction.
type multiply struct {
	siteA, siteB int32
	a, b         int32 // registers of descriptors
	aMN, bMN     bool
	adds         bool
	dt           dtype.Type
	n            int
	half         bool    // the accumulator is of f16, in pairs
	ints         bool    // it is of i32
	acc          []int32 // registers
	regsA        []int32 // of A; nil: it is in shared memory
	bufA, bufB   *thr.SharedBuf
	placeA       []mmaPlace // in regsA
	placeD       []mmaPlace // in acc
}

func (c *compiler) wgmma(s thr.Do) {
	if s.Pred != nil || len(s.Frags) != len(s.Fn.Frags()) {
		c.fail("%s for some lanes, or of %d fragments", s.Fn, len(s.Frags))
	}
	o, size := &multiply{dt: s.DT, half: s.Frags[0].Local.Type.DT == dtype.U32, ints: s.Frags[0].Local.Type.DT == dtype.I32, bufA: s.Buf, bufB: s.BufB}, s.DT.Size()
	flags, descs := s.Args[1:], s.Args[:1]
	if s.Fn == thr.WGMMA {
		flags, descs = s.Args[2:], s.Args[:2]
	}
	var on []bool
	for _, e := range flags {
		v, ok := c.fold(e)
		if !ok {
			c.fail("%s with a form that is no constant", s.Fn)
		}
		on = append(on, v != 0)
	}
	last := len(on) - 1
	o.adds, o.bMN, o.aMN = on[last], on[last-1], last > 1 && on[0]
	if decoder(s.DT) == nil || (o.aMN || o.bMN) && size != 2 || o.half && s.DT != dtype.F16 || o.ints != (s.DT == dtype.I8) {
		c.fail("%s of %s, A and B along their rows: %t, %t", s.Fn, s.DT, o.aMN, o.bMN)
	}
	each := 1
	if o.half {
		each = 2
	}
	o.acc = c.held(s, 0)
	o.n = len(o.acc) * each * warpSize / warpRows
	d, err := layout.Fragment(warpRows, o.n, 1)
	if err != nil || o.n > 256 {
		c.fail("%s of %d columns", s.Fn, o.n)
	}
	o.placeD = mmaPlaces(d, each)
	o.siteB = c.siteOf("multiply of a warpgroup", 0, s.BufB)
	o.b = c.vec(descs[len(descs)-1]).i
	if s.Fn == thr.WGMMA {
		o.siteA, o.a = c.siteOf("multiply of a warpgroup", 0, s.Buf), c.vec(descs[0]).i
	} else {
		o.regsA = c.held(s, 1)
		a, err := layout.MMASyncA(wgmmaStep/size, 8*size)
		if err != nil {
			c.fail("%s of %s: %v", s.Fn, s.DT, err)
		}
		o.placeA = mmaPlaces(a, 4/size)
	}
	c.program.multiplies, c.program.async = true, true
	c.emit(int64(warpRows*o.n*wgmmaStep/size), o.issue)
}

// held are the registers of a fragment of a multiply.
func (c *compiler) held(s thr.Do, i int) []int32 {
	c.holding = true
	defer func() { c.holding = false }()
	return c.fragment(s, i)
}

// heldLocals are the locals that multiplies of warpgroups have as fragments.
func heldLocals(body []thr.Stmt) map[*thr.Local]bool {
	out := map[*thr.Local]bool{}
	thr.Each(body, func(s thr.Stmt) {
		if d, ok := s.(thr.Do); ok && d.Fn.Warpgroup() {
			for _, f := range d.Frags {
				out[f.Local] = true
			}
		}
	})
	return out
}

// touch emits, for another statement than a multiply, the check that registers are not in flight.
func (c *compiler) touch(l *thr.Local, first int32, n int) {
	if c.holding || !c.heldLocals[l] {
		return
	}
	at := c.site("access to registers of a multiply", 0)
	c.emit(0, func(w *warp) { w.touch(at, first, n) })
}

// flight is a multiply that was issued.
type flight struct {
	o     *multiply
	a, b  descriptor
	x     []float64 // A, if it is in registers
	acc   *accumulator
	epoch uint32
}

// accumulator is the value of an accumulator of multiplies in flight, row by row.
type accumulator struct {
	values []float64 // of its type
	flying int       // multiplies that are not waited for
}

// take takes the registers of an accumulator, which are poison until they are put back.
func (o *multiply) take(w *warp) *accumulator {
	acc := &accumulator{values: make([]float64, len(o.placeD))}
	for i, p := range o.placeD {
		switch bits := w.r[o.acc[p.reg]][p.lane]; {
		case o.half:
			acc.values[i] = float64(dtype.F16FromBits(uint16(bits >> p.shift)).Float32())
		case o.ints:
			acc.values[i] = float64(int32(bits))
		default:
			acc.values[i] = float64(float(bits))
		}
	}
	for _, r := range o.acc {
		w.fill(operand{i: r}, 0xffffffff)
	}
	return acc
}

func (o *multiply) putBack(w *warp, acc *accumulator) {
	for _, r := range o.acc {
		w.r[r] = lanes{}
	}
	for i, p := range o.placeD {
		bits := fbits(float32(acc.values[i]))
		switch {
		case o.half:
			bits = f16(bits)
		case o.ints:
			bits = uint64(uint32(int32(acc.values[i])))
		}
		w.r[o.acc[p.reg]][p.lane] |= bits << p.shift
	}
}

// multiplies are those of a warp.
type multiplies struct {
	open   []*bulk
	groups [][]*bulk // that have not been waited for, the oldest first
	count  uint32    // so far
	accs   map[int32]*accumulator
	busy   []int32 // by register: the site of the multiply in flight that has it, and 1
	dirty  []int32 // by register: where it was accessed after the last fence, and 1
	fenced bool
}

func (m *multiplies) reset(registers int) {
	if m.busy == nil {
		m.busy, m.dirty = make([]int32, registers), make([]int32, registers)
	}
	clear(m.busy)
	clear(m.dirty)
	m.open, m.groups, m.count, m.fenced, m.accs = nil, nil, 0, false, map[int32]*accumulator{}
}

// flying are the multiplies that have not been waited for, the oldest first.
func (m *multiplies) flying() []*bulk {
	var out []*bulk
	for _, g := range m.groups {
		out = append(out, g...)
	}
	return append(out, m.open...)
}

// touch checks and notes an access to registers by another statement than a multiply.
func (w *warp) touch(at, first int32, n int) {
	m := &w.multiplies
	for r := first; r < first+int32(n); r++ {
		if by := m.busy[r]; by != 0 {
			w.report(InFlight, at, by-1, 0, "an access to a register of a multiply that may be under way: no wait for its group comes between the two")
			return
		}
		m.dirty[r] = at + 1
	}
}

// issue begins a multiply.
func (o *multiply) issue(w *warp) {
	m := &w.multiplies
	if !m.fenced {
		w.report(UnfencedRegisters, o.siteB, none, 0, "the first multiply of a warp, with no fence of its registers before")
	}
	w.checkFenced(o, o.acc)
	w.checkFenced(o, o.regsA)
	f := &flight{o: o, b: newDescriptor(o.agreed(w, o.b), o.bMN)}
	if o.regsA == nil {
		f.a = newDescriptor(o.agreed(w, o.a), o.aMN)
	} else {
		decode := decoder(o.dt)
		for _, p := range o.placeA {
			f.x = append(f.x, decode(w.vec(o.regsA[p.reg])[p.lane]>>p.shift))
		}
	}
	w.block.together(w, f)
	if f.acc = m.accs[o.acc[0]]; f.acc == nil {
		f.acc = o.take(w)
		m.accs[o.acc[0]] = f.acc
	}
	f.acc.flying++
	m.hold(o)
	m.count++
	f.epoch = agentEpoch + m.count
	k := &bulk{w: w, site: o.siteB, multiply: f}
	f.checkReads(k)
	m.open = append(m.open, k)
	if w.block.completion != Late { // then nothing but a wait ends it
		w.block.cluster.fly(k)
	}
}

// hold notes that a multiply has registers.
func (m *multiplies) hold(o *multiply) {
	for _, r := range o.acc {
		m.busy[r] = o.siteB + 1
	}
	for _, r := range o.regsA {
		m.busy[r] = o.siteB + 1
	}
}

// checkFenced checks that no register was accessed since the last fence.
func (w *warp) checkFenced(o *multiply, regs []int32) {
	for _, r := range regs {
		if by := w.multiplies.dirty[r]; by != 0 {
			w.report(UnfencedRegisters, o.siteB, by-1, 0, "a multiply of registers that were accessed after the last fence of registers")
			return
		}
	}
}

// agreed is a descriptor, which is the same in all lanes.
func (o *multiply) agreed(w *warp, r int32) uint64 {
	x := w.vec(r)
	for l := range x {
		if x[l] != x[0] {
			w.report(NonUniform, o.siteB, none, l, "descriptor %#x in lane 0, %#x in lane %d", x[0], x[l], l)
			break
		}
	}
	return x[0]
}

// issued is a multiply that the first of a warpgroup's warps has issued.
type issued struct {
	site int32
	a, b descriptor
}

// together checks that the warps of a warpgroup issue the same multiplies.
func (b *block) together(w *warp, f *flight) {
	group, now := &b.warpgroups[w.id/groupWarps], issued{f.o.siteB, f.a, f.b}
	n := int(w.multiplies.count)
	if n == len(*group) {
		*group = append(*group, now)
	} else if was := (*group)[n]; was != now {
		w.report(NonUniform, now.site, was.site, 0, "the warps of a warpgroup issue different multiplies, or of different matrices")
	}
}

// checkReads checks and records what a multiply reads of shared memory: of A the rows of the warp, and all of B.
func (f *flight) checkReads(k *bulk) {
	o := f.o
	check := func(d descriptor, site int32, buf *thr.SharedBuf, row, rows int) {
		k.site = site
		now := newRecord(f.epoch, site, k.w.multipliesAgent(), 0) | recordAgent
		low, high := buf.Offset, buf.Offset+buf.Bytes
		d.chunks(row, rows, o.dt.Size(), func(at, _, _ int) {
			if at < low || at+chunkBytes > high {
				k.w.report(OutOfBounds, site, none, 0, "a multiply reads byte %d of %s, which has %d", at-low, buf.Name, high-low)
				return
			}
			k.check(now, 0, false, at, chunkBytes)
		})
	}
	if o.regsA == nil {
		check(f.a, o.siteA, o.bufA, warpRows*(k.w.id%groupWarps), warpRows)
	}
	check(f.b, o.siteB, o.bufB, 0, o.n)
}

// execute computes a multiply, after those before it.
func (f *flight) execute(w *warp) {
	for _, k := range w.multiplies.flying() {
		if k.multiply.epoch < f.epoch && !k.done {
			k.done = true
			k.multiply.compute(w)
		}
	}
	f.compute(w)
}

func (f *flight) compute(w *warp) {
	o, c := f.o, w.block.cluster
	step, data := wgmmaStep/o.dt.Size(), w.block.shared.data
	x := f.x
	if x == nil {
		c.x = slices.Grow(c.x[:0], warpRows*step)[:warpRows*step]
		x = c.x
		f.a.matrix(data, warpRows*(w.id%groupWarps), warpRows, o.dt, x)
	}
	c.y = slices.Grow(c.y[:0], o.n*step)[:o.n*step]
	f.b.matrix(data, 0, o.n, o.dt, c.y)
	for i := range warpRows {
		row, acc := x[i*step:][:step], f.acc.values[i*o.n:][:o.n]
		for j := 0; j < o.n; j += 8 {
			sums, d := products(row, c.y[j*step:][:8*step]), (*[8]float64)(acc[j:])
			for l, sum := range sums {
				if o.adds {
					sum += d[l]
				}
				if o.ints { // it wraps
					d[l] = float64(int32(int64(sum)))
					continue
				}
				d[l] = float64(float32(sum))
			}
			if o.half {
				for l, x := range d {
					d[l] = float64(dtype.F16FromBits(uint16(f16(fbits(float32(x))))).Float32())
				}
			}
		}
	}
}

// products are those of a row with eight, added up in eight sums beside one another, as a sum waits for each of its terms.
func products(x, rows []float64) (out [8]float64) {
	n := len(x)
	a, b, c, d := rows[:n], rows[n:][:n], rows[2*n:][:n], rows[3*n:][:n]
	e, f, g, h := rows[4*n:][:n], rows[5*n:][:n], rows[6*n:][:n], rows[7*n:][:n]
	var p, q, r, s, t, u, v, w float64
	for i, x := range x {
		p += float64(x * a[i])
		q += float64(x * b[i])
		r += float64(x * c[i])
		s += float64(x * d[i])
		t += float64(x * e[i])
		u += float64(x * f[i])
		v += float64(x * g[i])
		w += float64(x * h[i])
	}
	return [8]float64{p, q, r, s, t, u, v, w}
}

// wgmmaFence compiles the fence of registers.
func (c *compiler) wgmmaFence(s thr.Do) {
	if s.Pred != nil {
		c.fail("%s for some lanes", s.Fn)
	}
	c.program.multiplies = true
	c.emit(0, func(w *warp) {
		w.multiplies.fenced = true
		clear(w.multiplies.dirty)
	})
}

func (c *compiler) wgmmaCommit(s thr.Do) {
	if s.Pred != nil {
		c.fail("%s for some lanes", s.Fn)
	}
	c.program.multiplies = true
	c.emit(0, func(w *warp) {
		m := &w.multiplies
		m.groups, m.open = append(m.groups, m.open), nil
	})
}

func (c *compiler) wgmmaWait(s thr.Do) {
	n, ok := c.fold(s.Args[0])
	if !ok || s.Pred != nil || s.Buf != nil {
		c.fail("a wait for a number of multiplies that is no constant, or for some lanes")
	}
	c.program.multiplies = true
	c.emit(0, func(w *warp) {
		if over := len(w.multiplies.groups) - int(n); over > 0 {
			w.waitMultiplies(over)
		}
	})
}

// waitMultiplies ends the first groups.
func (w *warp) waitMultiplies(groups int) {
	m := &w.multiplies
	var o seen
	for _, g := range m.groups[:groups] {
		for _, k := range g {
			k.arrive()
			f := k.multiply
			o.clock[w.multipliesAgent()] = f.epoch + 1
			if f.acc.flying--; f.acc.flying == 0 {
				f.o.putBack(w, f.acc)
				delete(m.accs, f.o.acc[0])
			}
		}
	}
	m.groups = m.groups[groups:]
	w.learn(&o, allLanes)
	clear(m.busy)
	for _, k := range m.flying() {
		m.hold(k.multiply.o)
	}
}

// finishMultiplies reports those that a warp leaves behind.
func (w *warp) finishMultiplies() {
	for _, k := range w.multiplies.flying() {
		w.report(NotAwaited, k.site, none, 0, "the warp ends with this multiply in flight: wait for its group")
	}
}
