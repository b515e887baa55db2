package plan_test

import "github.com/gotile/gotile/tile"

// moveArgs are the arguments of a kernel of moves: for each block, or warp, 12 rows and 600 for results.
type moveArgs struct {
	X tile.Global[tile.I32] `tile:"blocks,12,n"`
	Y tile.Global[tile.I32] `tile:"blocks,600,n"`
	T tile.Global[tile.I32] `tile:"trips"`
	C tile.Global[tile.I32] `tile:"cond"`
}

// maker records moves as a kernel.
type maker struct {
	p     moves
	k     *tile.Builder
	a     moveArgs
	all   tile.Scope // who agrees on control flow
	s     tile.Scope // who copies
	tiles []tile.Shared[tile.I32]
	rank  tile.Index
	zero  tile.Index
}

func (d *maker) run(list []move, i, at tile.Index) {
	block, warp := d.s, d.k.Warp()
	n := d.a.X.Dim(2)
	for _, m := range list {
		stage := d.zero.AddInt(m.stage)
		if m.looped {
			stage = i.AddInt(m.stage).RemInt(moveStages)
		}
		s := d.tiles[m.tile].At(stage)
		if !m.looped {
			s = d.tiles[m.tile].At(m.stage)
		}
		if d.p.warps {
			if s = d.tiles[m.tile].At(d.rank, stage); !m.looped {
				s = d.tiles[m.tile].At(d.rank, m.stage)
			}
		}
		var peer tile.View[tile.I32]
		if d.p.cluster > 0 {
			next := d.rank.AddInt(m.other).RemInt(d.p.cluster)
			if m.do == "fetch" || m.do == "send" {
				peer = tile.Peer(s, next)
			}
		}
		span := func(vec int) tile.Span {
			if d.p.warps {
				return warp.Striped(moveCols, vec).Clip(n)
			}
			return d.k.Block().Striped(moveCols, vec).Clip(n)
		}
		row := tile.View[tile.I32]{}
		out := d.a.Y.At(d.rank, at.AddInt(m.row*moveTrips*moveTrips))
		switch m.do {
		case "copy", "write", "send", "warps":
			row = d.a.X.At(d.rank, m.row)
		}
		vec := 1 << (m.other % 3)
		switch m.do {
		case "copy":
			tile.CopyAsync(block, s, row)
		case "commit":
			tile.Commit(block)
		case "wait":
			tile.WaitGroup(block, m.other)
		case "read":
			tile.Store(block, out, tile.Load(block, s, span(vec)))
		case "sum":
			tile.Store(block, out, tile.Full(block, span(1), tile.Load(block, s, span(vec)).Sum()))
		case "csum":
			// The sum of the blocks' sums: each row of a tile of the cluster is a block's.
			mine := tile.Load(block, s, span(vec)).Sum()
			tile.Store(block, d.tiles[moveTiles].At(0, 0), mine)
			var sum tile.Reg[tile.I32]
			for r := range d.p.cluster {
				x := tile.LoadScalar(block, tile.Peer(d.tiles[moveTiles].At(0, 0), r))
				if r == 0 {
					sum = x
				} else {
					sum = sum.Add(x)
				}
			}
			tile.Store(block, out, tile.Full(block, span(1), sum))
		case "write":
			tile.Store(block, s, tile.Load(block, row, span(vec)).Add(tile.I32(1)))
		case "warps": // the first warp does, between barriers of the author's
			d.k.Block().Sync()
			if d.p.cluster > 0 {
				d.k.Cluster().Sync()
			}
			tile.If(warp, warp.Index().EqInt(0), func() {
				tile.Store(warp, s, tile.Load(warp, row, warp.Striped(moveCols, vec).Clip(n)).Add(tile.I32(1)))
			})
			if d.k.Block().Sync(); d.p.cluster > 0 {
				d.k.Cluster().Sync()
			}
		case "fetch":
			tile.Store(block, out, tile.Load(block, peer, span(vec)))
		case "send":
			tile.Store(block, peer, tile.Load(block, row, span(vec)).Add(tile.I32(2)))
		case "loop":
			for j := range tile.Range(d.all, 0, d.a.T.Dim(0).AddInt(m.other).RemInt(moveTrips), 1) {
				d.run(m.body, j, at.Scale(moveTrips).Add(j))
			}
		case "while":
			j := tile.NewVar(d.all, tile.I32(0))
			trips := d.a.T.Dim(0).AddInt(m.other).RemInt(moveTrips)
			tile.While(d.all, func() tile.Reg[tile.Bool] { return j.Get().Lt(trips.Int()) }, func() {
				i := tile.AsIndex(j.Get())
				d.run(m.body, i, at.Scale(moveTrips).Add(i))
				j.Set(j.Get().Add(tile.I32(1)))
			})
		case "if":
			tile.If(d.all, d.a.C.Dim(0).AddInt(m.other).RemInt(2).EqInt(1), func() { d.run(m.body, i, at) }, func() { d.run(m.els, i, at) })
		}
	}
}

func (p moves) kernel() (*tile.Kernel, error) {
	opts := []tile.Option{tile.Threads(p.threads)}
	if p.cluster > 0 {
		opts = append(opts, tile.ClusterSize(p.cluster))
	}
	return tile.Define("moves", func(k *tile.Builder, a moveArgs) {
		d := &maker{p: p, k: k, a: a, all: k.Block(), s: k.Block(), rank: k.BlockID(), zero: a.X.Dim(0).SubInt(1).Scale(0)}
		if p.cluster > 0 {
			d.all, d.rank = k.Cluster(), k.Cluster().Rank()
		}
		if p.warps {
			d.all, d.s, d.rank = k.Warp(), k.Warp(), k.Warp().Index()
		}
		for range moveTiles + 1 {
			if p.warps {
				s := tile.NewShared[tile.I32](k, k.Warps(), moveStages, moveCols)
				tile.Store(d.s, s.At(d.rank), tile.Full(d.s, k.Warp().Striped2(moveStages, moveCols, 1, 32), tile.I32(0)))
				d.tiles = append(d.tiles, s)
				continue
			}
			s := tile.NewShared[tile.I32](k, moveStages, moveCols)
			tile.Store(d.s, s, tile.Full(d.s, k.Block().Striped2(moveStages, moveCols, 1, 32), tile.I32(0)))
			d.tiles = append(d.tiles, s)
		}
		d.run(p.list, d.zero, d.zero)
		tile.Commit(d.s)
		tile.WaitGroup(d.s, 0)
	}, opts...)
}
