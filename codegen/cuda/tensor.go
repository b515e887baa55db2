package cuda

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/internal/thr"
)

// tensorForm is a tensor copy in PTX. Its operands are numbered: the parameters of the function, the map, the coordinates.
type tensorForm struct {
	name        string // of the function, before its rank
	params      string // before the map
	instruction string // with its rank
	operands    string // MAP is the map with its coordinates
	inputs      string // params as operands
}

var (
	tensorLoad = tensorForm{"tensor_load", "void* to, void* bar", "cp.async.bulk.tensor.%dd.shared::cta.global.mbarrier::complete_tx::bytes", "[%0], MAP, [%1]",
		`"r"(shared_at(to)), "r"(shared_at(bar))`}
	tensorMulticast = tensorForm{"tensor_multicast", "void* to, void* bar, int blocks", "cp.async.bulk.tensor.%dd.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster", "[%0], MAP, [%1], %2",
		`"r"(shared_at(to)), "r"(shared_at(bar)), "h"((u16)blocks)`}
	tensorStore    = tensorForm{"tensor_store", "const void* from", "cp.async.bulk.tensor.%dd.global.shared::cta.bulk_group", "MAP, [%0]", `"r"(shared_at(from))`}
	tensorPrefetch = tensorForm{"tensor_prefetch", "", "cp.async.bulk.prefetch.tensor.%dd.L2.global", "MAP", ""}
)

// tensorReduce is tensorStore with an operation of the hardware.
func tensorReduce(operation string) tensorForm {
	f := tensorStore
	f.name, f.instruction = "tensor_"+operation, "cp.reduce.async.bulk.tensor.%dd.global.shared::cta."+operation+".bulk_group"
	return f
}

// print prints a tensor copy as a call of a function for its rank.
func (f tensorForm) print(p *printer, s thr.Do) code {
	if s.Map == nil {
		return p.fail("%v as a tensor copy, without a map", s.Fn)
	}
	fixed, rank := thr.Fns[s.Fn].Arity, len(s.Map.Map.Box)
	name := fmt.Sprintf("%s_%dd", f.name, rank)
	p.made[name] = f.text(name, fixed, rank)
	var args []code
	for i, e := range s.Args[:fixed] {
		if i < 2 { // the place in shared memory, and the mbarrier's
			args = append(args, p.address(thr.Shared, e))
		} else {
			args = append(args, p.expr(e))
		}
	}
	args = append(args, prefix("&", primary("a."+field(s.Map.Name))))
	for _, e := range s.Args[fixed:] {
		args = append(args, p.expr(e))
	}
	return call(name, args...)
}

// text is the function; fixed is the number of its parameters before the map.
func (f tensorForm) text(name string, fixed, rank int) string {
	params, inputs := []string{}, []string{}
	if f.params != "" {
		params, inputs = append(params, f.params), append(inputs, f.inputs)
	}
	params, inputs = append(params, "const tensor_map* map"), append(inputs, `"l"(map)`)
	var coords []string
	for i := range rank {
		params = append(params, fmt.Sprintf("int x%d", i))
		inputs = append(inputs, fmt.Sprintf(`"r"(x%d)`, i))
		coords = append(coords, fmt.Sprintf("%%%d", fixed+1+i))
	}
	operands := strings.Replace(f.operands, "MAP", fmt.Sprintf("[%%%d, {%s}]", fixed, strings.Join(coords, ", ")), 1)
	return fmt.Sprintf("%svoid %s(%s) {\n  asm volatile(\"%s %s;\"\n               :: %s : \"memory\");\n}\n", device, name, strings.Join(params, ", "),
		fmt.Sprintf(f.instruction, rank), operands, strings.Join(inputs, ", "))
}
