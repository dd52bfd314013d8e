package generation

import (
	"github.com/slipway-dev/slipway/internal/integrity"
	"github.com/slipway-dev/slipway/internal/resource"
)

// Additions are files that affect what the current generation's node runs, are not part of it, and are newer than it:
// an administrator or an attacker has added them. The files of the cluster's add-ons are not among them.
func (s *Store) Additions() ([]integrity.Finding, error) {
	current, _ := s.Current()
	r, err := s.record(current.Number)
	if err != nil {
		return nil, err
	}
	node := integrity.Of(r.Resources)
	found, err := integrity.Find(s.host, &node)
	return integrity.Since(integrity.Only(found, integrity.Counted, integrity.OfImage), r.Baseline), err
}

func (s *Store) surroundings(plan resource.Plan) ([]integrity.Finding, error) {
	node := integrity.Of(plan)
	node.Accepted = nil // a file that is not accepted any more is an addition, too
	return integrity.Surroundings(s.host, &node)
}

// baseline are the files that existed when a generation first had the units and files that they affect. Each generation
// takes them over from the one before: a file that affects the current generation, too, and is not in its baseline, was
// added later.
func (s *Store) baseline(plan resource.Plan) (map[string]string, error) {
	found, err := s.surroundings(plan)
	if err != nil {
		return nil, err
	}
	marks := integrity.Marks(found)
	current, _ := s.Current()
	before, unread := s.record(current.Number)
	if unread != nil {
		return marks, nil
	}
	had, err := s.surroundings(before.Resources)
	for key, identity := range integrity.Marks(had) {
		if was, known := before.Baseline[key]; !known || was != identity {
			delete(marks, key)
		}
	}
	return marks, err
}
