package nvrtc

import (
	"regexp"
	"strconv"
)

// What ptxas -v prints, for each kernel:
//
//	ptxas info    : Function properties for k
//	    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
//	ptxas info    : Used 40 registers, used 1 barriers, 8 bytes cumulative stack size, 1024 bytes smem, 400 bytes cmem[0]
var (
	frame     = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
	registers = regexp.MustCompile(`Used (\d+) registers`)
	shared    = regexp.MustCompile(`(\d+) bytes smem`)
)

// parseStatistics fills the numbers of a Result from its log.
func (r *Result) parseStatistics() {
	for _, m := range frame.FindAllStringSubmatch(r.Log, -1) {
		r.Stack = max(r.Stack, number(m[1]))
		r.Spill = max(r.Spill, number(m[2])+number(m[3]))
	}
	for _, m := range registers.FindAllStringSubmatch(r.Log, -1) {
		r.Registers = max(r.Registers, number(m[1]))
	}
	for _, m := range shared.FindAllStringSubmatch(r.Log, -1) {
		r.SharedStatic = max(r.SharedStatic, number(m[1]))
	}
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // the expressions above match digits only
	return n
}
