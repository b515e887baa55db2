package device

import (
	"fmt"
	"math"

	"github.com/gotile/gotile/dtype"
)

// UploadFloats is Upload from float64: float types round to nearest even, once, those of 8 bits to a finite number; integer types take integers in their
// range and refuse the rest.
func UploadFloats(s *Stream, t Tensor, src []float64) error {
	switch t.dt {
	case dtype.F32:
		return uploadAs(s, t, src, func(x float64) (dtype.Float32, bool) { return dtype.Float32(x), true })
	case dtype.BF16:
		return uploadAs(s, t, src, func(x float64) (dtype.BFloat16, bool) { return dtype.BF16FromFloat32(roundToOdd(x)), true })
	case dtype.F16:
		return uploadAs(s, t, src, func(x float64) (dtype.Float16, bool) { return dtype.F16FromFloat32(roundToOdd(x)), true })
	case dtype.E4M3:
		return uploadAs(s, t, src, func(x float64) (dtype.Float8E4M3, bool) { return dtype.E4M3FromFloat32(roundToOdd(x)), true })
	case dtype.E5M2:
		return uploadAs(s, t, src, func(x float64) (dtype.Float8E5M2, bool) { return dtype.E5M2FromFloat32(roundToOdd(x)), true })
	case dtype.I8:
		return uploadAs(s, t, src, func(x float64) (dtype.Int8, bool) {
			return dtype.Int8(x), x == math.Trunc(x) && x >= math.MinInt8 && x <= math.MaxInt8
		})
	case dtype.I32:
		return uploadAs(s, t, src, func(x float64) (dtype.Int32, bool) {
			return dtype.Int32(x), x == math.Trunc(x) && x >= math.MinInt32 && x <= math.MaxInt32
		})
	case dtype.U32:
		return uploadAs(s, t, src, func(x float64) (dtype.Uint32, bool) {
			return dtype.Uint32(x), x == math.Trunc(x) && x >= 0 && x <= math.MaxUint32
		})
	case dtype.I64:
		return uploadAs(s, t, src, func(x float64) (dtype.Int64, bool) {
			return dtype.Int64(x), x == math.Trunc(x) && x >= -1<<63 && x < 1<<63
		})
	}
	return fmt.Errorf("UploadFloats: %w", t.Check(s.d))
}

func uploadAs[T Number](s *Stream, t Tensor, src []float64, convert func(float64) (T, bool)) error {
	out := make([]T, len(src))
	for i, x := range src {
		v, ok := convert(x)
		if !ok {
			return fmt.Errorf("device: %s: UploadFloats: number %d, %v, is no %v: %w", s.d.name, i, x, t.dt, ErrDType)
		}
		out[i] = v
	}
	return Upload(s, t, out)
}

// DownloadFloats is Download to float64: exact, but for int64 beyond 2^53.
func DownloadFloats(s *Stream, t Tensor) ([]float64, error) {
	switch t.dt {
	case dtype.F32:
		return downloadAs(s, t, func(x dtype.Float32) float64 { return float64(x) })
	case dtype.BF16:
		return downloadAs(s, t, dtype.BFloat16.Float)
	case dtype.F16:
		return downloadAs(s, t, dtype.Float16.Float)
	case dtype.E4M3:
		return downloadAs(s, t, dtype.Float8E4M3.Float)
	case dtype.E5M2:
		return downloadAs(s, t, dtype.Float8E5M2.Float)
	case dtype.I8:
		return downloadAs(s, t, func(x dtype.Int8) float64 { return float64(x) })
	case dtype.I32:
		return downloadAs(s, t, func(x dtype.Int32) float64 { return float64(x) })
	case dtype.U32:
		return downloadAs(s, t, func(x dtype.Uint32) float64 { return float64(x) })
	case dtype.I64:
		return downloadAs(s, t, func(x dtype.Int64) float64 { return float64(x) })
	}
	return nil, fmt.Errorf("DownloadFloats: %w", t.Check(s.d))
}

func downloadAs[T Number](s *Stream, t Tensor, convert func(T) float64) ([]float64, error) {
	raw := make([]T, t.Elems())
	if err := Download(s, raw, t); err != nil {
		return nil, err
	}
	out := make([]float64, len(raw))
	for i, x := range raw {
		out[i] = convert(x)
	}
	return out, nil
}

// roundToOdd is x as a float32, rounded such that rounding the result again to a type with at least two bits less
// gives what rounding x once would: an inexact result gets an odd last bit.
func roundToOdd(x float64) float32 {
	f := float32(x)
	if b := math.Float32bits(f); float64(f) != x && x == x && b&1 == 0 {
		if math.Abs(float64(f)) > math.Abs(x) {
			b--
		} else {
			b++
		}
		f = math.Float32frombits(b)
	}
	return f
}
