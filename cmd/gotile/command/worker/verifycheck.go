package worker

import (
	"context"
	"slices"
	"strings"
)

// verifyCheck compares the receipts with the kernels; it needs no GPU. Each receipt vouches for one GPU: it must have a
// fresh record of every source on every target that this GPU stands for and that the source is for. What a receipt must
// hold is known from the GPU, not from its records: those that are missing would not be missed. A source must be in one
// receipt at least.
func (j *job) verifyCheck(ctx context.Context) error {
	families, err := j.lowered(ctx)
	if err != nil {
		return err
	}
	names, receipts, err := j.receipts()
	if err != nil {
		return err
	}
	red, fresh := 0, 0
	for _, s := range slices.Concat(families...) {
		problems, n, err := j.problems(s, names, receipts)
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

// problems says why a source is red, and how many of its records are fresh.
func (j *job) problems(s *source, names []string, receipts []*Receipt) (problems []string, fresh int, err error) {
	if why := staleness(s, j.Sources[s.File]); why != "" {
		return []string{why}, 0, nil
	}
	asked := false
	for i, r := range receipts {
		demanded, err := r.targets()
		if err != nil {
			return nil, 0, err
		}
		for _, t := range demanded {
			if !slices.Contains(s.Targets, t) {
				continue
			}
			asked = true
			why, err := r.find(s.Kernel.Name, t).why(s)
			if err != nil {
				return nil, 0, err
			}
			if why == "" {
				fresh++
			} else {
				problems = append(problems, t+": "+why+" in "+names[i])
			}
		}
	}
	if !asked {
		problems = append(problems, "no receipt for any of its targets ("+strings.Join(s.Targets, ", ")+")")
	}
	return problems, fresh, nil
}
