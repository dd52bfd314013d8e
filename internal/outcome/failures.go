package outcome

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/status"
)

// Code is the exit code of a run that ended with err. If time ran out while another failure had a specific reason, that
// reason decides.
func Code(err error) int {
	if _, asked := errors.AsType[askedError](err); asked {
		return exitcode.Interrupted // the operation at that moment is not the reason
	}
	for _, single := range Split(err) {
		var failed *apply.Error
		if errors.As(single, &failed) && failed.ExitCode != 0 && !cutShort(single) {
			return failed.ExitCode
		}
	}
	if errors.Is(err, ErrTimeout) {
		return exitcode.Timeout
	}
	if !slices.ContainsFunc(Split(err), func(single error) bool { return !errors.Is(single, context.Canceled) }) {
		return exitcode.Interrupted
	}
	if known, ok := errors.AsType[coded](err); ok {
		return known.exitCode()
	}
	var first *apply.Error
	if errors.As(err, &first) && first.ExitCode != 0 {
		return first.ExitCode
	}
	return exitcode.AgentFailed
}

// cutShort reports whether an operation failed only because time ran out.
func cutShort(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.Is(err, ErrTimeout)
}

// Text is every error in one line, for a document without a list of errors.
func Text(err error) string { return text(err, failures(err, Code(err), "")) }

func text(err error, all []status.Failure) string {
	var parts []string
	var contract *UnusableError
	if errors.As(err, &contract) {
		parts = append(parts, fmt.Sprintf("contract %s cannot be used", contract.Path))
		for _, problem := range contract.Fatal {
			parts = append(parts, problem.Where()+": "+problem.Reason)
		}
		return strings.Join(parts, "; ")
	}
	for i := range all {
		parts = append(parts, all[i].String())
	}
	return strings.Join(parts, "; ")
}

// definite sorts failures with a specific reason before those that were cut short.
func definite(errs []error) []error {
	own := slices.DeleteFunc(slices.Clone(errs), cutShort)
	cut := slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return !cutShort(err) })
	return append(own, cut...)
}

// failures lists every error of a run on a machine in a cloud, in the order of occurrence.
func failures(err error, code int, cloud string) []status.Failure {
	var list []status.Failure
	for _, single := range definite(Split(err)) {
		failure, code := status.Failure{Message: single.Error()}, code
		var of *apply.Error
		if errors.As(single, &of) {
			failure.Resource = string(of.Resource)
			failure.Message = of.Err.Error()
			if of.ExitCode != 0 && !errors.Is(single, context.Canceled) {
				code = of.ExitCode
			}
		}
		var check *apply.CheckError
		if errors.As(single, &check) {
			failure.Cause, failure.Endpoint = string(check.Cause), check.Endpoint
			if of == nil || of.Err == error(check) { // otherwise the error has more information
				failure.Message = check.Err.Error()
			}
		}
		failure.Action = action(code, failure.Cause, cloud)
		list = append(list, failure)
	}
	return list
}

// causeActions are the advice for a cause, if it is more precise than the exit code's: AKS has one code for an API
// server that cannot be reached, cannot be trusted, or refuses the node.
var causeActions = map[string]string{
	string(resource.CauseConnection): "allow the connection from the node's subnet to the endpoint, and check that the API server runs",
	string(resource.CauseTLS):        "compare the contract's CA with the cluster's, and check the node's clock and that nothing intercepts TLS",
	string(resource.CauseCredential): "put a new bootstrap token in the contract if the node has not joined yet: the cluster does not know the token, it has expired, " +
		"or its secret has no usage-bootstrap-authentication",
	string(resource.CauseForbidden): "bind the token's group to the cluster role system:node-bootstrapper; the group is system:bootstrappers " +
		"or one of auth-extra-groups in the token's secret",
	string(resource.CauseDenied): "run kubectl describe csr with the name from the error: it says who refused the request, and why; " +
		"when the reason is gone, restart kubelet.service",
	string(resource.CauseSigner): "run kubectl describe csr with the name from the error, and read the log of who signs: kube-controller-manager, " +
		"with its controller csrsigning and --cluster-signing-cert-file, or a signer of the cluster's own; the kubelet asks again by itself",
	string(resource.CauseUnusable): "run kubectl get csr -o yaml with the name from the error: the certificate in its status must be for this node and its key, " +
		"valid by the node's clock, and signed by a CA of the API server's --client-ca-file",
	string(resource.CauseForeign):  "give the machine another name, or delete the Node with kubectl delete node once its machine is gone; then provision again",
	string(resource.CauseRedirect): "give the address of the API server itself, and see what answers in its place: a load balancer, a proxy or a portal",
	string(resource.CauseDiscovery): "run kubectl -n kube-public get configmap cluster-info: it must be there, and everybody must be allowed to read it, as kubeadm sets it up; " +
		"or give the CA itself in the contract",
	string(resource.CauseUnsigned): "put a token in the contract that kubeadm token list shows with the usage signing, and check that kube-controller-manager runs its controller bootstrapsigner",
	string(resource.CausePin): "take the hash again from kubeadm token create --print-join-command, on the control plane itself; if it is the one in the contract, " +
		"another server answers at the API server's address",
	string(resource.CauseUnapproved): "run kubectl get csr: bind the token's group to the cluster role system:certificates.k8s.io:certificatesigningrequests:nodeclient, " +
		"or approve the request of the kubelet, which now waits",
}

// outboundActions are the advice if a server that the contract names cannot be reached, and it is not an API server.
var outboundActions = map[string]string{
	string(resource.CauseDNS):        "run resolvectl query with the server's name on the node: the network's DNS servers must know it, and the node must reach them",
	string(resource.CauseCloudDNS):   "check the name in checks.outbound: Azure's DNS server does not know it, or the private DNS zone that has it is not linked to the node's network",
	string(resource.CauseConnection): "open the way from the node's subnet to the server (route table, NAT gateway, firewall), or give the proxy that leads there",
	string(resource.CauseTLS):        "see who has signed the certificate: where a firewall intercepts TLS, put its CA in trust.certificates; check the node's clock, too",
	string(resource.CauseProxy):      "check proxy.https, its user and password, and that the proxy lets the node reach the server; or name the server in proxy.noProxy",
}

// action is the advice for a failure on a machine in a cloud.
func action(code int, cause, cloud string) string {
	known, _ := exitcode.Lookup(code)
	if action, ok := outboundActions[cause]; ok && code == exitcode.OutboundFailed {
		return action
	}
	// Where nothing answers, the parts of the cloud's network are more precise than the cause.
	if action, ok := causeActions[cause]; ok && (cause != string(resource.CauseConnection) || known.Clouds[cloud] == "") {
		return action
	}
	return known.ActionOn(cloud)
}

// Split returns the joined errors.
func Split(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var list []error
	for _, e := range joined.Unwrap() {
		list = append(list, Split(e)...)
	}
	return list
}
