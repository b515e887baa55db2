package tile

import "github.com/gotile/gotile/internal/ir"

// LCSF is a kernel in the load-compute-store-finish form of ThunderKittens, whose author writes no barrier, no loop over
// slots and no role. A producer warp loads the chunks of each piece of work into slots of shared memory, consumer
// warpgroups compute on them, all on each, and write results to other slots, which a storer warp stores; when a piece is
// over the consumers finish it. Every step may run ahead of the next by as many chunks as there are slots between the two.
//
// In and Out are the forms of the slots, as those of a Pipeline. Without Store (load-compute-finish) there is no storer,
// and Out is struct{}.
//
// Record makes pipelines, schedule and roles. A block has 128 threads a consumer, 32 for the producer, 128 if it has a
// register budget, and 32 for the storer: what the kernel is defined with by Threads. Waits and releases have the line at
// which the function begins that reads or fills the slot.
type LCSF[In, Out any] struct {
	Work      Policy              // the pieces of work that the grid's blocks share
	Chunks    func(t Piece) Index // how many chunks a piece has; nil: one
	Input     In                  // a slot of input, and
	Stages    int                 // how many there are
	Output    Out                 // a slot of results, and
	OutStages int                 // how many there are
	Consumers int                 // warpgroups that compute

	// Registers of a thread, as those of Producer and Consumers; 0: what the kernel begins with.
	ProducerRegs, ConsumerRegs int

	// Load fills a slot with chunk i of a piece, by CopyAsync, CopyTensor or Store.
	Load func(p Warp, in In, t Piece, i Index)
	// Compute begins a piece at a consumer, with the variables that it needs for all its chunks.
	Compute func(c Warpgroup, t Piece) Steps[In, Out]
	// Store writes the results of chunk i of a piece to global memory, by StoreTensor, StoreBulk, or Load and Store.
	Store func(s Warp, out Out, t Piece, i Index)
}

// Steps are what a consumer does with a piece of work.
type Steps[In, Out any] struct {
	Chunk  func(in In, out Out, i Index) // reads a slot of input and writes its part of a slot of results
	Finish func()                        // after the last chunk; nil: nothing
}

// Record records the kernel. It stands at the top level, once.
func (l LCSF[In, Out]) Record(k *Builder) {
	b := k.kernel()
	if l.Load == nil || l.Compute == nil {
		b.Errorf(ir.Roles, ErrControl, "LCSF without Load or without Compute: the one fills slots, the other reads them; give both")
		return
	}
	in, out := NewPipeline(k, l.Stages, l.Input), Pipeline[Out]{}
	if l.Store != nil {
		out = NewPipeline(k, l.OutStages, l.Output)
	}
	work := k.Schedule(l.Work)
	roles := []Role{
		Consumers(l.Consumers, l.ConsumerRegs, func(c Warpgroup) { l.consume(c, work, in, out) }),
		Producer(l.ProducerRegs, func(p Warp) {
			l.chunks(p, work, nil, func(t Piece, i Index) {
				var slot In
				b.For(l.Load, func() { slot = in.Acquire(p) })
				l.Load(p, slot, t, i)
			})
		}),
	}
	if l.Store != nil {
		roles = append(roles, newRole(ir.Role{Name: "storer", Scope: ir.ScopeWarp, Warps: 1, Parts: 1}, true, func(b *ir.Builder, r *ir.Role) {
			s := Warp{b: b, role: r}
			l.chunks(s, work, nil, func(t Piece, i Index) {
				var slot Out
				b.For(l.Store, func() { slot = out.Wait(s) })
				l.Store(s, slot, t, i)
				b.For(l.Store, func() { release(slot, s) })
			})
		}))
	}
	k.Roles(roles...)
}

// consume is what a consumer does.
func (l LCSF[In, Out]) consume(c Warpgroup, work Work, in Pipeline[In], out Pipeline[Out]) {
	var steps Steps[In, Out]
	begin := func(t Piece) func() {
		if steps = l.Compute(c, t); steps.Chunk == nil {
			ir.Fail(ErrControl, "the Steps of LCSF.Compute have no Chunk, so nobody reads the slots; give one that does")
		}
		return steps.Finish
	}
	l.chunks(c, work, begin, func(_ Piece, i Index) {
		var slot In
		var result Out
		c.b.For(steps.Chunk, func() {
			slot = in.Wait(c)
			if l.Store != nil {
				result = out.Acquire(c)
			}
		})
		steps.Chunk(slot, result, i)
		c.b.For(steps.Chunk, func() { release(slot, c) })
	})
}

// chunks loops over the pieces of work and the chunks of each. begin, if any, comes before those of a piece, and what it
// returns, if any, after them.
func (l LCSF[In, Out]) chunks(s Scope, work Work, begin func(t Piece) func(), f func(t Piece, i Index)) {
	b, _ := scopeOf(s)
	for t := range work.Tiles(s) {
		finish := (func())(nil)
		if begin != nil {
			finish = begin(t)
		}
		if l.Chunks == nil {
			f(t, Index{b: b, v: b.Int(0)})
		} else {
			for i := range Range(s, 0, l.Chunks(t), 1) {
				f(t, i)
			}
		}
		if finish != nil {
			finish()
		}
	}
}

// release gives back a slot of the author's form; NewPipeline has refused one without Slot.
func release[S any](slot S, c Scope) {
	if s, ok := any(slot).(slotted); ok {
		s.handle().Release(c)
	}
}
