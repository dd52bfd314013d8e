package plan

// kubeletActive is the label of the check that the kubelet runs and has taken its settings.
const kubeletActive = "kubelet-active"

// apiServerLabel is the label of the check that the API server answers.
const apiServerLabel = "api-server"

// driverAnswers is the label of the last look at the driver.
const driverAnswers = "gpu-driver"
