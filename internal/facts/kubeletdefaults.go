package facts

import "encoding/json"

// KubeletDefaults is what a cluster of kubeadm sets for the kubelets of all its nodes: its ConfigMap kubelet-config. Nothing in
// it is secret.
type KubeletDefaults struct {
	// Cluster names the cluster that was asked.
	Cluster string `json:"cluster"`
	// Config is a KubeletConfiguration; empty if the cluster has not answered.
	Config json.RawMessage `json:"config,omitempty"`
	// Unanswered says why there is no Config.
	Unanswered string `json:"unanswered,omitempty"`
}
