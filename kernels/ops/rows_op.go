//go:build !gotilegen

package ops

import (
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// Softmax is e^x over its sum, row by row. Elements of -Inf, such as masked ones, become 0; a row of nothing else, NaN.
func Softmax(t *autodiff.Tape, x autodiff.Tensor) autodiff.Tensor {
	return SoftmaxOp.Apply(t, None{}, MatrixIn{x}).Y
}

// LogSoftmax is x minus the log of the sum of e^x, row by row.
func LogSoftmax(t *autodiff.Tape, x autodiff.Tensor) autodiff.Tensor {
	return LogSoftmaxOp.Apply(t, None{}, MatrixIn{x}).Y
}

// The ops of rows.
var (
	SoftmaxOp    = ofRows("softmax", launchSoftmax, launchSoftmaxBwd)           // dx = y (dy - the sum of dy*y)
	LogSoftmaxOp = ofRows("log_softmax", launchLogSoftmax, launchLogSoftmaxBwd) // dx = dy - e^y times the sum of dy
)

// The launches of kernels of rows.
type (
	rowLaunch interface {
		~struct{ X, Y device.Tensor }
	}
	rowBwdLaunch interface {
		~struct{ DY, Y, DX device.Tensor }
	}
)

// ofRows is an op of the rows of a matrix, whose gradient comes from dy and the output.
func ofRows[F rowLaunch, B rowBwdLaunch](name string, forward func(*device.Stream, F) error, backward func(*device.Stream, B) error) *autodiff.Op[None, MatrixIn, MatrixOut, saved] {
	return autodiff.New(name, autodiff.Spec[None, MatrixIn, MatrixOut, saved]{
		Launches: autodiff.Launches{Forward: 1, Backward: 1}, MemoryBound: true,
		Forward: func(x *autodiff.Exec, _ None, in MatrixIn) (out MatrixOut, s saved, err error) {
			out.Y = x.Like(in.X)
			return out, saved(out), forward(x.Stream(), F(struct{ X, Y device.Tensor }{x.View(in.X), x.View(out.Y)}))
		},
		Backward: func(x *autodiff.Exec, _ None, in MatrixIn, s saved, dy MatrixOut) (d MatrixIn, err error) {
			d.X = x.Like(in.X)
			return d, backward(x.Stream(), B(struct{ DY, Y, DX device.Tensor }{x.View(dy.Y), x.View(s.Y), x.View(d.X)}))
		},
	})
}
