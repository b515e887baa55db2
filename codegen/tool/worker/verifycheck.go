package worker

import (
	"fmt"
	"slices"
	"strings"
)

// verifyCheck compares the receipts with the kernels; it needs no GPU. Every source must be covered on each target
// that any receipt of the package speaks of and that the source is for, and on one at least.
func (j *job) verifyCheck() error {
	families, err := j.lowered()
	if err != nil {
		return err
	}
	names, receipts, err := j.receipts()
	if err != nil {
		return err
	}
	targets := map[string]bool{}
	for _, r := range receipts {
		for _, k := range r.Kernels {
			targets[k.Target] = true
		}
	}
	red, fresh := 0, 0
	for _, s := range slices.Concat(families...) {
		problems, n, err := j.problems(s, targets, names, receipts)
		if err != nil {
			return err
		}
		fresh += n
		if len(problems) > 0 {
			red++
			j.printf("RED  %s (%s): %s\n", s.Kernel.Name, s.File, strings.Join(problems, "; "))
		}
	}
	if red > 0 {
		j.printf("%d kernels without a fresh receipt; run on a machine with the GPU: gotile verify %s\n", red, j.Path)
		return errFailed
	}
	j.printf("%d fresh receipts (%s)\n", fresh, strings.Join(names, ", "))
	return nil
}

// problems says why a source is red, and on how many targets it is fresh.
func (j *job) problems(s *source, targets map[string]bool, names []string, receipts []*Receipt) (problems []string, fresh int, err error) {
	switch committed := j.Sources[s.File]; {
	case committed == "":
		return []string{"it is not generated; run gotile gen"}, 0, nil
	case committed != sum(s.text):
		return []string{"the committed file is not what the kernel prints now; run gotile gen"}, 0, nil
	}
	asked := false
	for _, t := range s.Targets {
		if !targets[t] {
			continue
		}
		asked = true
		var reasons []string
		ok := false
		for i, r := range receipts {
			why, err := r.find(s.Kernel.Name, t).why(s)
			if err != nil {
				return nil, 0, err
			}
			ok = ok || why == ""
			reasons = append(reasons, fmt.Sprintf("%s in %s", why, names[i]))
		}
		if ok {
			fresh++
		} else {
			problems = append(problems, t+": "+strings.Join(reasons, ", "))
		}
	}
	if !asked {
		problems = append(problems, "no receipt for any of its targets ("+strings.Join(s.Targets, ", ")+")")
	}
	return problems, fresh, nil
}
