package doctor

// kubeletChecks are those of the kubelet.
var kubeletChecks = []Check{}
