package viz

import (
	"fmt"
	"math"
	"strings"
)

// palette is the style of colours 0 to 31, classes c0 to c31: eight hues of four lightnesses each, for light pages or
// for dark ones. The hues are those of OKLCH, in which colours of one lightness look equally light, so that one colour
// of text is readable on all of them.
func palette(dark bool) string {
	var b strings.Builder
	for i := range 32 {
		hue, shade := float64(i/4)*45+20, float64(i%4)
		light, chroma := 0.90-0.055*shade, 0.075+0.012*shade
		if dark {
			light, chroma = 0.54-0.045*shade, 0.10-0.008*shade
		}
		fmt.Fprintf(&b, ".c%d{fill:%s}", i, oklch(light, chroma, hue))
		if i%4 == 3 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// oklch is a colour in hexadecimal RGB, of lightness 0 to 1, chroma and hue in degrees. The constants are those of
// Björn Ottosson, A perceptual color space for image processing.
func oklch(l, c, hue float64) string {
	sin, cos := math.Sincos(hue * math.Pi / 180)
	a, b := c*cos, c*sin
	cube := func(x float64) float64 { return x * x * x }
	long := cube(l + 0.3963377774*a + 0.2158037573*b)
	mid := cube(l - 0.1055613458*a - 0.0638541728*b)
	short := cube(l - 0.0894841775*a - 1.2914855480*b)
	return fmt.Sprintf("#%02x%02x%02x",
		channel(4.0767416621*long-3.3077115913*mid+0.2309699292*short),
		channel(-1.2684380046*long+2.6097574011*mid-0.3413193965*short),
		channel(-0.0041960863*long-0.7034186147*mid+1.7076147010*short))
}

// channel is a linear intensity as a byte of sRGB.
func channel(x float64) int {
	x = min(max(x, 0), 1)
	if x <= 0.0031308 {
		x *= 12.92
	} else {
		x = 1.055*math.Pow(x, 1/2.4) - 0.055
	}
	return int(math.Round(x * 255))
}
