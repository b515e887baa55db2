package device

import (
	"context"
	"runtime"
	"time"
)

// poll asks until the answer is yes or ctx is done. The driver's own wait cannot be abandoned without leaving a thread
// in it, on a handle that may be destroyed meanwhile. Short waits spin; later the pause is a sixteenth of the time
// waited so far, at most a millisecond.
func poll(ctx context.Context, done func() (bool, error)) error {
	const spin = 100 * time.Microsecond
	start := time.Now()
	var timer *time.Timer
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		waited := time.Since(start)
		if waited < spin {
			runtime.Gosched()
			continue
		}
		pause := min(max(waited/16, 20*time.Microsecond), time.Millisecond)
		if timer == nil {
			timer = time.NewTimer(pause)
			defer timer.Stop()
		} else {
			timer.Reset(pause)
		}
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
	}
}
