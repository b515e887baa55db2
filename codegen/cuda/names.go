package cuda

import (
	"regexp"
	"strings"

	"github.com/gotile/gotile/internal/cname"
	"github.com/gotile/gotile/internal/thr"
)

// rename maps every local's name to its name in C: the same, or with underscores after it where it is reserved.
func rename(names map[string]bool) map[string]string {
	out := map[string]string{}
	for n := range names {
		c := n
		if strings.HasPrefix(n, "__") { // the compiler's own, whatever follows
			c = "v" + n
		}
		for cname.Reserved(c) || c != n && names[c] {
			c += "_"
		}
		out[n] = c
	}
	return out
}

// field is the C name of a field of the argument struct.
func field(name string) string {
	if cname.Keyword(name) {
		return name + "_"
	}
	return name
}

var validName = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// name is the C name of a local.
func (p *printer) name(l *thr.Local) string {
	n, ok := p.names[l.Name]
	if !ok {
		p.fail("%q is used but not declared", l.Name)
	} else if !validName.MatchString(n) {
		p.fail("%q is no name in C", l.Name)
	}
	return n
}

// fresh is a name that no local has, for the printer's own variables.
func (p *printer) fresh(name string) string {
	for taken := true; taken; {
		taken = cname.Reserved(name)
		for _, n := range p.names {
			taken = taken || n == name
		}
		if taken {
			name += "_"
		}
	}
	return name
}
