package waitfor

import "github.com/gotile/gotile/internal/ir"

// Word is the state of an mbarrier.
type Word struct {
	Parity         int // of the phase under way
	Pending, Count int // arrivals that have yet to come, arrivals of a phase
	Bytes          int // that are expected and have not come; below 0: that have come and are not expected yet
}

// WordOf reads the 64 bits of an mbarrier, which PTX calls opaque. From sm_90 on bit 63 is the parity, bits 43 to 62 are
// the pending arrivals, bits 1 to 20 those of a phase and bits 21 to 41 the bytes, all negated: so the probe of an H200
// in bench/results/h200/mbarrier-word.txt has it, and a test of package device. Before that bits 32 to 62 and 0 to 29 are
// the arrivals, by what ptxas makes of mbarrier.init, mbarrier.pending_count and a test of a parity. An H200 shows 0 to
// loads, atomics and bulk copies of a live mbarrier, and its bits once it is invalid; the watchdog therefore ends it
// before it reads. Of a Count of 0, which no mbarrier has, nothing is known.
func WordOf(target string, w uint64) Word {
	out := Word{Parity: int(w >> 63)}
	switch target {
	case "sm_80", "sm_86", "sm_89": // their mbarriers count no bytes
		out.Pending, out.Count = -int(w>>32)&(1<<31-1), -int(w)&(1<<30-1)
		return out
	}
	const twenty = 1<<20 - 1
	out.Pending, out.Count = -int(w>>43)&twenty, -int(w>>1)&twenty
	out.Bytes = -int(int64(w<<22) >> 43) // 21 bits with their sign
	return out
}

func (w Word) bytes() string {
	switch {
	case w.Bytes > 0:
		return ir.Count(w.Bytes, "byte") + " expected that have not come"
	case w.Bytes < 0:
		return ir.Count(-w.Bytes, "byte") + " copied that nobody expects yet"
	}
	return ""
}
