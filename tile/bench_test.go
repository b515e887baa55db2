package tile_test

import (
	"testing"

	"github.com/gotile/gotile/tile"
)

// BenchmarkRecord is the cost of recording one op, its position included.
func BenchmarkRecord(b *testing.B) {
	_, err := tile.Define("bench", func(k *tile.Builder, a wrongArgs) {
		x := tile.LoadScalar(k, a.S)
		for b.Loop() {
			x.Add(x)
		}
	}, tile.Limit(1<<30))
	if err != nil {
		b.Fatal(err)
	}
}
