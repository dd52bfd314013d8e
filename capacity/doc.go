// Package capacity computes what a node of a machine can hold: how many pods, how much processor time and memory are kept back for
// the system, and what pods can have. EKS's and AKS's rules are here, each with its source, and every number comes with its derivation.
//
// It is pure: it asks nobody, and what it does not know is an error and never a guess. Those who create nodes call it, and the
// command line. It makes no kubelet configuration; see package nodeconfig.
package capacity
