package matrix
import ("testing";"fmt")
func TestCount(t *testing.T) {
	type n struct{mods, whole, clip, cases int}
	by := map[string]*n{}
	tot := n{}
	for _, m := range modules() {
		x := by[m.family.name]; if x == nil { x = &n{}; by[m.family.name] = x }
		for _, y := range []*n{x, &tot} {
		y.mods++
		for _, b := range m.bodies() { if b.clip { y.clip++ } else { y.whole++ } }
		y.cases += len(m.cases()) }
	}
	for _, f := range families { fmt.Printf("%-14s %+v\n", f.name, *by[f.name]) }
	fmt.Printf("%+v\n", tot)
}
