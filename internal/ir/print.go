package ir

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gotile/gotile/dtype"
)

// Print is the text of a kernel. Equal kernels print alike: there are no positions, paths or addresses in it.
func Print(k *Kernel) string { return print(k, false) }

// PrintPos is Print with the author's position after each op.
func PrintPos(k *Kernel) string { return print(k, true) }

// String is Print.
func (k *Kernel) String() string { return Print(k) }

type printer struct {
	strings.Builder
	pos     bool
	layouts map[string]int // span shapes by their text
}

func print(k *Kernel, pos bool) string {
	p := &printer{pos: pos, layouts: map[string]int{}}
	var args []string
	for _, a := range k.Args {
		args = append(args, argText(a))
	}
	p.printf("kernel %s(%s) threads %d", k.Name, strings.Join(args, ", "), k.Threads)
	if k.Cluster > 0 {
		p.printf(" cluster %d", k.Cluster)
	}
	if k.MinBlocks > 0 {
		p.printf(" min_blocks %d", k.MinBlocks)
	}
	if k.Targets != nil {
		p.printf(" targets %s", strings.Join(k.Targets, ","))
	}
	p.printf("\n")
	for _, s := range k.Symbols {
		if s.Max > 0 {
			p.printf("  %s <= %d\n", s.Name, s.Max)
		}
	}
	for _, s := range k.Shared {
		p.printf("  shared %s %v%v", s.Name, s.DT, s.Shape)
		if s.Manual {
			p.printf(" manual")
		}
		if s.Swizzle.Bits() > 0 {
			p.printf(" swizzle %d", s.Swizzle.Width())
		}
		p.printf("\n")
	}
	for _, m := range k.Barriers {
		p.printf("  mbarrier %s[%d]\n", m.Name, m.N)
	}
	if k.Work != nil {
		p.printf("  work %s", name(k.Work))
		if k.WorkBlocks != nil {
			p.printf(" blocks %s", k.WorkBlocks.Name)
		}
		p.printf("\n")
	}
	for _, l := range k.Pipelines {
		p.printf("  pipeline %s of %d:", l.Name, l.Stages)
		for _, m := range l.Members {
			p.printf(" %s", m.Name)
		}
		p.printf("\n")
	}
	p.collect(k.Body)
	p.region(k.Body, "  ")
	return p.Builder.String()
}

func (p *printer) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// argText is an argument as its tag says it, with r and w for what the kernel does with it.
func argText(a *Arg) string {
	if a.Scalar() {
		return fmt.Sprintf("%s %v", a.Name, a.DT)
	}
	var dims []string
	for _, d := range a.Dims {
		if d.Symbol != nil {
			dims = append(dims, d.Symbol.Name)
		} else {
			dims = append(dims, fmt.Sprint(d.Size))
		}
	}
	s := fmt.Sprintf("%s %v[%s]", a.Name, a.DT, strings.Join(dims, ","))
	if a.Strided {
		s += " strided"
	}
	if a.Read {
		s += " r"
	}
	if a.Written {
		s += " w"
	}
	return s
}

// collect numbers the layouts in the order in which ops use them, and prints them.
func (p *printer) collect(r *Region) {
	for _, v := range r.Ops {
		if s := v.Type.Span; s != nil {
			t := layoutText(s)
			if _, ok := p.layouts[t]; !ok {
				p.layouts[t] = len(p.layouts)
				p.printf("  #%d = %s\n", p.layouts[t], t)
			}
		}
		for _, r := range v.Regions {
			if r != nil {
				p.collect(r)
			}
		}
	}
}

func layoutText(s *Span) string { return fmt.Sprintf("%v %v", s.Scope, s.Dist) }

func (p *printer) region(r *Region, indent string) {
	for _, v := range r.Ops {
		p.op(v, indent)
	}
}

