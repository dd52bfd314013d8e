// Package kubelet compares Slipway's judgement of a kubelet's configuration with the kubelet's own. The modules below it, one for
// each end of the versions that Slipway supports, ask the code of k8s.io/kubernetes; a kubelet is never started. The tests have
// the build tag crosscheck; "make crosscheck" runs them.
package kubelet
