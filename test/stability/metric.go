package stability

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

var metricRules = map[string]rule{"type": changed, "label": lost}

var (
	metricType  = regexp.MustCompile(`(?m)^# TYPE (\w+) (\w+)$`)
	metricLabel = regexp.MustCompile(`(?m)^(\w+)\{(\w+)="`)
)

// currentMetrics are the watcher's metrics, from the page with all of them that its tests compare.
func currentMetrics(root string) (facts, error) {
	page, err := os.ReadFile(filepath.Join(root, "internal", "watch", "testdata", "full.prom"))
	if err != nil {
		return nil, fmt.Errorf("read the metrics: %w", err)
	}
	all := make(facts)
	for _, match := range metricType.FindAllStringSubmatch(string(page), -1) {
		all[match[1]] = attributes{"type": {match[2]}}
	}
	for _, match := range metricLabel.FindAllStringSubmatch(string(page), -1) {
		if of := all[match[1]]; of != nil && !slices.Contains(of["label"], match[2]) {
			of["label"] = append(of["label"], match[2])
		}
	}
	return all, nil
}
