package layout

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// lanes are addresses by lane.
func lanes(n int, at func(lane int) int) []int {
	out := make([]int, n)
	for l := range out {
		out[l] = at(l)
	}
	return out
}

func TestCountBanks(t *testing.T) {
	every := func(bytes int) []int { return lanes(32, func(l int) int { return l * bytes }) }
	for _, c := range []struct {
		name  string
		addr  []int
		width int
		ways  []int
		least int
	}{
		{"a float a lane", every(4), 4, []int{1}, 1},
		{"every second float", every(8), 4, []int{2}, 1},
		{"a column of 32 floats", every(128), 4, []int{32}, 1},
		{"a column of 33 floats", every(132), 4, []int{1}, 1},
		{"one float for all", every(0), 4, []int{1}, 1},
		{"halves, two lanes a word", every(2), 2, []int{1}, 1},
		{"bytes, four lanes a word", every(1), 1, []int{1}, 1},
		{"halves in a column", every(64), 2, []int{16}, 1},
		{"8 bytes a lane", every(8), 8, []int{1, 1}, 2},
		{"every second 8 bytes", every(16), 8, []int{2, 2}, 2},
		{"16 bytes a lane", every(16), 16, []int{1, 1, 1, 1}, 4},
		{"16 bytes, rows of 128", every(128), 16, []int{8, 8, 8, 8}, 4},
		{"16 bytes, rows of 144", every(144), 16, []int{1, 1, 1, 1}, 4},
		{"16 bytes for all", every(0), 16, []int{1, 1, 1, 1}, 4},
		// A broadcast beside conflicts: four words of bank 0, each asked for by eight lanes.
		{"four words of a bank", lanes(32, func(l int) int { return l % 4 * 128 }), 4, []int{4}, 1},
		{"no lane", nil, 4, []int{0}, 0},
		{"eight lanes", every(128)[:8], 16, []int{8, 0, 0, 0}, 1},
		{"odd lanes, every second float", lanes(32, func(l int) int {
			if l%2 == 0 {
				return -1
			}
			return l * 8
		}), 4, []int{2}, 1},
		{"one lane", lanes(32, func(l int) int {
			if l != 17 {
				return -1
			}
			return 64
		}), 16, []int{0, 0, 1, 0}, 1},
	} {
		got, err := CountBanks(c.addr, c.width)
		sum := 0
		for _, w := range c.ways {
			sum += w
		}
		if err != nil || !slices.Equal(got.Ways, c.ways) || got.Wavefronts != sum || got.Least != c.least || got.Conflicts() != sum-c.least {
			t.Errorf("%s: %+v, %v; want %v, least %d", c.name, got, err, c.ways, c.least)
		}
	}
	for want, c := range map[string]struct {
		addr  []int
		width int
	}{
		"1, 2, 4, 8 or 16":                      {every(4), 3},
		"an access of 0 bytes":                  {every(4), 0},
		"an access of 32 bytes":                 {every(32), 32},
		"33 addresses":                          {lanes(33, func(l int) int { return l * 4 }), 4},
		"lane 1: address 4 is no multiple of":   {every(4), 8},
		"lane 31: address 62 is no multiple of": {append(every(4)[:31], 62), 4},
	} {
		if got, err := CountBanks(c.addr, c.width); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v, %v; want an error with %q", got, err, want)
		}
	}
}

// access draws an access of a warp: regular or not, with or without lanes that are off.
func access(t *rapid.T) (addr []int, width int) {
	width = rapid.SampledFrom([]int{1, 2, 4, 8, 16}).Draw(t, "width")
	addr = make([]int, WarpSize)
	start, stride := rapid.IntRange(0, 64).Draw(t, "start"), rapid.IntRange(0, 40).Draw(t, "stride")
	scatter, off := rapid.Bool().Draw(t, "scatter"), rapid.Bool().Draw(t, "off")
	for l := range addr {
		addr[l] = (start + l*stride) * width
		if scatter && rapid.Bool().Draw(t, "elsewhere") {
			addr[l] = rapid.IntRange(0, 200).Draw(t, "at") * width
		}
		if off && rapid.Bool().Draw(t, "masked") {
			addr[l] = -1
		}
	}
	return addr, width
}

