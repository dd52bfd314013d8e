// Package capacity computes the capacity of a machine's node: how many pods it runs, how much processor time and memory are
// reserved for the system, and what pods can use. It has EKS's and AKS's rules, each with its source, and every number comes with
// its calculation.
//
// It is pure: it makes no call, and an unknown input is an error and never a guess. Programs that create nodes call it, and so does
// the command line. It makes no kubelet configuration; see package nodeconfig.
package capacity
