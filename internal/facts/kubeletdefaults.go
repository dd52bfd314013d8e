package facts

import "encoding/json"

// KubeletDefaults are a kubeadm cluster's settings for the kubelets of all its nodes: its ConfigMap kubelet-config.
// They contain no secret.
type KubeletDefaults struct {
	// Cluster names the cluster.
	Cluster string `json:"cluster"`
	// Config is a KubeletConfiguration; empty if the cluster has not answered.
	Config json.RawMessage `json:"config,omitempty"`
	// Unanswered is why there is no Config.
	Unanswered string `json:"unanswered,omitempty"`
}
