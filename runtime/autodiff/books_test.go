package autodiff

import (
	"errors"
	"strings"
	"testing"

	"github.com/gotile/gotile/runtime/device"
)

// Close itself demands that the books balance: an application that took neither way is its error, strict or not.
func TestCloseChecksTheBooks(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for rule, spoil := range map[string]func(c *Counts){
		"":                             func(*Counts) {},
		"asked = fused + declined":     func(c *Counts) { c.Asked++ },
		"ref = declined":               func(c *Counts) { c.Ref++ },
		"fused = forward + untracked":  func(c *Counts) { c.Untracked++ },
		"forward = backward + dropped": func(c *Counts) { c.Backward++ },
	} {
		tp, err := NewTape(d.Stream())
		if err != nil {
			t.Fatal(err)
		}
		spoil(tp.book.of(Train, &core{name: "lost"}))
		_, err = tp.Close()
		if rule == "" && err != nil || rule != "" && (!errors.Is(err, ErrBooks) || !strings.Contains(err.Error(), "lost: the books do not balance: train: "+rule)) {
			t.Errorf("%q: %v", rule, err)
		}
	}
}
