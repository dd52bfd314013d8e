package record

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"strings"
	"time"
)

// object has the fields of a Node, an Event and a CertificateSigningRequest that a boot needs.
type object struct {
	Kind     string
	Metadata struct {
		Name              string
		CreationTimestamp time.Time
	}
	Spec struct {
		Username, SignerName string
		// Request is the PEM of a certificate request.
		Request    []byte
		ProviderID string
		Taints     []struct{ Key, Effect string }
	}
	Status struct {
		Conditions  []condition
		NodeInfo    struct{ BootID, KubeletVersion string }
		Certificate string
	}
	InvolvedObject, Regarding struct{ Kind, Name string }
	Reason, Message           string
	FirstTimestamp, EventTime time.Time
}

// condition is a condition of a Node or of a certificate request.
type condition struct {
	Type, Status, Reason, Message      string
	LastTransitionTime, LastUpdateTime time.Time
}

// why is the condition's cause for a reader.
func (c condition) why() string {
	return Clean(strings.Join([]string{c.Reason, c.Message}, ": "))
}

func isCluster(head []byte) bool {
	return bytes.Contains(head, []byte(`"apiVersion"`)) && (bytes.Contains(head, []byte(`"v1"`)) || bytes.Contains(head, []byte(`"certificates.k8s.io/v1"`))) &&
		bytes.Contains(head, []byte(`"kind"`))
}

// parseCluster reads objects of the Kubernetes API, as kubectl get -o json prints them. Their times have one second of resolution.
func parseCluster(s *sink, data []byte) {
	objects := s.objects(data)
	s.findNode(objects)
	for _, o := range objects {
		switch o.Kind {
		case "Node":
			if o.Metadata.Name == s.nodeName {
				s.node(o)
			} else {
				s.others++
			}
		case "Event":
			if about := o.InvolvedObject.Name + o.Regarding.Name; about == s.nodeName && about != "" && o.InvolvedObject.Kind+o.Regarding.Kind == "Node" {
				s.clusterEvent(o)
			} else {
				s.others++
			}
		case "CertificateSigningRequest":
			s.request(o, s.nodeName)
		}
	}
}

// objects decodes an object, or those of a list.
func (s *sink) objects(data []byte) []object {
	var list struct {
		object
		Items []json.RawMessage
	}
	if err := json.Unmarshal(data, &list); err != nil {
		s.unread(0, len(data), "not objects of the Kubernetes API, or cut: %v", err)
		return nil
	}
	if list.Items == nil {
		return []object{list.object}
	}
	var objects []object
	for i, item := range list.Items {
		var o object
		if err := json.Unmarshal(item, &o); err != nil {
			s.unread(0, len(item), "object %d: %v", i, err)
			continue
		}
		if o.Kind == "" {
			o.Kind = strings.TrimSuffix(list.Kind, "List") // an API server's list names the kind once
		}
		objects = append(objects, o)
	}
	return objects
}

// findNode finds the name of the machine's Node: the one whose kubelet reports the boot, or that has the machine's name, or the only one.
// Without a Node it is the machine's name.
func (r *Records) findNode(objects []object) {
	var only []string
	for _, o := range objects {
		if o.Kind != "Node" {
			continue
		}
		if r.Boot != "" && plainID(o.Status.NodeInfo.BootID) == r.Boot || r.Host != "" && o.Metadata.Name == r.Host {
			r.nodeName = o.Metadata.Name
			return
		}
		only = append(only, o.Metadata.Name)
	}
	if r.nodeName == "" && len(only) == 1 {
		r.nodeName = only[0]
	}
	if r.nodeName == "" {
		r.nodeName = r.Host
	}
}

// second is a time of the cluster's.
func second(t time.Time) Moment {
	if t.IsZero() || t.UnixMicro() <= 0 {
		return Moment{}
	}
	return Wall(t.UnixMicro(), 1e6)
}

func (s *sink) node(o object) {
	s.event(Event{Stage: Node, Name: "Node created", At: second(o.Metadata.CreationTimestamp), Detail: Clean(o.Metadata.Name)})
	for _, c := range o.Status.Conditions {
		if c.Type != "Ready" {
			continue
		}
		if c.Status == "True" {
			s.event(Event{Stage: Node, Name: "Node condition Ready", At: second(c.LastTransitionTime)})
		} else {
			s.fact(Node, "the Node %s is not Ready: %s", Clean(o.Metadata.Name), c.why())
		}
	}
	for _, taint := range o.Spec.Taints {
		s.fact(Node, "the Node has the taint %s:%s", Clean(taint.Key), Clean(taint.Effect))
	}
}

func (s *sink) clusterEvent(o object) {
	at := o.FirstTimestamp
	if at.IsZero() {
		at = o.EventTime
	}
	if at.IsZero() {
		s.unread(0, 0, "the event %s has no time", o.Metadata.Name)
		return
	}
	s.event(Event{Stage: Node, Name: "cluster event " + Clean(o.Reason), At: second(at), Detail: Clean(o.Message)})
}

// requests reports whether a certificate request is for a user. A node's first request comes from its bootstrap credential, which other
// nodes share.
func (o object) requests(user string) bool {
	if block, _ := pem.Decode(o.Spec.Request); block != nil {
		if request, err := x509.ParseCertificateRequest(block.Bytes); err == nil {
			return request.Subject.CommonName == user
		}
	}
	return o.Spec.Username == user || strings.HasPrefix(o.Spec.Username, "system:bootstrap:")
}

// request reads a certificate request of the node's.
func (s *sink) request(o object, name string) {
	if name != "" && !o.requests("system:node:"+name) {
		s.others++
		return
	}
	s.event(Event{Stage: Kubelet, Name: "certificate request created", At: second(o.Metadata.CreationTimestamp), Detail: Clean(o.Spec.SignerName)})
	decided := false
	for _, c := range o.Status.Conditions {
		at := second(c.LastUpdateTime)
		switch c.Type {
		case "Approved":
			decided = true
			if !at.IsZero() {
				s.event(Event{Stage: Kubelet, Name: "certificate request approved", At: at, Detail: Clean(o.Spec.SignerName)})
			}
		case "Denied", "Failed":
			decided = true
			s.fact(Kubelet, "the certificate request %s was refused: %s", Clean(o.Metadata.Name), c.why())
		}
	}
	if !decided {
		s.fact(Kubelet, "the certificate request %s waits for approval (signer %s)", Clean(o.Metadata.Name), Clean(o.Spec.SignerName))
	}
}
