package device

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/driver/fake"
)

// Goroutines allocate on a device that is too small for all of them, write, capture, replay each other's graphs, wait
// for each other's events, trim, drop things and find what they wrote; in the end the device is closed under them.
func TestChurn(t *testing.T) {
	small := fake.H200
	small.Memory = 1 << 20
	drv := newFake(small)
	d := openFake(t, drv)
	k := scaleKernel()
	events, graphs := make(chan *Event, 8), make(chan *Graph, 8)
	var wg sync.WaitGroup
	for seed := range uint64(6) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 1))
			for i := 0; ; i++ {
				err := churn(d, k, rng, events, graphs, fmt.Sprintf("%d/%d", seed, i))
				if errors.Is(err, ErrClosed) {
					return
				}
				if err != nil && !errors.Is(err, ErrOutOfMemory) {
					t.Errorf("goroutine %d: %v", seed, err)
					return
				}
			}
		})
	}
	for start := time.Now(); min(drv.Count("cuGraphLaunch"), drv.Count("cuStreamWaitEvent")) < 200; time.Sleep(time.Millisecond) {
		if time.Since(start) > time.Minute {
			t.Fatalf("%d replays, %d waits", drv.Count("cuGraphLaunch"), drv.Count("cuStreamWaitEvent"))
		}
	}
	within(20*time.Second, func() {
		err := d.Close()
		for errors.Is(err, ErrCapture) { // somebody is always at it
			err = d.Close()
		}
		ok(t, err)
		wg.Wait()
	})
	if live := drv.Live(); len(live) != 0 {
		t.Errorf("not given back: %v", live)
	}
}

// churn is a round of a goroutine: some memory that it alone writes, then something of every kind.
func churn(d *Device, k *Kernel, rng *rand.Rand, events chan *Event, graphs chan *Graph, what string) (err error) {
	closing := func(c interface{ Close() error }) {
		if rng.IntN(8) == 0 {
			return // dropped
		}
		err = errors.Join(err, c.Close())
	}
	f, err := d.Load(k)
	if err != nil {
		return err
	}
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	defer closing(s)
	n := 1 + rng.IntN(20000)
	alloc := func() (Tensor, error) { return NewTensor(d, dtype.F32, n) }
	if rng.IntN(2) == 0 {
		alloc = func() (Tensor, error) { return s.NewTensor(dtype.F32, n) }
	}
	x, err := alloc()
	if err != nil {
		return err
	}
	defer closing(x)
	y, err := alloc()
	if err != nil {
		return err
	}
	defer closing(y)
	want := make([]float64, n)
	for i := range want {
		want[i] = float64(rng.IntN(1000))
	}
	if err := UploadFloats(s, y, want); err != nil {
		return err
	}
	launch := func() error {
		return s.Launch(f, (n+scaleThreads-1)/scaleThreads, unsafe.Pointer(&scaleArgs{y.Addr(), x.Addr(), 1, int32(n)}))
	}
	g, err := s.Capture(launch)
	if err != nil {
		return err
	}
	if err := errors.Join(g.Launch(s), launch()); err != nil {
		return err
	}
	e, err := s.Record()
	if err != nil {
		return err
	}
	// Others have the last of these, and may close them while we use them.
	select {
	case events <- e:
	default:
		closing(e)
	}
	select {
	case graphs <- g: // it writes x as it is; were that another's memory by then, that one would see it
	default:
		closing(g)
	}
	select {
	case e := <-events:
		err = errors.Join(unless(ErrClosed, s.Wait(e)), unless(ErrClosed, e.Sync(background)), e.Close())
	case g := <-graphs:
		err = errors.Join(unless(ErrClosed, g.Launch(s)), g.Close())
	default:
		if rng.IntN(4) == 0 {
			_, err = d.Trim()
			runtime.GC()
		}
	}
	if err != nil {
		return err
	}
	got, err := DownloadFloats(s, x)
	if err == nil && !slices.Equal(got, want) {
		err = fmt.Errorf("round %s: %d numbers are not what was written", what, n)
	}
	return err
}

// unless drops an error of a kind.
func unless(kind, err error) error {
	if errors.Is(err, kind) {
		return nil
	}
	return err
}
