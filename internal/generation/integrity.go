package generation

import (
	"github.com/slipway-dev/slipway/internal/integrity"
	"github.com/slipway-dev/slipway/internal/resource"
)

// Additions are what changes what the current generation's node runs, is not part of it, and has come since: somebody has made it. What
// the cluster's add-ons bring is not among them.
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
	return integrity.Surroundings(s.host, &node)
}

// baseline is what was there when a generation first had the units and files that it is about. Generations hand it on to the next: what
// the current one's node has as well, and did not have in the beginning, somebody has added.
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