func (p *printer) op(v *Value, indent string) {
	p.printf("%s", indent)
	if v.Type.DT != dtype.Invalid {
		p.printf("%%%d = ", v.ID)
	}
	p.printf("%v", v.Op)
	switch a := v.Attr.(type) {
	case *Access:
		n := len(v.Args) - a.Dims()
		p.args(v.Args[:n])
		name := ""
		if a.Arg != nil {
			name = a.Arg.Name
		} else {
			name = a.Shared.Name
		}
		if a.Peer {
			name = "peer " + name
		}
		p.printf(" %s[%s]", name, p.list(v.Args[n:]))
		if a.Shift != 0 {
			p.printf(" rows %+d", -a.Shift)
		}
		if c := a.Cache.String(); c != "" {
			p.printf(" %s", c)
		}
		if a.Order != Relaxed {
			p.printf(" %v", a.Order)
		}
	case *MMAInfo:
		p.mma(v, a)
	case *CopyInfo:
		n := len(a.Dst.Shape)
		p.printf(" %s[%s] from %s[%s]", a.Dst.Name, p.list(v.Args[:n]), a.Src.Name, p.list(v.Args[n:]))
		if a.Bytes != CopyBytes {
			p.printf(" by %d", a.Bytes)
		}
	case *BarrierInfo:
		p.printf(" %s", a.Bar.Name)
		p.args(v.Args)
		if a.Leader {
			p.printf(" leader")
		}
		if a.Relaxed {
			p.printf(" relaxed")
		}
	case *BulkInfo:
		n, m := len(a.Shared.Shape), len(a.Shared.Shape)+len(a.Arg.Dims)
		p.printf(" %s[%s], %s[%s],", a.Shared.Name, p.list(v.Args[:n]), a.Arg.Name, p.list(v.Args[n:m]))
		p.args(v.Args[m:])
		if a.Bar != nil {
			p.printf(" %s", a.Bar.Name)
		}
	case *TensorInfo:
		n, m := len(a.Shared.Shape), len(a.Shared.Shape)+len(a.Arg.Dims)
		p.printf(" %s[%s], %s[%s], box %s", a.Shared.Name, p.list(v.Args[:n]), a.Arg.Name, p.list(v.Args[n:m]), sides(a.Shared.Shape[n-a.Rank:]))
		if v.Op == ReduceTensor {
			p.printf(" %v", a.Reduce)
		}
		if a.Bar != nil {
			p.printf(",")
			p.args(v.Args[m:])
			p.printf(" %s", a.Bar.Name)
		}
	case *RemoteInfo:
		n := len(v.Args) - 1
		p.args(v.Args[:1])
		who := "peer"
		if v.Op == BroadcastAsync {
			who = "each block's"
		}
		p.printf(" %s %s[%s],", who, a.Shared.Name, p.list(v.Args[1:n]))
		p.args(v.Args[n:])
		p.printf(" %s", a.Bar.Name)
	case *Named:
		p.printf(" %d for %d", a.ID, a.Threads)
	case *Pipeline:
		p.printf(" %s", a.Name)
	case *SlotInfo:
		p.printf(" %s", a.Pipe.Name)
		p.args(v.Args)
		if a.Member >= 0 {
			p.printf(" member %s", a.Pipe.Members[a.Member].Name)
		}
	case *Role:
		if v.Op == SetMaxRegs {
			p.printf(" %d", a.Regs)
		}
	case ScanInfo:
		p.args(v.Args)
		p.printf(" axis %d%s", a.Axis, a.text())
	case SliceInfo:
		p.args(v.Args)
		p.printf(" axis %d [%d:%d]", a.Axis, a.Start, a.Start+a.N)
	case RoleList:
	case Groups:
		p.printf(" %d", int(a))
	case []int:
		p.args(v.Args)
		p.printf(" axes %v", a)
	case int:
		p.args(v.Args)
		p.printf(" axis %d", a)
	case *AsmInfo:
		p.printf(" %q", a.Template)
		if a.Volatile {
			p.printf(" volatile")
		}
		p.args(v.Args)
	case *PersistentInfo:
		p.args(v.Args)
		if a.Blocks != nil {
			p.printf(" blocks %s", a.Blocks.Name)
		}
		if a.Each {
			p.printf(" each")
		}
		if a.Looped {
			p.printf(" looped")
		}
	default:
		p.args(v.Args)
	}
	switch t := v.Type; {
	case t.Span != nil && t.DT == dtype.Invalid:
		p.printf(" : %s", p.span(t.Span))
	case t.Span != nil:
		p.printf(" : %v %s", t.DT, p.span(t.Span))
	case t.DT != dtype.Invalid:
		p.printf(" : %v", t.DT)
	}
	if v.Type.Span == nil && (v.Scope == ScopeWarp || v.Scope == ScopeCluster && !Table[v.Op].Pure()) {
		p.printf(" %v", v.Scope)
	}
	if p.pos && v.Pos.Known() {
		p.printf("  // %s", v.Pos)
	}
	for i, r := range v.Regions {
		if r == nil {
			continue
		}
		if i > 0 {
			p.printf("%s}", indent)
		}
		if r.Role != nil {
			p.printf(" %s warps %d of %d at %v from %d", r.Role.Name, r.Role.Warps*r.Role.Parts, r.Role.Parts, r.Role.Scope, r.Role.First)
		}
		p.printf(" {")
		if r.Ind != nil {
			p.printf(" %%%d", r.Ind.ID)
		}
		p.printf("\n")
		p.region(r, indent+"  ")
		if r.Yield != nil {
			p.printf("%s  yield %s\n", indent, name(r.Yield))
		}
	}
	if len(v.Regions) > 0 {
		p.printf("%s}", indent)
	}
	p.printf("\n")
}

