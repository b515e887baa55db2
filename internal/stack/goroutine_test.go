package stack

import (
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func TestGoroutine(t *testing.T) {
	id := Goroutine()
	if id == 0 || Goroutine() != id {
		t.Errorf("%d, then %d", id, Goroutine())
	}
	buf := make([]byte, 1<<20)
	if all := string(buf[:runtime.Stack(buf, true)]); !strings.Contains(all, "goroutine "+strconv.FormatUint(id, 10)+" [") {
		t.Errorf("no goroutine %d among\n%s", id, all)
	}
	seen := map[uint64]bool{id: true}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			mine := Goroutine()
			mu.Lock()
			defer mu.Unlock()
			if seen[mine] {
				t.Errorf("two goroutines %d", mine)
			}
			seen[mine] = true
		})
	}
	wg.Wait()
}
