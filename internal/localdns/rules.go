package localdns

import (
	"context"
	"errors"
)

// ruleComment marks the rules (AKS: localdns.sh). AKS recognizes its rules by it, when it looks for other rules before
// it allows eBPF host routing.
const ruleComment = "localdns: skip conntrack"

// maxDuplicates is how often a duplicate rule is removed.
const maxDuplicates = 8

// rules make the kernel not track connections to the cache: otherwise a query and its answer would take an entry of its
// table each.
func rules() (all [][]string) {
	for _, chain := range []string{"OUTPUT", "PREROUTING"} {
		for _, listener := range listeners {
			for _, protocol := range []string{"tcp", "udp"} {
				all = append(all, []string{
					chain, "-d", listener.String() + "/32", "-p", protocol, "-m", protocol, "--dport", "53",
					"-m", "comment", "--comment", ruleComment, "-j", "NOTRACK",
				})
			}
		}
	}
	return all
}

// rule changes or checks a rule: -C checks whether it exists.
func (s *Supervisor) rule(ctx context.Context, do string, rule []string) error {
	return s.run(ctx, "packet filter rule of the DNS cache", commandPatience, append([]string{"iptables", "-w", "-t", "raw", do}, rule...))
}

func (s *Supervisor) addRules(ctx context.Context) error {
	for _, rule := range rules() {
		if s.rule(ctx, "-C", rule) == nil {
			continue
		}
		if err := s.rule(ctx, "-A", rule); err != nil {
			return err
		}
	}
	return nil
}

func (s *Supervisor) removeRules(ctx context.Context) error {
	var errs []error
	for _, rule := range rules() {
		for range maxDuplicates {
			if s.rule(ctx, "-C", rule) != nil {
				break
			}
			if err := s.rule(ctx, "-D", rule); err != nil {
				errs = append(errs, err)
				break
			}
		}
	}
	return errors.Join(errs...)
}
