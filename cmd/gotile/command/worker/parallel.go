package worker

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// cores is how much can run at the same time.
func cores() int { return runtime.GOMAXPROCS(0) }

// parallel calls f for each number below n, starting in order, at most limit at a time, until ctx is done. It returns
// when all calls have.
func parallel(ctx context.Context, n, limit int, f func(i int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(n, limit) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
			}
		})
	}
	workers.Wait()
}

// parallel is the same for items that have names, with a task on the display.
func (j *job) parallel(ctx context.Context, what, unit string, n, limit int, name func(i int) string, f func(i int)) {
	task := j.display.Start(what, unit, n)
	defer task.End()
	parallel(ctx, n, limit, func(i int) {
		task.Begin(name(i))
		defer task.Done(name(i))
		f(i)
	})
}
