package worker

import (
	"context"
	"sync"
	"testing"
)

// All calls are made, each once, and no more than limit at a time; with one at a time in order.
func TestParallel(t *testing.T) {
	for _, limit := range []int{1, 4, 100} {
		var mu sync.Mutex
		var order []int
		now, most := 0, 0
		parallel(t.Context(), 50, limit, func(i int) {
			mu.Lock()
			order = append(order, i)
			now++
			most = max(most, now)
			mu.Unlock()
			mu.Lock()
			now--
			mu.Unlock()
		})
		seen := map[int]bool{}
		for at, i := range order {
			seen[i] = true
			if limit == 1 && at != i {
				t.Fatalf("order %v", order)
			}
		}
		if len(order) != 50 || len(seen) != 50 || most > limit {
			t.Errorf("limit %d: %d calls, %d numbers, %d at a time", limit, len(order), len(seen), most)
		}
	}
	parallel(t.Context(), 0, 4, func(int) { t.Error("called for nothing") })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	calls := 0
	parallel(ctx, 50, 1, func(i int) { calls++; cancel() })
	if calls != 1 {
		t.Errorf("%d calls after the end", calls-1)
	}
}