func (p *printer) span(s *Span) string {
	t := "#" + strconv.Itoa(p.layouts[layoutText(s)])
	if len(s.Extent) > 0 {
		t += "{" + p.list(s.Extent) + "}"
	}
	return t
}

func (p *printer) args(vs []*Value) {
	if len(vs) > 0 {
		p.printf(" %s", p.list(vs))
	}
}

func (p *printer) list(vs []*Value) string {
	s := make([]string, len(vs))
	for i, v := range vs {
		s[i] = name(v)
	}
	return strings.Join(s, ", ")
}

// name is a value as an operand: %3, a constant, a dimension, a scalar argument, or _ where there is none.
func name(v *Value) string {
	switch {
	case v == nil:
		return "_"
	case v.Op == Const:
		return v.Attr.(Bits).Format(v.Type.DT)
	case v.Op == Dim || v.Op == Param:
		return v.Name
	}
	return "%" + strconv.Itoa(v.ID)
}

// Format is the number that a pattern means in a type.
func (b Bits) Format(dt dtype.Type) string {
	float := func(f float64) string {
		s := strconv.FormatFloat(f, 'g', -1, 32)
		if !strings.ContainsAny(s, ".eIN") {
			s += ".0"
		}
		return s
	}
	switch dt {
	case dtype.F32:
		return float(float64(math.Float32frombits(uint32(b))))
	case dtype.BF16:
		return float(dtype.BF16FromBits(uint16(b)).Float())
	case dtype.F16:
		return float(dtype.F16FromBits(uint16(b)).Float())
	case dtype.E4M3:
		return float(dtype.E4M3FromBits(uint8(b)).Float())
	case dtype.E5M2:
		return float(dtype.E5M2FromBits(uint8(b)).Float())
	case dtype.I8:
		return strconv.Itoa(int(int8(b)))
	case dtype.I32:
		return strconv.Itoa(int(int32(b)))
	case dtype.I64:
		return strconv.FormatInt(int64(b), 10)
	case dtype.Bool:
		return strconv.FormatBool(b != 0)
	}
	return strconv.FormatUint(uint64(b), 10)
}
