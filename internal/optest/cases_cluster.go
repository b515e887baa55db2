//go:build !gotilegen

package optest

import (
	"fmt"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/exact"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

func clusterCases() []tiletest.Case {
	var out []tiletest.Case
	for i, op := range reductions {
		for _, t := range []dtype.Type{dtype.F32, dtype.BF16, dtype.I32, dtype.I64} {
			out = append(out, opCase(op, "cluster/"+t.String(), func(r run) error { return checkClusterRows(r, t, i) }))
		}
		for _, t := range []dtype.Type{dtype.F32, dtype.BF16, dtype.I32} {
			out = append(out, opCase(op, "cluster_tile/"+t.String(), func(r run) error { return checkClusterTiles(r, t, i) }))
		}
	}
	for _, op := range []ir.Op{ir.Load, ir.Store, ir.ClusterBarrier} {
		for _, t := range []dtype.Type{dtype.F32, dtype.BF16, dtype.I32} {
			out = append(out, opCase(op, "peer/"+t.String(), func(r run) error { return checkClusterPeers(r, t) }))
		}
	}
	for _, op := range []ir.Op{ir.ClusterID, ir.NumClusters, ir.ClusterRank} {
		out = append(out, opCase(op, "grid", checkClusterGrid))
	}
	return append(out, opCase(ir.Persistent, "cluster", checkClusterGrid), opCase(ir.Persistent, "cluster_block", checkClusterShare),
		opCase(ir.ClusterBarrier, "global", checkClusterOrder), opCase(ir.AtomicAdd, "cluster", checkClusterAtomic),
		opCase(ir.AtomicAdd, "cluster_last", checkClusterLast), opCase(ir.CopyAsync, "cluster_last", checkClusterLast), opCase(ir.Fold, "cluster_last", checkClusterLast))
}

// clusterLengths are lengths of rows: below, at and between the capacities.
var clusterLengths = map[dtype.Type][]int{dtype.F32: {1, 31, 128, 129, 1000, 1001, 8188, 8192}, dtype.BF16: {1, 2047, 4096}, dtype.I32: {1, 129, 1024}, dtype.I64: {3, 511, 600}}

func checkClusterRows(r run, t dtype.Type, op int) error {
	for _, n := range clusterLengths[t] {
		for kind, name := range reduceKinds {
			const rows = 5
			x := reduceData(t, kind, tiletest.Bits(r.Seed, uint64(n+kind)), rows*n)
			y, z := r.Out(t, rows, len(reductions)), r.Out(t, rows, n)
			if err := launchClusterRow(r.Stream, clusterRowParams{X: place(r, t, x, rows, n), Y: y, Z: z}); err != nil {
				return err
			}
			if reductions[op] == ir.MaxOf {
				equal(r, "rows less their maximum", t, r.Bits(z), lessMaximum(t, x, n))
			}
			if orderFree(t, reductions[op], kind) {
				checkReduced(r, fmt.Sprintf("of %d %s %v", n, name, t), t, reductions[op], column(r.Bits(y), len(reductions), op), func(i int) []uint64 { return x[i*n:][:n] })
			}
		}
	}
	return nil
}

// lessMaximum is x, in rows of n, less each row's maximum.
func lessMaximum(t dtype.Type, x []uint64, n int) []uint64 {
	var out []uint64
	for row := range slices.Chunk(x, n) {
		most := row[0]
		for _, v := range row {
			if t.IsFloat() && exact.Float(t, v) > exact.Float(t, most) || !t.IsFloat() && intValue(ir.Max, t, v, most, 0) == v {
				most = v
			}
		}
		for _, v := range row {
			if t.IsFloat() {
				out = append(out, encode(t, exact.Float(t, v)-exact.Float(t, most)))
			} else {
				out = append(out, intValue(ir.Sub, t, v, most, 0))
			}
		}
	}
	return out
}

// clusterShapes are shapes of tiles, below and at the capacities.
var clusterShapes = map[dtype.Type][][2]int{dtype.F32: {{24, 60}, {17, 59}, {6, 300}, {5, 257}, {1, 61}}, dtype.BF16: {{3, 700}, {2, 513}, {1, 1}}, dtype.I32: {{70, 13}, {69, 3}, {1, 1}}}

func checkClusterTiles(r run, t dtype.Type, op int) error {
	for _, s := range clusterShapes[t] {
		for kind, name := range reduceKinds {
			const groups = 3
			rows, n := s[0], s[1]
			x := reduceData(t, kind, tiletest.Bits(r.Seed, uint64(rows*n+kind)), groups*rows*n)
			k := len(reductions)
			p := clusterTileParams{X: place(r, t, x, groups, rows, n), ByRow: r.Out(t, groups, k, rows), ByCol: r.Out(t, groups, k, n), All: r.Out(t, groups, k)}
			if err := launchClusterTile(r.Stream, p); err != nil {
				return err
			}
			if orderFree(t, reductions[op], kind) {
				checkTiles(r, fmt.Sprintf("%s %v %dx%d", name, t, rows, n), t, op, x, groups, rows, n, p.ByRow, p.ByCol, p.All)
			}
		}
	}
	return nil
}

func checkClusterGrid(r run) error {
	const size = 4
	for _, clusters := range []int{1, 3, 8} {
		for _, m := range []int{1, 2, 7, 40, 41} {
			p := clusterGridParams{Y: r.Out(dtype.I32, clusters, size, 5), Mine: r.Out(dtype.I32, m)}
			if err := launchClusterGrid(r.Stream, p); err != nil {
				return err
			}
			var y, mine []int
			for c := range clusters {
				n := 0
				for i := 2 * c; i < m; i += 2 * clusters {
					n++
				}
				for rank := range size {
					y = append(y, c, clusters, rank, c*size+rank, n)
				}
			}
			for i := range m {
				mine = append(mine, i/2%clusters)
			}
			ints(r, "cluster, clusters, rank, block and iterations", p.Y, y)
			ints(r, "owners", p.Mine, mine)
		}
	}
	return nil
}

func checkClusterShare(r run) error {
	for _, rows := range []int{1, 2, 5, 30} {
		p := clusterShareParams{Y: r.Out(dtype.I32, rows, 2)}
		if err := launchClusterShare(r.Stream, p); err != nil {
			return err
		}
		blocks := int(r.Floats(p.Y)[1]) // as many as the device has room for, in clusters of two
		if blocks%2 != 0 || blocks > rows+rows%2 {
			r.Errorf("%d rows on %d blocks", rows, blocks)
		}
		var want []int
		for row := range rows {
			want = append(want, row%blocks, blocks)
		}
		ints(r, "block and blocks", p.Y, want)
	}
	return nil
}

func checkClusterPeers(r run, t dtype.Type) error {
	const groups, size = 11, 4
	for _, n := range map[dtype.Type][]int{dtype.F32: {200, 197, 64, 3}, dtype.BF16: {256, 248, 1}, dtype.I32: {64, 33}}[t] {
		x := patterns(t, tiletest.Bits(r.Seed, uint64(n)), groups*size*n)
		out := func() device.Tensor { return r.Out(t, groups, size, n) }
		p := clusterPeerParams{X: place(r, t, x, groups, size, n), Y: out(), Z: out(), W: out(), S: r.Out(t, groups, size, 2)}
		if err := launchClusterPeer(r.Stream, p); err != nil {
			return err
		}
		var next, last, ends []uint64
		for g := range groups {
			of := func(rank int) []uint64 { return x[(g*size+rank%size)*n:][:n] }
			for rank := range size {
				next, last = append(next, of(rank+1)...), append(last, of(rank+size-1)...)
				ends = append(ends, of(rank + 1)[0], of(rank + size - 1)[0])
			}
		}
		equal(r, "tiles of the next block", t, r.Bits(p.Y), next)
		equal(r, "tiles from the last block", t, r.Bits(p.Z), last)
		equal(r, "tiles of the next block, by a warp", t, r.Bits(p.W), next)
		equal(r, "elements of both", t, r.Bits(p.S), ends)
	}
	return nil
}

func checkClusterOrder(r run) error {
	const groups = 9
	for _, n := range []int{512, 509, 1} {
		x := patterns(dtype.F32, tiletest.Bits(r.Seed, uint64(n)), groups*n)
		p := clusterOrderParams{X: place(r, dtype.F32, x, groups, n), Y: r.Out(dtype.F32, groups, n), Z: r.Out(dtype.F32, groups, n),
			U: r.Out(dtype.I32, groups, 4), V: r.Out(dtype.I32, groups, 4)}
		if err := launchClusterOrder(r.Stream, p); err != nil {
			return err
		}
		var u, v []int
		for g := range groups {
			u = append(u, 10*g, 10*g+1, 10*g+2, 10*g+3)
			v = append(v, 40*g+6, 10*g, 10*g, 10*g)
		}
		equal(r, "rows", dtype.F32, r.Bits(p.Y), x)
		equal(r, "rows read by others", dtype.F32, r.Bits(p.Z), x)
		ints(r, "what blocks wrote", p.U, u)
		ints(r, "what others read", p.V, v)
	}
	return nil
}

func checkClusterAtomic(r run) error {
	const clusters, n, start = 7, 200, 5
	all := r.Ints(-9, 9, 1, n)
	p := clusterAtomicParams{One: change(r, dtype.I32, []uint64{start}, 1), Old: r.Out(dtype.I32, clusters, 2),
		All: r.Place(tiletest.Spec{Role: tiletest.Both, DType: dtype.I32, Values: all, Shape: []int{n}})}
	if err := launchClusterAtomic(r.Stream, p); err != nil {
		return err
	}
	old := r.Floats(p.Old)
	var tickets []float64
	for pair := range slices.Chunk(old, 2) {
		if pair[0] != pair[1] {
			r.Errorf("the blocks of a cluster got tickets %v", pair)
		}
		tickets = append(tickets, pair[0])
	}
	slices.Sort(tickets)
	m := &mistakes{r: r, what: "tickets"}
	for i, ticket := range tickets {
		if ticket != float64(start+i) {
			m.at(i, ticket, "%v", start+i)
		}
	}
	m.done(len(tickets))
	var want []int
	for _, x := range all {
		want = append(want, int(x)+clusters)
	}
	ints(r, "sums", p.All, want)
	ints(r, "the counter", p.One, []int{start + clusters})
	return nil
}
