package plan

import (
	"maps"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// prepare makes available what the regions of v use from outside: a value that is first asked for inside a loop must
// be computed before the loop, where it dominates every use.
func (l *lowering) prepare(v *ir.Value) {
	inside := map[*ir.Region]bool{}
	var set []*ir.Value
	var need []*ir.Value
	var visit func(r *ir.Region)
	want := func(a *ir.Value) {
		if a = l.flow.canonical(a); a.In != nil && !inside[a.In] {
			need = append(need, a)
		}
	}
	visit = func(r *ir.Region) {
		if r == nil {
			return
		}
		inside[r] = true
		for _, u := range r.Ops {
			for _, in := range u.Regions {
				visit(in)
			}
			if !l.flow.live[u] {
				continue
			}
			if u.Op == ir.Set {
				set = append(set, u.Args[0])
			}
			for _, a := range u.Args {
				want(a)
			}
			if u.Type.Span != nil {
				for _, e := range u.Type.Span.Extent {
					if e != nil {
						want(e)
					}
				}
			}
		}
		if r.Yield != nil {
			want(r.Yield)
		}
	}
	for _, r := range v.Regions {
		visit(r)
	}
	for _, a := range need {
		switch {
		case a.Op == ir.Invalid || a.Op == ir.Var || ir.Table[a.Op].Class == ir.Control:
		case a.Type.Span == nil:
			l.scalarLocal(a)
		default:
			l.available(a)
		}
	}
	// A read that stands before the loop must not see what the loop assigns.
	for _, g := range l.gets {
		if l.tiles[g] == nil && slices.Contains(set, g.Args[0]) && l.usedLater(g, nil) {
			l.keep(g)
		}
	}
}

// enter begins a region. What it computes of values from outside, such as a broadcast that is stored, is declared in
// its braces: leave forgets that, so that later users compute it again.
func (l *lowering) enter(owner *ir.Value) (leave func()) {
	tiles, scalars := maps.Clone(l.tiles), maps.Clone(l.scalars)
	done := maps.Clone(l.done)
	return func() {
		l.tiles, l.scalars = tiles, scalars
		for v := range l.done {
			if !done[v] && v.ID < owner.ID {
				delete(l.done, v)
			}
		}
	}
}

func (l *lowering) loop(v *ir.Value) {
	l.prepare(v)
	body := v.Regions[0]
	i := &thr.Local{Name: l.names.fresh(l.loopName(v)), Type: thr.Val(dtype.I32)}
	l.scalars[body.Ind] = ref(i)
	var lo, hi, step thr.Expr
	once := false
	if v.Op == ir.Range {
		lo, hi, step = l.scalar(v.Args[0]), l.scalar(v.Args[1]), l.scalar(v.Args[2])
	} else {
		hi, step = l.scalar(v.Args[0]), l.scalar(v.Args[1])
		n, _ := intOf(step)
		first, stride := thr.Expr(call(thr.BlockX, dtype.I32)), thr.Expr(call(thr.GridX, dtype.I32))
		info := v.Attr.(*ir.PersistentInfo)
		if info.Scope == ir.ScopeCluster {
			first, stride = call(thr.ClusterX, dtype.I32), call(thr.ClustersX, dtype.I32)
		}
		if info.Scope == ir.ScopeWarp {
			warps := l.k.Threads / 32
			first = add(mul(first, i32(warps)), call(thr.Warp, dtype.I32))
			stride = mul(stride, i32(warps))
		}
		lo, step = mul(first, i32(n)), mul(stride, i32(n))
		if l.out.Grid.N != nil {
			l.fail(v.Pos, "a second Persistent loop; a kernel's grid has one")
		}
		l.out.Grid = thr.Grid{N: v.Args[0], Step: n, Blocks: info.Blocks, Each: info.Each}
		if info.Scope == ir.ScopeWarp {
			l.out.Grid.Step = n * l.k.Threads / 32
		}
		// One block an iteration: the grid is as large as the work, so there need be no loop. Where it is rounded up to
		// whole clusters, some blocks have no work.
		once = info.Each && !info.Looped && (info.Scope == ir.ScopeCluster || info.Scope == ir.ScopeBlock && l.k.Cluster == 0)
		if info.Scope != ir.ScopeCluster && l.k.Cluster > 0 { // the grid counts clusters
			l.out.Grid.Step *= l.k.Cluster
		}
	}
	gets := l.gets
	releases := l.deferReleases(body)
	leave := l.enter(v)
	stmts := l.into(func() { l.region(body) })
	leave()
	l.gets = gets
	l.cur = v
	defer l.releaseLast(releases)
	if once {
		l.emit(thr.Decl{At: l.at(), Local: i, Init: lo})
		l.emit(stmts...)
		return
	}
	l.emit(thr.For{At: l.at(), Var: i, Lo: lo, Hi: hi, Step: step, Scope: v.Scope, Body: stmts})
}

func (l *lowering) loopName(v *ir.Value) string {
	if n := v.Args[0]; v.Op == ir.Persistent && n.Op == ir.Dim {
		if s := n.Attr.(*ir.Symbol).Name; len(s) > 1 && s[len(s)-1] == 's' {
			return s[:len(s)-1] // rows -> row
		}
	}
	return "it"
}

func (l *lowering) conditional(v *ir.Value) {
	l.prepare(v)
	cond := l.scalar(v.Args[0])
	gets := l.gets
	var parts [2][]thr.Stmt
	for i, r := range v.Regions {
		if r != nil {
			leave := l.enter(v)
			parts[i] = l.into(func() { l.region(r) })
			leave()
		}
		l.gets = gets
	}
	l.cur = v
	l.emit(thr.If{At: l.at(), Cond: cond, Scope: v.Scope, Then: parts[0], Else: parts[1]})
}

func (l *lowering) while(v *ir.Value) {
	l.prepare(v)
	gets := l.gets
	leave := l.enter(v)
	var cond thr.Expr
	head := l.into(func() {
		l.region(v.Regions[0])
		cond = l.scalar(v.Regions[0].Yield)
	})
	// What the head computed is in scope in the body only where the head's statements are: same braces.
	body := l.into(func() { l.region(v.Regions[1]) })
	leave()
	l.gets = gets
	l.cur = v
	l.emit(thr.While{At: l.at(), Head: head, Cond: cond, Scope: v.Scope, Body: body})
}