// The count is that of the definition: by phase the most distinct words of a bank.
func TestCountBanksDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		addr, width := access(t)
		got, err := CountBanks(addr, width)
		if err != nil {
			t.Fatal(err)
		}
		group := map[int]int{1: 32, 2: 32, 4: 32, 8: 16, 16: 8}[width]
		if len(got.Ways) != 32/group {
			t.Fatalf("%d phases of %d lanes", len(got.Ways), group)
		}
		least := 0
		for p, ways := range got.Ways {
			words := map[int]bool{}
			for _, a := range addr[p*group : (p+1)*group] {
				for b := a; a >= 0 && b < a+width; b++ {
					words[b/4] = true
				}
			}
			most, banks := 0, map[int]int{}
			for w := range words {
				banks[w%32]++
				most = max(most, banks[w%32])
			}
			if ways != most {
				t.Fatalf("phase %d has %d ways, want %d: %v", p, ways, most, addr)
			}
			least += (len(words) + 31) / 32
		}
		if got.Least != least {
			t.Fatalf("at least %d wavefronts, want %d: %v", got.Least, least, addr)
		}
	})
}

// BankCounter, which has quick ways, counts like CountBanks, whatever it counted before.
func TestBankCounter(t *testing.T) {
	var n BankCounter
	rapid.Check(t, func(t *rapid.T) {
		addr, width := access(t)
		want, err := CountBanks(addr, width)
		if err != nil {
			t.Fatal(err)
		}
		var all [WarpSize]int
		var mask uint32
		for l, a := range addr {
			if a >= 0 {
				all[l] = a
				mask |= 1 << l
			}
		}
		wavefronts, least := n.Count(&all, mask, width)
		if wavefronts != want.Wavefronts || least != want.Least {
			t.Fatalf("%d wavefronts, at least %d; want %+v: %v, %d bytes", wavefronts, least, want, addr, width)
		}
	})
}

// The quick ways are taken where they are meant to be, and nowhere else.
func TestQuickWays(t *testing.T) {
	for _, c := range []struct {
		name                string
		at                  func(lane int) int
		width               int
		spread, consecutive bool
	}{
		{"a word a lane", func(l int) int { return 4 * l }, 4, true, true},
		{"from another bank on", func(l int) int { return 4*l + 40 }, 4, true, true},
		{"the lanes reversed", func(l int) int { return 4 * (31 - l) }, 4, true, false},
		{"one word for all", func(int) int { return 64 }, 4, false, true},
		{"every second word", func(l int) int { return 8 * l }, 4, false, false},
		{"the last lane elsewhere", func(l int) int { return 4*l + l/31*4 }, 4, false, false},
		{"8 bytes a lane", func(l int) int { return 8 * l }, 8, true, true},
		{"16 bytes a lane", func(l int) int { return 16 * l }, 16, true, true},
		{"16 bytes, rows of 144", func(l int) int { return 144 * l }, 16, true, false},
		{"16 bytes, rows of 128", func(l int) int { return 128 * l }, 16, false, false},
		{"halves", func(l int) int { return 2 * l }, 2, false, true},
	} {
		addr := [WarpSize]int(lanes(WarpSize, c.at))
		// Count asks spread only of whole words.
		if got := c.width >= BankWord && spread(&addr, c.width, PhaseLanes(c.width)); got != c.spread {
			t.Errorf("%s: spread %v", c.name, got)
		}
		if got := consecutive(&addr, c.width); got != c.consecutive {
			t.Errorf("%s: consecutive %v", c.name, got)
		}
	}
}

// Moving every lane by whole rows of banks changes nothing, and neither does exchanging lanes within a phase.
func TestCountBanksInvariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		addr, width := access(t)
		want, err := CountBanks(addr, width)
		if err != nil {
			t.Fatal(err)
		}
		moved := slices.Clone(addr)
		rows := rapid.IntRange(1, 9).Draw(t, "rows")
		for l, a := range moved {
			if a >= 0 {
				moved[l] = a + rows*Banks*BankWord
			}
		}
		group := PhaseLanes(width)
		first := rapid.IntRange(0, 32/group-1).Draw(t, "phase") * group
		slices.Reverse(moved[first : first+group])
		got, err := CountBanks(moved, width)
		if err != nil || !slices.Equal(got.Ways, want.Ways) || got.Least != want.Least {
			t.Fatalf("%+v, %v; want %+v", got, err, want)
		}
	})
}
