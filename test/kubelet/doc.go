// Package kubelet compares Slipway's judgement of a kubelet's configuration with the kubelet's own. The modules below it, one for
// the oldest and one for the newest version that Slipway supports, call the code of k8s.io/kubernetes; no kubelet is started. The
// tests have the build tag crosscheck; "make crosscheck" runs them.
package kubelet
