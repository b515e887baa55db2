package worker

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// tellEach is the time between two lines that say how far a long run is.
const tellEach = 5 * time.Second

// cores is how much can run at the same time.
func cores() int { return runtime.GOMAXPROCS(0) }

// parallel calls f for each number below n, starting in order, at most limit at a time, until ctx is done. Runs that
// take long call tell now and then with how many calls have returned. It returns when all calls have.
func parallel(ctx context.Context, n, limit int, f func(i int), tell func(done int)) {
	var next, done atomic.Int64
	var workers sync.WaitGroup
	for range min(n, limit) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
				done.Add(1)
			}
		})
	}
	finished := make(chan struct{})
	go func() { workers.Wait(); close(finished) }()
	tick := time.NewTicker(tellEach)
	defer tick.Stop()
	for {
		select {
		case <-finished:
			return
		case <-tick.C:
			tell(int(done.Load()))
		}
	}
}
